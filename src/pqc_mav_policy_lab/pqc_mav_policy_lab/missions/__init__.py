"""Missions, simulated and recorded, and how a strategy flies them."""
