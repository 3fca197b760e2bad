# SPDX-License-Identifier: Apache-2.0
"""The rules against made-up traffic: every class, how soon, and what must not alarm."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from scenes import DRONE, LEAST, Scene, alarms, judged

from pqc_mav_detect import classes
from pqc_mav_detect.classes import Level
from pqc_mav_detect.rules.detector import Rules
from pqc_mav_detect.rules.surplus import Threshold
from pqc_mav_detect.rules.thresholds import shipped
from pqc_mav_detect.window import PERIOD_S, LinkView, Reading, Refused, Window, Windows

COUNTERS = {
    classes.FLOOD: "drop_malformed",
    classes.REPLAY: "drop_replay",
    classes.FORGERY: "drop_auth_fail",
    classes.HANDSHAKE_FLOOD: "hs_gate",
}
KERNEL = {"packets": 400.0, "bytes": 60_000.0}


def detector() -> Rules:
    return Rules(LEAST)


@pytest.mark.parametrize("kind", COUNTERS)
@pytest.mark.parametrize(("rate", "within_s"), [(2.0, 5.0), (10.0, 5.0), (20.0, 1.0), (200.0, 0.3), (6000.0, 0.2)])
def test_an_attack_is_named_in_time(kind: str, rate: float, within_s: float) -> None:
    scene, rules = Scene(), detector()
    assert alarms(judged(rules, scene.run(15.0))) == [(Level.NONE, "")]
    begun_s = scene.now_s
    windows = scene.run(8.0, **{COUNTERS[kind]: rate})
    verdicts = judged(rules, windows)
    level = Level.SUSPICIOUS if kind == classes.REPLAY and rate <= 0.05 * 320 else Level.ATTACK
    first = next(window for window, verdict in zip(windows, verdicts, strict=True) if verdict.level >= level)
    assert first.time_s - begun_s <= within_s + 0.001
    assert {verdict.kind for verdict in verdicts if verdict.kind} == {kind}
    last = verdicts[-1]
    assert last.response == classes.CLASSES[kind].response
    assert last.first_seen_s == pytest.approx(begun_s, abs=1.1)


@pytest.mark.parametrize("kind", COUNTERS.keys() - {classes.REPLAY})  # which has to last, however much there is
def test_who_was_told_of_an_attack_needs_half_as_much_to_name_one(kind: str) -> None:
    def after_s(watchful: bool) -> float:
        scene, rules = Scene(), detector()
        scene.watchful = watchful
        assert alarms(judged(rules, scene.run(15.0))) == [(Level.NONE, "")], "nothing is no attack"
        begun_s = scene.now_s
        windows = scene.run(8.0, **{COUNTERS[kind]: 24.0})
        verdicts = judged(rules, windows)
        return (
            next(window.time_s for window, each in zip(windows, verdicts, strict=True) if each.level is Level.ATTACK)
            - begun_s
        )

    alone_s, told_s = after_s(False), after_s(True)
    assert told_s <= max(alone_s / 2, 0.1) + PERIOD_S and told_s < alone_s


def test_who_was_told_of_an_attack_thinks_no_worse_of_the_host() -> None:
    """Pings come near their limit without an attacker, too."""

    def said(watchful: bool) -> list[tuple[Level, str]]:
        scene, rules = Scene(), detector()
        scene.watchful = watchful
        asked = {"packets": 330.0, "bytes": 50_000.0}
        scene.run(15.0, kernel=asked)
        return alarms(judged(rules, scene.run(5.0, kernel={**asked, "icmp_echo": 1.8})))

    assert said(True) == said(False) == [(Level.NONE, ""), (Level.SUSPICIOUS, classes.VOLUMETRIC)]


def test_doubles_are_no_attack_to_who_was_told_of_one_either() -> None:
    scene, rules = Scene(), detector()
    scene.watchful = True
    scene.peer = replace(scene.peer, repeated=0)
    scene.run(15.0)
    verdicts = judged(rules, scene.run(8.0, doubled=30.0, drop_replay=30.0))
    assert all(each.level < Level.ATTACK for each in verdicts)


def test_evidence_is_in_words() -> None:
    scene, rules = Scene(), detector()
    scene.run(15.0)
    last = judged(rules, scene.run(3.0, drop_malformed=6100.0, drop_auth_fail=3.0))[-1]
    assert last.kind == classes.FLOOD and last.confidence > 0.9
    assert "6,100 datagrams/s that are malformed or of no session" in last.evidence
    assert last.reason.endswith(".") and "datagrams/s" in last.reason


def test_evidence_names_the_network_that_most_of_it_comes_from() -> None:
    scene, rules = Scene(), detector()
    scene.run(15.0)
    scene.refused = Refused("203.0.113.0/24", 0.404)
    last = judged(rules, scene.run(3.0, drop_malformed=6100.0))[-1]
    words = "6,100 datagrams/s that are malformed or of no session; "
    assert last.evidence[0] == words + "40 % of all that is refused comes from 203.0.113.0/24"


def test_evidence_of_other_places_names_no_network() -> None:
    """What is refused at the data port says nothing about senders to other ports."""
    scene, rules = Scene(), detector()
    judged(rules, scene.run(15.0, kernel=KERNEL))
    scene.refused = Refused("203.0.113.0/24", 1.0)
    last = judged(rules, scene.run(3.0, kernel={**KERNEL, "packets": 5000.0, "icmp_echo": 5000.0}))[-1]
    assert last.evidence and not any("203.0.113" in words for words in last.evidence)


@pytest.mark.parametrize(
    ("counter", "words"), [("icmp_echo", "pings/s"), ("udp_no_port", "closed UDP"), ("tcp_strange", "TCP")]
)
def test_traffic_elsewhere(counter: str, words: str) -> None:
    scene, rules = Scene(), detector()
    judged(rules, scene.run(15.0, kernel=KERNEL))
    found = judged(rules, scene.run(1.0, kernel={"packets": 440.0, "bytes": 65_000.0, counter: 40.0}))
    assert (found[-1].level, found[-1].kind) == (Level.ATTACK, classes.VOLUMETRIC)
    assert words in found[-1].reason


def test_evidence_names_the_interface_where_there_are_several() -> None:
    scene, rules = Scene(), detector()
    calm = {**KERNEL, "packets wlan0": 300.0, "packets eth0": 30.0}
    judged(rules, scene.run(15.0, kernel=calm))
    flood = {"packets": 5400.0, "icmp_echo": 5000.0, "packets wlan0": 5100.0, "packets eth0": 300.0}
    last = judged(rules, scene.run(1.0, kernel=flood))[-1]
    assert last.kind == classes.VOLUMETRIC
    assert last.evidence[0].endswith("; 94 % of all packets come in through wlan0")
    assert len(last.evidence) > 1 and last.reason.count("wlan0") == 1


def test_where_there_is_one_interface_it_is_not_named() -> None:
    scene, rules = Scene(), detector()
    judged(rules, scene.run(15.0, kernel={**KERNEL, "packets wlan0": 300.0}))
    flood = {"packets": 5400.0, "bytes": 7_000_000.0, "packets wlan0": 5400.0}
    last = judged(rules, scene.run(1.0, kernel=flood))[-1]
    assert last.kind == classes.VOLUMETRIC and "through" not in last.reason


def test_a_lot_of_bytes_elsewhere() -> None:
    scene, rules = Scene(), detector()
    judged(rules, scene.run(15.0, kernel=KERNEL))
    found = judged(rules, scene.run(1.0, kernel={"packets": 5400.0, "bytes": 7_000_000.0}))
    assert (found[-1].level, found[-1].kind) == (Level.ATTACK, classes.VOLUMETRIC)


@pytest.mark.parametrize("view", [{"loss": 0.12, "packets_per_s": 320.0}, {"delay_ms": 200.0}])
def test_what_a_bad_radio_does_too_is_only_suspected(view: dict[str, float]) -> None:
    scene, rules = Scene(), detector()
    judged(rules, scene.run(15.0))
    scene.link = LinkView(0.0, **view)
    found = judged(rules, scene.run(4.0))
    assert (found[-1].level, found[-1].kind) == (Level.SUSPICIOUS, classes.ON_PATH)
    assert found[-1].response == "hold"


def test_silence_is_a_blackout_and_ends_with_it() -> None:
    scene, rules = Scene(), detector()
    judged(rules, scene.run(15.0))
    from pqc_mav_detect.episodes import Episodes

    episodes = Episodes()
    found = judged(rules, scene.run(3.0, opened=0.0), episodes)
    assert (found[-1].level, found[-1].kind) == (Level.SUSPICIOUS, classes.BLACKOUT)
    assert next(i for i, verdict in enumerate(found) if verdict.kind) <= 8
    assert "nothing heard from d1 for 3.0 s" in found[-1].reason
    assert judged(rules, scene.run(5.0), episodes)[-1].level is Level.NONE


def test_the_other_end_counts_too() -> None:
    scene, rules = Scene("drone"), detector()
    judged(rules, scene.run(15.0))
    for turn in range(5):
        scene.peer = LinkView(0.0, forged=4 * (turn + 1))
        found = judged(rules, scene.run(1.0))
    assert (found[-1].level, found[-1].kind) == (Level.ATTACK, classes.FORGERY)
    assert "at the other end" in found[-1].reason


def lossy(opened: float, loss: float, row: float, seconds: float) -> list[Window]:
    """What a receiver sees of a link that loses so much, so many in a row on the average, after 15 s without loss."""
    chance, windows, found = random.Random(7), Windows("gcs"), []
    came = skipped = skips = missing = 0
    for turn in range(round((15.0 + seconds) / PERIOD_S)):
        for _ in range(round(opened * (turn + 1) * PERIOD_S) - round(opened * turn * PERIOD_S)):
            leave = 1 / row
            enter = loss * leave / (1 - loss)
            if turn >= 15.0 / PERIOD_S and chance.random() < (1 - leave if missing else enter):
                missing += 1
                continue
            came, skipped, skips, missing = came + 1, skipped + missing, skips + bool(missing), 0
        totals = {"delivered": came, "skipped": skipped, "skips": skips}
        window = windows.update(Reading(100.0 + turn * PERIOD_S, totals, {DRONE: came}))
        found += [window] if window is not None else []
    return found


@pytest.mark.parametrize("opened", [28.0, 103.0, 323.0, 643.0])
def test_losses_one_by_one_and_in_long_rows_are_suspected_and_those_of_a_weak_radio_are_not(opened: float) -> None:
    def said(loss: float, row: float) -> set[str]:
        return {verdict.kind for verdict in judged(detector(), lossy(opened, loss, row, 4.0)) if verdict.kind}

    assert said(0.15, 1.0) == {classes.ON_PATH}
    assert said(0.25, 5.0) == {classes.ON_PATH}
    assert said(0.05, 2.0) == set()


def test_a_cut_is_one_loss_however_long() -> None:
    scene, rules = Scene(), detector()
    windows = [*scene.run(15.0, skipped=0.0, skips=0.0), *scene.run(0.5, opened=0.0)]
    windows += scene.run(0.1, skipped=1600.0, skips=10.0)
    scene.link = scene.peer = LinkView(0.0, loss=0.1, packets_per_s=288.0, silence_s=0.5)
    assert alarms(judged(rules, [*windows, *scene.run(4.0)])) == [(Level.NONE, "")]


def test_a_network_that_doubles_packets_is_no_replay() -> None:
    scene, rules = Scene(), detector()
    windows = [*scene.run(15.0), *scene.run(8.0, drop_replay=6.4, doubled=6.4)]
    assert alarms(judged(rules, windows)) == [(Level.NONE, "")]


def test_missing_reports_are_suspected_where_packets_are_missing_too() -> None:
    for skips, expected in ((0.0, ""), (3.0, classes.ON_PATH)):
        scene, rules = Scene(), detector()
        judged(rules, scene.run(15.0))
        late = scene.now_s
        said = []
        for _ in range(35):
            scene.peer_at_s = late
            said += judged(rules, scene.run(0.1, skipped=skips, skips=skips))
        assert said[-1].kind == expected


def test_few_doubled_packets_at_the_other_end_are_its_own_affair() -> None:
    scene, rules = Scene("drone"), detector()
    scene.peer = LinkView(0.0, packets_per_s=320.0)
    judged(rules, scene.run(15.0, opened=20.0))
    said = []
    for turn in range(8):
        scene.peer = LinkView(0.0, repeated=8 * (turn + 1), packets_per_s=320.0)
        said += judged(rules, scene.run(1.0, opened=20.0))
    assert not any(verdict.kind for verdict in said)


@pytest.mark.parametrize("opened", [2.0, 25.0, 100.0, 320.0, 640.0])
def test_no_alarm_on_normal_traffic(opened: float) -> None:
    kernel = {"packets": opened + 80.0, "bytes": 60_000.0, "taken": opened + 75.0}
    assert alarms(judged(detector(), Scene().run(120.0, opened=opened, kernel=kernel))) == [(Level.NONE, "")]


def test_no_alarm_when_a_peer_is_restarted_or_parameters_are_read() -> None:
    scene, rules = Scene(), detector()
    windows = scene.run(15.0)
    windows += scene.run(0.5, opened=0.0)
    windows += scene.run(2.0, opened=900.0)  # a burst of parameters
    windows += scene.run(1.0, hs_unknown=1.0, hs_limit=2.0)  # late copies of a handshake
    windows += scene.run(30.0)
    assert alarms(judged(rules, windows)) == [(Level.NONE, "")]


def test_an_alarm_ends_and_the_next_one_begins_anew() -> None:
    scene, rules = Scene(), detector()
    windows = [*scene.run(15.0), *scene.run(10.0, drop_auth_fail=500.0), *scene.run(20.0)]
    windows += [*scene.run(2.0, hs_tag=300.0), *scene.run(20.0)]
    said = [(level, kind) for level, kind in alarms(judged(rules, windows)) if level is not Level.SUSPICIOUS]
    none = (Level.NONE, "")
    assert said == [none, (Level.ATTACK, classes.FORGERY), none, (Level.ATTACK, classes.HANDSHAKE_FLOOD), none]


def test_reset_forgets() -> None:
    scene, rules = Scene(), detector()
    judged(rules, scene.run(20.0, drop_auth_fail=500.0))
    rules.reset()
    assert rules.update(scene.run(0.1)[0]).pressure == {}


def test_a_mixed_attack_is_called_by_what_presses_most() -> None:
    scene, rules = Scene(), detector()
    judged(rules, scene.run(15.0))
    thirds = {"drop_malformed": 130.0, "drop_replay": 130.0, "drop_auth_fail": 130.0}
    last = judged(rules, scene.run(5.0, **thirds))[-1]
    assert last.kind == classes.FORGERY and len(last.evidence) == 3 and 0.3 < last.confidence < 0.6


def test_without_thresholds_the_shipped_ones_count() -> None:
    given = {**LEAST, "forged": Threshold(5.0, 50.0)}
    for rules, table in ((Rules(), shipped()), (Rules(given), given)):
        scene = Scene()
        windows = scene.run(10.0, drop_auth_fail=0.0) + scene.run(1.0, drop_auth_fail=40.0)
        opinion = [rules.update(window) for window in windows][-1]
        grown = (40.0 - table["forged"].allowance) / table["forged"].limit
        assert opinion.pressure[classes.FORGERY] == pytest.approx(min(10.0, grown), rel=0.01)
        faster = (20.0 - table["forged"].allowance) / table["forged"].limit  # 40/s for one of the last two seconds
        assert opinion.strength[classes.FORGERY] == pytest.approx(faster, rel=0.06)


def test_half_of_the_limit_is_pressure_and_no_more_than_that() -> None:
    rules = Rules({**LEAST, "forged": Threshold(0.0, 10.0)})
    window = Scene().run(0.2)[0]
    opinion = rules.update(replace(window, span_s=0.125, values={**window.values, "forged": 40.0}))
    assert opinion.pressure == {classes.FORGERY: 0.5}


def test_copies_that_doubling_explains_are_never_more_than_suspected() -> None:
    scene, rules = Scene(), detector()
    judged(rules, scene.run(15.0, drop_replay=0.0))
    found = [rules.update(window).pressure.get(classes.REPLAY, 0.0) for window in scene.run(20.0, drop_replay=14.0)]
    assert max(found) == pytest.approx(0.9)


def test_a_silence_began_when_the_drone_was_last_heard() -> None:
    window = replace(Scene().run(0.2)[0], time_s=50.0, silent={DRONE: 2.0})
    assert detector().update(window).since_s == 48.0
