"""Analysis of benchmark campaigns: pure functions over the tidy table, held against the published figures."""
