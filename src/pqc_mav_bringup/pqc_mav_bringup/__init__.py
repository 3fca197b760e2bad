# SPDX-License-Identifier: Apache-2.0
"""Starts PQC-MAV: the system as data, and what makes launch actions or supervised processes of it."""
