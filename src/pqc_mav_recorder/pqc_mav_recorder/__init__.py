# SPDX-License-Identifier: Apache-2.0
"""The flight recorder: a flight's topics into one MCAP file, and back."""
