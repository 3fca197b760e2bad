# SPDX-License-Identifier: Apache-2.0
"""Simulated MAVLink vehicle, ground client and the meters that judge the link between them."""
