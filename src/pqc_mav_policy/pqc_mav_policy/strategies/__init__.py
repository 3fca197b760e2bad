"""The strategies: each folder holds one, with its parameters and data."""
