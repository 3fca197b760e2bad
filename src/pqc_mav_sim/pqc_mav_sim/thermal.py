# SPDX-License-Identifier: Apache-2.0
"""Temperatures of battery, motors and avionics as lumped heat capacities cooled by the air.

C dT/dt = Q - hA(v) (T - T_air), with the heat transfer growing with airspeed and rotor wash. Each step is the exact
solution for constant heat, so it is stable for every time step. Watts, joules per kelvin, degrees Celsius.
"""

import math
from dataclasses import dataclass

LAPSE_RATE_K_PER_M = 0.0065


@dataclass(frozen=True)
class NodeSpec:
    """Heat capacity (J/K), still-air conductance (W/K) and its growth per m/s of air flow (W/K per m/s)."""

    capacity: float
    still: float
    per_flow: float


BATTERY = NodeSpec(capacity=480.0, still=0.55, per_flow=0.05)
MOTORS = NodeSpec(capacity=190.0, still=0.9, per_flow=0.25)
AVIONICS = NodeSpec(capacity=55.0, still=0.42, per_flow=0.03)


def relax(temperature: float, heat_w: float, conductance: float, capacity: float, ambient: float, dt: float) -> float:
    """Return the temperature after dt seconds of constant heat."""
    target = ambient + heat_w / conductance
    return target + (temperature - target) * math.exp(-conductance / capacity * dt)


class Thermal:
    """Three nodes that start in equilibrium with the air."""

    def __init__(self, ambient_c: float = 20.0) -> None:
        self.ground_c = ambient_c
        self.ambient_c = ambient_c
        self.battery_c = ambient_c
        self.motors_c = ambient_c
        self.avionics_c = ambient_c

    def step(
        self, dt: float, *, battery_heat_w: float, rotor_power_w: float, avionics_w: float, flow: float, altitude: float
    ) -> None:
        """Advance by dt seconds.

        Args:
            battery_heat_w: loss inside the pack.
            rotor_power_w: electrical power of the rotors; its losses in motors and speed controllers become heat.
            avionics_w: power of flight controller and companion computer, all of it heat.
            flow: air flow over the vehicle (m/s), rotor wash included.
            altitude: metres above the start, for the air's lapse rate.
        """
        self.ambient_c = self.ground_c - LAPSE_RATE_K_PER_M * max(0.0, altitude)
        rotor_heat = 0.18 * rotor_power_w
        for name, node, heat in (
            ("battery_c", BATTERY, battery_heat_w),
            ("motors_c", MOTORS, rotor_heat),
            ("avionics_c", AVIONICS, avionics_w),
        ):
            conductance = node.still + node.per_flow * max(0.0, flow)
            value = relax(getattr(self, name), heat, conductance, node.capacity, self.ambient_c, dt)
            setattr(self, name, value)
