"""Missions, their comparison, replay and training: everything of the policy that needs a simulation."""
