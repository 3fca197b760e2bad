"""Recorded flights: what a strategy decides on them."""
