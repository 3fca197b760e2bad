"""The drone's senses: battery, mission phase, temperature, power and load, each with source, time and validity."""
