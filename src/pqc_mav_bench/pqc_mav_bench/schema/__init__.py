# SPDX-License-Identifier: Apache-2.0
"""The schema of one run's metrics: 18 categories, every field with unit, meaning and side, defined once."""
