# SPDX-License-Identifier: Apache-2.0
"""The expert: looks suites up in measured performance."""
