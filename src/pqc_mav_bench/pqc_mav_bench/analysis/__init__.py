# SPDX-License-Identifier: Apache-2.0
"""Analysis of benchmark campaigns: pure functions over the tidy table, held against the published figures."""
