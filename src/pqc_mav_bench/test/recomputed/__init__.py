# SPDX-License-Identifier: Apache-2.0
"""The check of every published figure that follows from others, with the analysis functions that the report uses."""
