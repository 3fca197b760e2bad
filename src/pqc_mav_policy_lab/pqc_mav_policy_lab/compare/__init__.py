# SPDX-License-Identifier: Apache-2.0
"""Flies missions under every strategy and reports what each was worth and what it cost."""
