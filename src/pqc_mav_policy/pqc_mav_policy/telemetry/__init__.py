"""What the drone and its link report, as one snapshot per decision."""
