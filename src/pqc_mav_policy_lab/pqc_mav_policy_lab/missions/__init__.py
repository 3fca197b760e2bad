# SPDX-License-Identifier: Apache-2.0
"""Missions, simulated and recorded, and how a strategy flies them."""
