# SPDX-License-Identifier: Apache-2.0
"""Costs out of recorded flights: medians, what belongs to which suite, what is left out, and the order that follows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from scenes import CATALOGUE, suite

from pqc_mav_policy.settings import Settings, make
from pqc_mav_policy.strategies.expert.performance import Performance, PerformanceTable, load, save
from pqc_mav_policy_lab.recordings.learn import flights_of_pairs, listen, order, pair_of, table
from pqc_mav_recorder.file import RecordingError, RecordingFile
from pqc_mav_recorder.schema import installed_topic

BEGIN_NS = 1_700_000_000_000_000_000
BEST, HQC, LIGHT = map(suite, ("ML-1024-AG-FA-1024", "HQC-256-AG-MD-87", "ML-512-AG-FA-512"))


def write(recording: RecordingFile, name: str, message: Any, at_s: float) -> None:
    from rclpy.serialization import serialize_message

    at = BEGIN_NS + int(at_s * 1e9)
    kind = f"pqc_mav_interfaces/msg/{type(message).__name__}"
    recording.write(installed_topic(name, kind), serialize_message(message), at, at)


def flight(path: Path, *handshakes: tuple[str, float, bool], measured: bool = True, name: str = "drone") -> Path:
    """Each suite is used for a second after its handshake, at 4 W plus a watt for each suite before."""
    from pqc_mav_interfaces.msg import HandshakeReport, LinkQuality, PowerSample, TunnelStatus

    recording = RecordingFile(path, {})
    for second, (used, took_ms, ok) in enumerate(handshakes):
        report = HandshakeReport(ok=ok, suite=used, handshake_ms=took_ms, rekey=True)
        write(recording, f"/{name}/pqc_proxy/handshake", report, second)
        ratchet = HandshakeReport(ok=True, suite=used, handshake_ms=1.0, rekey=True, kind="ratchet")
        write(recording, f"/{name}/pqc_proxy/handshake", ratchet, second + 0.4)
        write(recording, "/other/pqc_proxy/handshake", HandshakeReport(ok=True, suite=used, handshake_ms=9e5), second)
        if ok:
            write(recording, f"/{name}/pqc_proxy/status", TunnelStatus(suite=used), second + 0.1)
        power = PowerSample(measured=measured, valid=True, power_mean_w=4.0 + second)
        write(recording, f"/{name}/power", power, second + 0.2)
        for side, loss in (("peer", 0.01 * second), ("local", 0.9)):
            write(recording, f"/{name}/pqc_proxy/link", LinkQuality(side=side, loss=loss), second + 0.3)
    return recording.finish()


def test_medians_of_several_flights(tmp_path: Path) -> None:
    one = flight(tmp_path / "a.mcap", (BEST, 40.0, True), (HQC, 900.0, True), (BEST, 50.0, True), (LIGHT, 7e3, False))
    two = flight(tmp_path / "b.mcap", (BEST, 45.0, True))
    rows = {row.suite: row for row in table(listen([one, two], "drone"), 2)}
    assert set(rows) == {BEST, HQC}
    assert rows[BEST].handshake_ms == 45.0
    assert rows[HQC].handshake_ms == 900.0
    assert rows[HQC].power_w == 5.0
    assert rows[HQC].energy_j is None, "900 ms are mostly the link's, and 5 W what the computer always takes"
    assert rows[HQC].loss == pytest.approx(0.01, abs=1e-4)
    assert rows[BEST].source == "recorded flights: 2, handshakes: 3"
    assert not rows[BEST].simulated


def test_the_same_handshake_is_never_split_by_cipher(tmp_path: Path) -> None:
    """Not where two ciphers were flown by luck at other times, and not where one was not flown at all."""
    chacha, ascon = map(suite, ("ML-1024-CP-FA-1024", "ML-1024-AS-FA-1024"))
    flights = [flight(tmp_path / "a.mcap", (BEST, 40.0, True)), flight(tmp_path / "b.mcap", (chacha, 60.0, True))]
    learned = listen(flights, "drone")
    assert flights_of_pairs(learned) == {pair_of(BEST): [[40.0], [60.0]]}
    rows = table(learned, 2)
    assert {row.handshake_ms for row in rows} == {50.0}
    (together,) = [names for names, _ in order(rows, CATALOGUE) if BEST in names]
    assert set(together) == {BEST, chacha, ascon}


def test_a_models_power_is_not_learned(tmp_path: Path) -> None:
    (row,) = table(listen([flight(tmp_path / "a.mcap", (BEST, 40.0, True), measured=False)], "/drone/"), 1)
    assert row.power_w is None


def test_rows_of_suites_that_were_not_flown_stay(tmp_path: Path) -> None:
    base = PerformanceTable([Performance(n, 1.0, None, 0.1, None, "bench", False) for n in (BEST, LIGHT)])
    rows = table(listen([flight(tmp_path / "a.mcap", (BEST, 40.0, True))], "drone"), 1, base)
    assert [(row.suite, row.handshake_ms) for row in rows] == sorted([(BEST, 40.0), (LIGHT, 1.0)])
    assert {row.energy_j for row in rows} == {0.1}, "no flight measures the energy of a handshake"


def test_without_a_good_handshake_there_is_nothing_to_learn(tmp_path: Path) -> None:
    failed = flight(tmp_path / "a.mcap", (BEST, 40.0, False))
    with pytest.raises(RecordingError, match="nothing can be learned"):
        listen([failed], "drone")
    with pytest.raises(RecordingError, match="namespace /absent"):
        listen([failed], "absent")


def test_the_order_and_the_strategy_follow_what_was_learned(tmp_path: Path) -> None:
    """Where the best suite of level 5 turns out slow, another one of level 5 is chosen."""
    path = flight(tmp_path / "a.mcap", (BEST, 5000.0, True), *[(n, 300.0, True) for n in (HQC, LIGHT)])
    rows = table(listen([path], "drone"), 1)
    ordered = order(rows, CATALOGUE)
    times = {name: seconds for names, seconds in ordered for name in names}
    assert (times[BEST], times[HQC], times[LIGHT]) == (5.0, 0.3, 0.3), "as recorded: the transfer is in it"
    places = [names for names, _ in ordered]
    of = {name: place for place, names in enumerate(places) for name in names}
    assert of[HQC] < of[BEST]
    assert len(of) == 72
    save(tmp_path / "learned.csv", rows)
    assert len(load(tmp_path / "learned.csv")) == 3
    learned: Any = make("measured", CATALOGUE, Settings(performance_file=tmp_path / "learned.csv"))
    assert learned.costs.compute_s[BEST] == 5.0
    assert learned.costs.source == "recorded flights: 1, handshakes: 1"
