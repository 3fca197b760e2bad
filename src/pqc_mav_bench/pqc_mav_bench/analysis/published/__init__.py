# SPDX-License-Identifier: Apache-2.0
"""The published figures: their tables, as printed."""
