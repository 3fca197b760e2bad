# SPDX-License-Identifier: Apache-2.0
"""The kinds of chart the report draws, each a function from plain numbers to a drawing."""
