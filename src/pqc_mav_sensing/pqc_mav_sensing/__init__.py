# SPDX-License-Identifier: Apache-2.0
"""The drone's senses: battery, mission phase, temperature, power and load, each with source, time and validity."""
