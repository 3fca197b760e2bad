# SPDX-License-Identifier: Apache-2.0
"""A test double of mavros: its names, message types and QoS, and as much of its behaviour as the suite depends on."""
