# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace

import pytest
from captures import attacked, capture, more

from pqc_mav_detect import classes
from pqc_mav_detect.capture import CaptureRules, Slot
from pqc_mav_detect.classes import Level
from pqc_mav_detect.episodes import Episodes


def named(slots: list[Slot], calm: int = 100) -> list[tuple[float, str, Level]]:
    rules, episodes = CaptureRules(slots[:calm]), Episodes()
    found: list[tuple[float, str, Level]] = []
    for slot in slots[calm:]:
        verdict = episodes.update(rules.update(slot, 0.1), slot.time_s)
        if verdict.kind and (not found or found[-1][1:] != (verdict.kind, verdict.level)):
            found.append((slot.time_s, verdict.kind, verdict.level))
    return found


def without(slots: list[Slot], *columns: str) -> list[Slot]:
    return [replace(slot, **dict.fromkeys(columns)) for slot in slots]


MISSING = [(), ("packets",), ("bytes",), ("mavlink_packets",), ("packets", "mavlink_packets")]


@pytest.mark.parametrize("missing", MISSING, ids=lambda each: ",".join(each) or "all there")
def test_calm_traffic_is_calm(missing: tuple[str, ...]) -> None:
    assert named(without(capture(600.0), *missing)) == []


@pytest.mark.parametrize("missing", MISSING, ids=lambda each: ",".join(each) or "all there")
@pytest.mark.parametrize("packets", [20.0, 400.0])
def test_a_flood_is_named_within_a_second(packets: float, missing: tuple[str, ...]) -> None:
    found = named(without(attacked(more(packets, 84.0)), *missing))
    (first_s, kind, _), *_ = [each for each in found if each[2] is Level.ATTACK]
    assert kind == classes.VOLUMETRIC and 30.0 <= first_s <= 31.0


def test_a_slow_one_too_where_it_stands_out() -> None:
    (first_s, kind, _), *_ = named(attacked(more(2.0, 84.0)))
    assert kind == classes.VOLUMETRIC and 30.0 <= first_s <= 31.5


def test_messages_that_go_missing() -> None:
    (first_s, kind, level), *_ = named(
        attacked(lambda slot: replace(slot, packets=9.0, bytes=500.0, mavlink_packets=9.0))
    )
    assert (kind, level) == (classes.ON_PATH, Level.SUSPICIOUS) and first_s <= 31.0
    (_, kind, _), *_ = named(attacked(lambda slot: replace(slot, packets=0.0, bytes=0.0, mavlink_packets=0.0)))
    assert kind == classes.BLACKOUT


def test_nothing_to_compare_with() -> None:
    with pytest.raises(ValueError, match="5 calm windows"):
        CaptureRules(capture(0.5))
    with pytest.raises(ValueError, match="none of the columns"):
        CaptureRules([Slot(turn * 0.1) for turn in range(50)])


def test_what_two_sums_saw_is_said_once() -> None:
    slots = attacked(more(400.0, 84.0))
    calm = [slot for slot in slots if slot.time_s - slots[0].time_s < 10.0]
    rules, said = CaptureRules(calm), []
    for slot in slots[len(calm) :]:
        said.append(rules.update(slot, 0.1).evidence)
    assert max(map(len, said)) >= 2
    assert all(len(set(each)) == len(each) for each in said)
