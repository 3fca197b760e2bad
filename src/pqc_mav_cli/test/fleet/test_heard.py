# SPDX-License-Identifier: Apache-2.0
"""What is known of a fleet: by stations whose clocks are wrong, which are silent, or of which old words are shown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from rich.console import Console

from pqc_mav_cli.fleet.heard import FRESH_S, Heard, table
from pqc_mav_cli.fleet.view import View
from pqc_mav_dashboard.picture import Picture
from pqc_mav_dashboard.trouble import trouble

NOW_S, CLOCK_S = 1_000_000.0, 500.0


def row(drone: str = "d7", state: str = "UP", **status: Any) -> dict[str, Any]:
    suite = "" if state == "DOWN" else "cs-mlkem768-aesgcm-mldsa65"
    return {"drone": drone, "status": {"state": state, "suite": suite, **status}, "stats": {}, "link": {}}


class Seen:
    """What an operator hears, second by second; a station says what it says by its own clock."""

    def __init__(self) -> None:
        self.heard = Heard()
        self.at_s = 0.0

    def hear(
        self,
        gcs_id: str,
        *rows: dict[str, Any],
        said_s: float | None = None,
        ahead_s: float = 0.0,
        event: int | None = None,
    ) -> bool:
        said_s = self.at_s if said_s is None else said_s
        events = [] if event is None else [(event, {"event": "log"})]
        view = View(round((NOW_S + said_s + ahead_s) * 1000), rows or [row()], "boot", events)
        return self.heard.take(gcs_id, view, NOW_S + self.at_s, CLOCK_S + self.at_s)

    def now(self, *drones: str, gone: Sequence[str] = ()) -> Picture:
        return self.heard.picture(["north", "south"], drones, gone, NOW_S + self.at_s, CLOCK_S + self.at_s)


def rank(picture: Picture, drone: str = "d7") -> int:
    return trouble(picture.drones()[drone], {}, picture.clock_s)[0]


def printed(picture: Picture) -> list[list[str]]:
    found, _ = table(picture)
    out = Console(width=80)
    with out.capture() as captured:
        out.print(found)
    return [line.split() for line in captured.get().splitlines()[1:]]


def test_a_drone_with_two_stations_is_well_when_one_of_them_falls_silent() -> None:
    seen = Seen()
    seen.hear("north")
    seen.hear("south", row(station_role="standby", silence_s=2.5))
    assert [end.name for end in seen.now().ends] == ["north", "south"] and seen.now().notes == []
    for second in range(2, 32, 2):
        seen.at_s = second
        seen.hear("south")
    picture = seen.now()
    assert [end.name for end in picture.ends] == ["south"] and rank(picture) == 0
    assert picture.notes == ["north has said nothing for 30 s, by its clock."]


def test_a_drone_whose_only_station_is_silent_is_in_trouble() -> None:
    seen = Seen()
    seen.hear("north")
    seen.hear("south", row(state="DOWN"))
    seen.at_s = FRESH_S + 1
    seen.hear("south", row(state="DOWN"))
    picture = seen.now()
    assert rank(picture) == 9
    assert table(picture)[1] == ["north has said nothing for 16 s, by its clock."], "it may still be connected"
    assert ["d7", "north", "SILENT", "ML-768-AG-MD-65", "16.0", "s"] in printed(picture)


@pytest.mark.parametrize("ahead_s", [-7200.0, 0.0, 7200.0])
def test_a_clock_that_is_wrong_is_no_silence(ahead_s: float) -> None:
    seen = Seen()
    for second in (0, 2, 4):
        seen.at_s = second
        assert seen.hear("north", ahead_s=ahead_s)
    assert rank(seen.now()) == 0
    late = "What north says is 7,200 s old by its clock: that is wrong, or the registry shows old news."
    ahead = "The clock of north is 7,200 s ahead: what it says may be older than it seems."
    note = late if ahead_s < 0 else ahead if ahead_s else "south has said nothing yet."
    assert seen.now().notes[0] == note


def test_old_words_that_are_shown_again_are_no_news() -> None:
    seen = Seen()
    seen.hear("north", said_s=-3600.0)
    assert seen.now().notes[0] == "north has said nothing for 3,600 s, by its clock."
    seen.at_s = 2.0
    seen.hear("north")
    seen.at_s = 40.0
    assert not seen.hear("north", said_s=1.0) and not seen.hear("north", said_s=2.0)
    assert rank(seen.now()) == 9
    assert seen.hear("north", said_s=10.0), "it was said, but withheld for 30 s"
    assert seen.now().notes[0] == "north has said nothing for 30 s."


def test_a_clock_that_is_set_back_is_told_from_silence() -> None:
    seen = Seen()
    seen.hear("north", event=7)
    for second in range(2, 32, 2):
        seen.at_s = second
        assert not seen.hear("north", ahead_s=-3600.0, event=7), "it may be an old one"
    assert seen.now().notes[0] == (
        "north tells of an earlier time than before: its clock was set back, or the registry shows old news."
    )
    for second in (32, 34):
        seen.at_s = second
        assert seen.hear("north", ahead_s=-3600.0, event=8), "by the number of its newest event it is a new one"
    assert rank(seen.now()) == 0 and not seen.hear("north", event=7), "and that is an old one, whatever its time"
    assert "3,600 s old by its clock" in seen.now().notes[0]


def test_a_drone_of_which_nobody_tells_is_down() -> None:
    seen = Seen()
    seen.hear("north", row("d7"), row("d8", "DOWN"))
    seen.hear("south", row("d7", station_role="standby", silence_s=2.5), row("d8", "DOWN"))
    picture = seen.now("d7", "d8", "d9")
    assert printed(picture) == [
        ["d7", "north", "UP", "ML-768-AG-MD-65", "0.0", "s"],
        ["d7", "south", "UP", "standby", "ML-768-AG-MD-65", "2.5", "s"],
        ["d8", "-", "DOWN", "-", "-"],
        ["d9", "-", "DOWN", "-", "-"],
    ]
    assert table(picture)[1] == ["2 drones without a session: d8, d9."] and rank(picture, "d9") == 8


def test_a_removed_drone_that_a_station_still_names_is_no_trouble() -> None:
    seen = Seen()
    for gcs_id in ("north", "south"):
        seen.hear(gcs_id, row("d7", "DOWN"), row("d8"))
    picture = seen.now("d8", gone=["d7", "d8"])
    assert [*picture.drones()] == ["d8"], "one with a session is shown whatever the book says"
    assert table(picture)[1] == []
