"""The flight recorder: a flight's topics into one MCAP file, and back."""
