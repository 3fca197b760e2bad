# SPDX-License-Identifier: Apache-2.0
"""What was heard of each station, and how old that is. The store can withhold, and show old words again. No I/O."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from rich.table import Table

from pqc_mav_cli.fleet.view import View
from pqc_mav_cli.wording import counted, short_code
from pqc_mav_dashboard.picture import End, Picture

FRESH_S = 15.0  # several views; a station with many drones tells less often
_UP = ("UP", "REKEYING")


@dataclass
class _Said:
    """The newest view of a station. Its clock need not be right, but has to go on."""

    view: View
    heard_s: float  # on our clock: when it was said, as far as that can be known
    lag_ms: float  # the least by which its clock and the way here were behind our clock
    alone: bool = False  # nothing to compare its clock with
    ends: list[End] = field(default_factory=list)
    older_s: float = -math.inf  # on our clock: when something older came

    def was_before(self, view: View) -> bool:
        """Whether the other was said later: by the engine's numbers of events, which no clock changes, if they tell."""
        ours, its = (each.events[-1][0] if each.events else -1 for each in (self.view, view))
        if view.boot == self.view.boot and -1 not in (ours, its) and ours != its:
            return ours < its
        return self.view.at_ms < view.at_ms


class Heard:
    """The stations of a fleet, as pictures of the dashboard."""

    def __init__(self) -> None:
        self._said: dict[str, _Said] = {}

    def take(self, gcs_id: str, view: View, time_s: float, clock_s: float) -> bool:
        """A view of this station, at this time (since 1970) and on this clock; False for one that is not newer."""
        before = self._said.get(gcs_id)
        if before and not before.was_before(view):
            if view != before.view:
                before.older_s = clock_s
            return False
        if before and view.at_ms <= before.view.at_ms:
            before = None  # its clock was set back
        lag_ms = time_s * 1000 - view.at_ms
        least_ms = min(lag_ms, before.lag_ms) if before else lag_ms
        # The first one's age is what the station's clock says. Later ones are late if they lag more than another did.
        late_ms = lag_ms - least_ms if before else max(0.0, lag_ms)
        said = _Said(view, clock_s - late_ms / 1000, least_ms, alone=before is None)
        for row in view.rows:
            figures = (row["stats"] or None, row["link"] or None)
            said.ends.append(
                End(gcs_id, "gcs", row["drone"], said.heard_s, row["status"], *figures, silent_after_s=FRESH_S)
            )
        self._said[gcs_id] = said
        return True

    def picture(
        self, stations: Iterable[str], drones: Collection[str], gone: Collection[str], time_s: float, clock_s: float
    ) -> Picture:
        """All that is known of these stations; `drones` are there even if no station tells of them.

        Drones that are `gone` are there only with a session: a station has to go on naming its last one.
        """
        picture = Picture(time_s, clock_s)
        silent: list[End] = []
        for gcs_id in stations:
            said = self._said.get(gcs_id)
            if said is None:
                picture.notes.append(f"{gcs_id} has said nothing yet.")
            elif (age_s := clock_s - said.heard_s) > FRESH_S:
                by = ", by its clock" if said.alone else ""
                picture.notes.append(
                    f"{gcs_id} has said nothing for {age_s:,.0f} s{by}."
                    if clock_s - said.older_s > FRESH_S
                    else f"{gcs_id} tells of an earlier time than before: its clock was set back, or the registry "
                    "shows old news."
                )
                silent += said.ends
            else:
                picture.ends += said.ends
                if abs(said.lag_ms) > FRESH_S * 1000:
                    apart = f"{abs(said.lag_ms) / 1000:,.0f} s"
                    picture.notes.append(
                        f"What {gcs_id} says is {apart} old by its clock: that is wrong, or the registry shows old "
                        "news."
                        if said.lag_ms > 0
                        else f"The clock of {gcs_id} is {apart} ahead: what it says may be older than it seems."
                    )
        # A station that is silent is no trouble for a drone that has gone to another one.
        served = {end.drone for end in picture.ends if end.status["suite"]}
        picture.ends += [end for end in silent if end.drone not in served]
        picture.ends = [end for end in picture.ends if end.status["suite"] or end.drone not in gone]
        known = {end.drone for end in picture.ends}
        nowhere = {"state": "DOWN", "suite": "", "last_error": "No station has told of this drone."}
        picture.ends += [End("no station", "gcs", drone, clock_s, nowhere) for drone in drones if drone not in known]
        return picture


def table(picture: Picture) -> tuple[Table, list[str]]:
    """A row per drone and station that has a session with it, and sentences for what is not as it should be."""
    made = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("drone", "station", "state", "suite", "silent"):
        made.add_column(title, overflow="fold")
    down = []
    for drone, ends in sorted(picture.drones().items()):
        with_session = [end for end in ends if end.status["suite"]]
        for end in with_session:
            status, silent_s = end.status, end.silent_s(picture.clock_s)
            state = status["state"] if status.get("station_role") != "standby" else f"{status['state']} standby"
            heard = f"{silent_s or status.get('silence_s') or 0.0:.1f} s"
            made.add_row(drone, end.name, state if silent_s is None else "SILENT", short_code(status["suite"]), heard)
        if not with_session:
            made.add_row(drone, "-", "DOWN", "-", "-")
        if not any(end.status["state"] in _UP for end in ends):
            down.append(drone)
    without = [f"{counted(len(down), 'drone')} without a session: {', '.join(down[:10])}."] if down else []
    return made, picture.notes + without
