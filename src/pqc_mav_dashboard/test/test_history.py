# SPDX-License-Identifier: Apache-2.0
"""Points: bounded, and with a gap wherever nothing was known."""

from __future__ import annotations

from pqc_mav_dashboard.history import GAP_S, SERIES, History, empty, point
from pqc_mav_dashboard.picture import End, Sense

LINK = {"rtt_ms": 12.345678, "local": {"loss": 0.5, "gap_p95_ms": 7.0}, "peer": None}
END = End("gcs", "gcs", "d1", 50.0, {"state": "UP", "suite": "cs-x"}, {"tx_bytes_per_s": 100.0}, LINK)


def sense(at_s: float = 50.0, **fields: float) -> Sense:
    return Sense({"valid": True, **fields}, at_s)


def test_a_point_has_every_figure_and_no_zero_for_an_unknown_one() -> None:
    senses = {
        "battery": sense(state_of_charge=0.25),
        "vehicle": sense(north_m=3.0, east_m=-4.0, relative_altitude_m=9.0),
    }
    made = dict(zip(SERIES, point(1000.0, 50.0, [END], senses), strict=True))
    assert made == {
        "time_s": 1000.0, "tx_bit_s": 800.0, "rx_bit_s": None, "loss": 0.5, "peer_loss": None, "rtt_ms": 12.3457,
        "gap_p95_ms": 7.0, "charge": 0.25, "north_m": 3.0, "east_m": -4.0, "height_m": 9.0,
    }  # fmt: skip


def test_old_figures_leave_a_gap() -> None:
    senses = {"battery": sense(state_of_charge=0.25), "vehicle": sense(north_m=3.0)}
    assert point(1000.0, 50.0 + GAP_S + 1, [END], senses) == empty(1000.0), "an engine and senses that say nothing"
    assert point(1000.0, 50.0, [], {}) == empty(1000.0)
    invalid = {"battery": Sense({"valid": False, "state_of_charge": 0.9}, 50.0)}
    assert point(1000.0, 50.0, [], invalid) == empty(1000.0)


def test_history_is_bounded() -> None:
    history = History()
    for second in range(700):
        history.add("d1", [float(second)])
    assert [each[0] for each in (history.of("d1")[0], history.of("d1")[-1])] == [100.0, 699.0]
    for number in range(40):
        history.add(f"x{number}", [0.0])
    assert history.of("d1") == [] and history.of("x39") == [[0.0]]


def test_minutes_without_a_page_are_a_gap() -> None:
    history = History()
    for time_s in (1.0, 1.0 + GAP_S, 200.0):
        history.add("d1", [time_s, *[5.0] * 10])
    assert [each[0] for each in history.of("d1")] == [1.0, 1.0 + GAP_S, 2.0 + GAP_S, 200.0]
    assert history.of("d1")[2] == empty(2.0 + GAP_S), "between two points that are that far apart no line is drawn"


def test_a_clock_that_is_set_back_takes_its_future_along() -> None:
    history = History()
    for time_s in (1000.0, 1001.0, 1002.0, 1000.5):
        history.add("d1", [time_s])
    assert history.of("d1") == [[1000.0], [1000.5]]
    history.add("d1", [5.0])
    assert history.of("d1") == [[5.0]]
