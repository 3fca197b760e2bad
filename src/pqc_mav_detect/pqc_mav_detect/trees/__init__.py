# SPDX-License-Identifier: Apache-2.0
"""Gradient-boosted trees: trained with xgboost, used as tables with NumPy alone."""
