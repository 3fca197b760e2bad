# SPDX-License-Identifier: Apache-2.0
"""The published figures: their tables, and the check of every figure that follows from others."""
