"""Training of the table that the strategies rl and hybrid fly."""
