# SPDX-License-Identifier: Apache-2.0
"""The default strategy: the strongest suite whose measured cost fits the budget."""
