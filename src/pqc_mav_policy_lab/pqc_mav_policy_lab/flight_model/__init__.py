# SPDX-License-Identifier: Apache-2.0
"""A simulated drone: battery, processor, radio link and tunnel session."""
