# SPDX-License-Identifier: Apache-2.0
"""What sets real autopilots apart from this vehicle: what comes unasked and how often, and how long the list of
parameters is. As seen of ArduCopter 4.7-dev and PX4 v1.15-dev in flight; the figures are those, not recordings.

Flight, modes and the encoding of parameters stay this vehicle's own, which are PX4's.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from pymavlink.dialects.v20 import common as mavlink

from pqc_mav_sim.param_table import PARAM_SPECS, ParamSpec, ParamType
from pqc_mav_sim.rates import STREAMS, StreamSpec


@dataclass(frozen=True)
class Habits:
    """`on_request`: heartbeats alone until streams are asked for. `unasked_hz`: rates that do not scale with the total.
    `parameters`: how many there are; 0 = those of the table."""

    on_request: bool = False
    unasked_hz: Mapping[int, float] = field(default_factory=dict)
    parameters: int = 0

    def streams(self) -> tuple[StreamSpec, ...]:
        """The telemetry of such a vehicle."""
        return tuple(
            StreamSpec(each.msg_id, self.unasked_hz[each.msg_id], fixed=True)
            if each.msg_id in self.unasked_hz
            else each
            for each in STREAMS
        )

    def specs(self) -> tuple[ParamSpec, ...]:
        """The parameters that are known, and as many without a meaning as are missing."""
        more = range(max(0, self.parameters - len(PARAM_SPECS)))
        return (*PARAM_SPECS, *(ParamSpec(f"ZZ_{number:04d}", ParamType.INT32, number, 0, 9999) for number in more))


PX4 = Habits(
    unasked_hz={mavlink.MAVLINK_MSG_ID_BATTERY_STATUS: 1 / 2.015, mavlink.MAVLINK_MSG_ID_SYS_STATUS: 1.0},
    parameters=884,
)
ARDUPILOT = Habits(on_request=True, parameters=1313)
HABITS: Mapping[str, Habits] = {"": Habits(), "px4": PX4, "ardupilot": ARDUPILOT}
