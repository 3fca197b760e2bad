"""A simulated drone: battery, processor, radio link and tunnel session."""
