# SPDX-License-Identifier: Apache-2.0
"""Recorded flights: what a strategy decides on them."""
