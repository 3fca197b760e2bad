# SPDX-License-Identifier: Apache-2.0
"""Two proxies with a tunnel between them, of the same kind and of both: rekeys under traffic, silence, the end."""

from __future__ import annotations

import json
import re
import signal
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from diagnostic_msgs.msg import DiagnosticArray
from pqc_mav_interfaces import action
from pqc_mav_interfaces.msg import HandshakeReport, LinkQuality, ServerStats, ThreatReport, TunnelStats, TunnelStatus
from pqc_mav_interfaces.srv import Rekey
from proxies import DRONES, KINDS, NODE, PERIOD_S, guard, start
from watcher import Watcher

from pqc_mav_common import qos
from pqc_mav_common.free_ports import free_port
from pqc_mav_common.testing import DEADLINE_S, GONE_S, Running, until
from pqc_mav_common.testing_proxies import HOST, drone_parameters, gcs_parameters
from pqc_mav_common.testing_traffic import Traffic
from pqc_mav_proxy.rekey_server import PHASES

SUITE = "cs-mlkem768-aesgcm-mldsa65"
# What became of those that were taken.
SUMMED_APART = ("hs_gated", "hs_retried", "hs_completed", "hs_failed", "drop_kernel")
OTHER = "cs-mlkem1024-aesgcm-mldsa87"
# More at once than a proxy lets wait.
CROWD = 8
BUSY = ("Busy: 4 rekeys are waiting at this proxy already; try again when one is done.",)


@dataclass
class Pair:
    """A drone and a gcs, up, with traffic between their applications."""

    names: dict[str, str]
    processes: dict[str, Running]
    sockets: dict[str, Path]
    traffic: Traffic
    data_port: int  # of the gcs


@pytest.fixture(scope="module", params=[(a, b) for a in KINDS for b in KINDS], ids="-".join)
def pair(
    request: pytest.FixtureRequest, keys: Path, watcher: Watcher, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Pair]:
    """A drone of the first kind and a gcs of the second."""
    kinds = dict(zip(("drone", "gcs"), request.param, strict=True))
    space = {end: f"{'_'.join(request.param)}_{end}" for end in kinds}
    names = {end: f"/{space[end]}/{NODE}" for end in kinds}
    traffic = Traffic(period_s=PERIOD_S)
    sockets = {end: tmp_path_factory.mktemp("run") / f"{end}.sock" for end in kinds}
    gcs = gcs_parameters(
        keys,
        DRONES,
        control_socket=str(sockets["gcs"]),
        **{"drone.d1.plain_peer": f"{HOST}:{traffic.ground_port}"},
    )
    drone = drone_parameters(
        keys,
        gcs["data_port"],
        plain_bind=f"{HOST}:{free_port()}",
        degraded_after_s=1.0,
        control_socket=str(sockets["drone"]),
    )
    processes: dict[str, Running] = {}
    guards: list[Running] = []
    try:
        processes["gcs"] = start(kinds["gcs"], gcs, space["gcs"])
        processes["drone"] = start(kinds["drone"], drone, space["drone"])
        processes["drone"].wait_for("-> UP")
        processes["gcs"].wait_for("-> UP")
        for end, kind in kinds.items():
            guards += guard(kind, space[end], sockets[end].parent)
        traffic.start(int(drone["plain_bind"].partition(":")[2]))
        yield Pair(names, processes, sockets, traffic, gcs["data_port"])
    finally:
        traffic.stop()
        for process in (*processes.values(), *guards):
            process.kill()


def ask(path: Path, **request: Any) -> dict[str, Any]:
    """What a control socket answers (docs/control-socket.md)."""
    with socket.socket(socket.AF_UNIX) as connection, connection.makefile("rw") as lines:
        connection.settimeout(DEADLINE_S)
        connection.connect(str(path))
        lines.write(json.dumps({"v": 1, **request}) + "\n")
        lines.flush()
        answer: dict[str, Any] = json.loads(lines.readline())
    return answer


def test_messages(pair: Pair, watcher: Watcher) -> None:
    names = pair.names
    statuses = watcher.collect(TunnelStatus, f"{names['gcs']}/status", qos.latched(2))
    handshakes = watcher.collect(HandshakeReport, f"{names['drone']}/handshake", qos.event())
    stats = watcher.collect(TunnelStats, f"{names['drone']}/stats", qos.periodic(1))
    links = watcher.collect(LinkQuality, f"{names['drone']}/link", qos.periodic(2))

    until(lambda: {each.drone_id for each in statuses} == {"d1", "d2"}, "the latched statuses of both drones")
    newest = {each.drone_id: each for each in statuses}
    up, down = newest["d1"], newest["d2"]
    assert (up.state, up.role, up.suite, up.hybrid, len(up.session_id)) == (TunnelStatus.UP, "gcs", SUITE, True, 16)
    assert (down.state, down.suite, down.session_id) == (TunnelStatus.DOWN, "", "")

    until(lambda: any(each.ok for each in handshakes), "the latched report of the handshake")
    report = next(each for each in handshakes if each.ok)
    assert (report.role, report.suite, report.error, report.reason) == ("drone", SUITE, "none", "")
    phases = report.phase_hello_ms + report.phase_server_hello_ms + report.phase_finish_ms
    assert 0 < phases <= report.handshake_ms * 1.01
    assert report.sig_verify_ms > 0 and report.kem_encaps_ms > 0 and report.sig_sign_ms == 0
    assert (report.public_key_bytes, report.ciphertext_bytes) == (1184, 1088)
    assert report.bytes_received > report.signature_bytes > 0

    until(lambda: any(each.rx_packets_per_s > 0 and each.tx_bytes_per_s > 0 for each in stats), "rates")

    def accounted(last: TunnelStats) -> bool:
        drops = sum(getattr(last, field) for field in last.get_fields_and_field_types() if field.startswith("drop_"))
        return last.enc_rx_packets == last.delivered + last.control + drops

    # Counters are read while packets come: one may be between two of them.
    until(lambda: accounted(stats[-1]), "a sum that comes out")
    until(lambda: {each.side for each in links} == {"local", "peer"}, "both sides of the link")
    until(lambda: any(each.rtt_ms > 0 for each in links), "a round trip")
    assert all(each.age_s == 0 for each in links if each.side == "local")

    counters = watcher.collect(ServerStats, f"{names['gcs']}/server_stats", qos.sensor())
    until(lambda: len(counters) >= 5, "counters of the process")
    assert counters[-1].drone_ids == ["d1", "d2"] and counters[-1].opened[0] > 0 and counters[-1].opened[1] == 0
    fields = [field for field in counters[-1].get_fields_and_field_types() if field.startswith(("drop_", "hs_"))]
    parts = ["delivered", "control", *(field for field in fields if field not in SUMMED_APART)]

    def summed(last: ServerStats) -> bool:
        return last.enc_rx_datagrams == sum(getattr(last, part) for part in parts)

    until(lambda: summed(counters[-1]), "a sum of the process that comes out")


def test_what_a_detector_says_reaches_the_other_end(pair: Pair, watcher: Watcher) -> None:
    told = watcher.collect(TunnelStatus, f"{pair.names['drone']}/status", qos.latched(1))
    threat = f"{pair.names['gcs'].rpartition('/')[0]}/threat"
    detector = watcher.node.create_publisher(ThreatReport, threat, qos.periodic(1))

    def heard(level: int, kind: str) -> bool:
        detector.publish(ThreatReport(level=level, kind=kind))
        return bool(told) and (told[-1].peer_alarm, told[-1].peer_alarm_kind) == (level, kind)

    until(lambda: heard(ThreatReport.ATTACK, "handshake_flood"), "the alarm at the drone")
    until(lambda: heard(ThreatReport.NONE, ""), "its end")
    watcher.node.destroy_publisher(detector)


def test_where_what_is_refused_comes_from(pair: Pair, watcher: Watcher) -> None:
    counters = watcher.collect(ServerStats, f"{pair.names['gcs']}/server_stats", qos.sensor())
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stranger:
        stranger.bind(("127.0.9.1", 0))

        def named() -> bool:
            stranger.sendto(b"of no session", (HOST, pair.data_port))
            return bool(counters) and counters[-1].refused_network == "127.0.9.0/24"

        until(named, "the stranger's network")
    assert counters[-1].refused_share > 0.5


def test_diagnostics(pair: Pair, watcher: Watcher) -> None:
    arrays = watcher.collect(DiagnosticArray, "/diagnostics", qos.periodic(8))

    def said() -> dict[str, Any]:
        return {each.name: each for array in arrays for each in array.status}

    drone, gcs = (name.strip("/") for name in (pair.names["drone"], pair.names["gcs"]))
    # Tests of others that run at the same time have a mavros that a proxy warns of, whosesoever it is.
    ended = r"\d+ processes listen on this machine only, but for the tunnel|mavros_node \(process .*"
    wanted = {
        f"{drone}: tunnel d1": (0, r"up with ML-768-AG-MD-65, epoch \d+"),
        f"{drone}: sockets": (0, ended),
        f"{drone}: mavros": (0, "no mavros in this ROS domain"),
        f"{gcs}: tunnel d1": (0, r"up with ML-768-AG-MD-65, epoch \d+"),
        f"{gcs}: tunnel d2": (1, "the drone has not connected yet"),
        f"{gcs}: handshake server": (0, "no unwanted handshakes"),
        f"{gcs}: data port": (0, "the kernel had room for all datagrams"),
        f"{drone}: data port": (0, "the kernel had room for all datagrams"),
        f"{gcs}: snapshots": (0, "neither end was set back to a snapshot"),
        f"{drone}: snapshots": (0, "neither end was set back to a snapshot"),
        f"{gcs}: sockets": (0, ended),
        f"{gcs}: mavros": (0, "no mavros in this ROS domain"),
    }
    until(lambda: wanted.keys() <= said().keys(), "diagnostics of both ends")
    for name, (level, text) in wanted.items():
        found = said()[name]
        expected = 1 if found.message.startswith("mavros_node") else level
        assert (found.level[0], bool(re.fullmatch(text, found.message))) == (expected, True), found
    until(lambda: "rtt_ms" in {each.key for each in said()[f"{drone}: tunnel d1"].values}, "a round trip")
    values = {each.key: each.value for each in said()[f"{drone}: tunnel d1"].values}
    assert list(values) == [
        *("state", "suite", "epoch", "peer", "key_age_s", "silence_s", "shape_kbit"),
        *("station", "station_role", "term", "key_old"),
        *("drop_auth_fail", "drop_replay", "drop_malformed", "drop_decrypt_fail", "plain_dropped_too_big"),
        *(
            "plain_dropped_no_session",
            "plain_dropped_kernel",
            "drop_unknown",
            "drop_seq_old",
            "delivered",
            "roams",
            "rtt_ms",
        ),
    ]
    assert (values["state"], values["suite"], values["key_old"]) == ("UP", SUITE, "False")
    assert float(values["key_age_s"]) > 0 and re.fullmatch(r"\d+\.\d{3}", values["rtt_ms"])
    values = {each.key: each.value for each in said()[f"{gcs}: handshake server"].values}
    assert list(values)[-3:] == ["other_version", "restarts_told", "keygens"] or {
        *("other_version", "restarts_told", "keygens", "hs_tag", "hs_gate", "hs_replay")
    } <= set(values)
    values = {each.key: each.value for each in said()[f"{gcs}: sockets"].values}
    assert list(values) == ["processes", "open", "open_of_others", "allowed", "dds", "dds_senders", "unseen"]


def test_rekeys_under_traffic_lose_nothing(pair: Pair, watcher: Watcher) -> None:
    """Through the service and the action, at both ends, with and without another suite."""
    seen = watcher.collect(TunnelStatus, f"{pair.names['drone']}/status", qos.latched(1))
    until(lambda: seen, "a status")
    epoch = seen[-1].epoch
    for suite in (OTHER, SUITE):
        answer = watcher.call(Rekey, f"{pair.names['drone']}/rekey", Rekey.Request(suite=suite, reason="test"))
        epoch += 1
        assert (answer.ok, answer.suite, answer.epoch) == (True, suite, epoch), answer.message
        assert answer.rekey_ms > 0 and answer.message
    answer = watcher.call(Rekey, f"{pair.names['gcs']}/rekey", Rekey.Request(drone_id="d1"))
    epoch += 1
    assert (answer.ok, answer.suite, answer.epoch) == (True, SUITE, epoch), answer.message
    for end, drone in (("drone", ""), ("gcs", "d1")):
        goal = action.Rekey.Goal(reason="test", drone_id=drone)
        phases: list[str] = []
        for _ in range(3):  # until the server knows who listens
            result, feedback = watcher.act(action.Rekey, f"{pair.names[end]}/rekey_action", goal)
            epoch += 1
            assert (result.ok, result.suite, result.epoch) == (True, SUITE, epoch), result.message
            phases = [each.phase for each in feedback]
            # Each in its turn, again every second; a result that overtakes the last feedback ends it.
            assert phases == sorted(phases, key=PHASES.index)
            if phases[:1] == ["requested"]:
                break
        assert phases[:1] == ["requested"], phases
    until(lambda: seen[-1].epoch == epoch and seen[-1].state == TunnelStatus.UP, "the last epoch")


def test_ratchets_are_told_from_rekeys(pair: Pair, watcher: Watcher) -> None:
    """Through the service and the action, at both ends; a full rekey begins anew."""
    drone = pair.names["drone"]
    seen = watcher.collect(TunnelStatus, f"{drone}/status", qos.latched(1))
    reports = watcher.collect(HandshakeReport, f"{drone}/handshake", qos.event())
    until(lambda: seen, "a status")
    assert seen[-1].ratchets == 0
    for number, (end, drone_id) in enumerate((("drone", ""), ("gcs", "d1")), 1):
        answer = watcher.call(Rekey, f"{pair.names[end]}/rekey", Rekey.Request(drone_id=drone_id, kind="ratchet"))
        assert answer.ok and answer.suite == SUITE and "Ratcheted" in answer.message, answer
        until(lambda n=number: seen[-1].ratchets == n, "the status counts it")
        until(lambda: reports and reports[-1].kind == "ratchet", "the report names it")
        assert reports[-1].rekey and reports[-1].signature_bytes == 0
        reports.clear()
    result, _ = watcher.act(action.Rekey, f"{drone}/rekey_action", action.Rekey.Goal(kind="ratchet"))
    assert result.ok and "Ratcheted" in result.message, result
    assert "'wrench'" in watcher.call(Rekey, f"{drone}/rekey", Rekey.Request(kind="wrench")).message
    assert watcher.call(Rekey, f"{drone}/rekey", Rekey.Request(kind="rekey")).ok
    until(lambda: seen[-1].ratchets == 0, "a full one begins anew")


@pytest.mark.parametrize("kind", KINDS)
def test_a_suite_that_is_avoided_no_more_is_told(kind: str, keys: Path, watcher: Watcher) -> None:
    """A policy would otherwise avoid it for the rest of the flight: the end of `blacklist_s` is no event."""
    spaces = {end: f"{kind}_avoids_{end}" for end in ("drone", "gcs")}
    gcs = gcs_parameters(keys, DRONES, allowed_suites=[SUITE])
    running = []
    try:
        running.append(start(kind, gcs, spaces["gcs"]))
        running.append(start(kind, drone_parameters(keys, gcs["data_port"], blacklist_s=3.0), spaces["drone"]))
        running[1].wait_for("-> UP")
        drone = f"/{spaces['drone']}/{NODE}"
        seen = watcher.collect(TunnelStatus, f"{drone}/status", qos.latched(1))
        assert not watcher.call(Rekey, f"{drone}/rekey", Rekey.Request(suite=OTHER)).ok
        until(lambda: any(list(each.blacklisted_suites) == [OTHER] for each in seen), "that it is avoided")
        until(lambda: not seen[-1].blacklisted_suites, "that it is avoided no more")
    finally:
        for process in running:
            process.kill()


def test_the_control_socket_says_what_ros_says(pair: Pair, watcher: Watcher) -> None:
    for end, drones in (("drone", ["d1"]), ("gcs", ["d1", "d2"])):
        statuses = watcher.collect(TunnelStatus, f"{pair.names[end]}/status", qos.latched(2))
        until(lambda d=drones, s=statuses: sorted({each.drone_id for each in s}) == d, "the latched statuses")
        answer = ask(pair.sockets[end], command="status")
        assert answer["ok"] and answer["result"]["role"] == end, answer
        told = {each["drone_id"]: each["session_id"] for each in answer["result"]["tunnels"]}
        until(lambda t=told, s=statuses: t == {each.drone_id: each.session_id for each in s}, f"{told} as statuses")
        answer = ask(pair.sockets[end], command="rekey", drone="d1", reason="test")
        assert answer["ok"] and answer["result"]["suite"] == SUITE, answer
        assert ask(pair.sockets[end], command="dance")["error"]["code"] == "unknown_command"


def test_rekeys_that_are_refused(pair: Pair, watcher: Watcher) -> None:
    for end, request, words in (
        ("drone", Rekey.Request(suite="cs-nonsense"), "cs-nonsense"),
        ("gcs", Rekey.Request(), "This gcs serves 2 drones: name one in drone_id (d1, d2)."),
        ("gcs", Rekey.Request(drone_id="d9"), "d9"),
        ("gcs", Rekey.Request(drone_id="d2"), "d2"),
    ):
        answer = watcher.call(Rekey, f"{pair.names[end]}/rekey", request)
        assert not answer.ok and words in answer.message, answer
        assert answer.suite == (SUITE if end == "drone" else "")  # what is in use, not what was asked for


def test_a_crowd_that_wants_rekeys_is_answered(pair: Pair, watcher: Watcher) -> None:
    service = f"{pair.names['drone']}/rekey"
    pending = [watcher.ask(Rekey, service, Rekey.Request(reason=str(number))) for number in range(CROWD)]
    until(lambda: all(each.done() for each in pending), "all answers")
    answers = [each.result() for each in pending]
    assert any(answer.ok for answer in answers), answers
    assert all(answer.suite == SUITE for answer in answers if answer.message not in BUSY)
    assert all(answer.message for answer in answers)


def test_silence_and_the_end(pair: Pair, watcher: Watcher) -> None:
    """The last test: the traffic ends without a loss, a silent peer degrades the link, both processes end cleanly."""
    until(lambda: pair.traffic.sent > 100, "some traffic")
    lost = pair.traffic.lost()
    assert lost == (0, 0), (pair.traffic.sent, lost)
    statuses = watcher.collect(TunnelStatus, f"{pair.names['drone']}/status", qos.latched(1))
    arrays = watcher.collect(DiagnosticArray, "/diagnostics", qos.periodic(8))
    gcs, drone = pair.processes["gcs"], pair.processes["drone"]
    gcs.process.send_signal(signal.SIGSTOP)
    try:
        until(lambda: statuses and statuses[-1].state == TunnelStatus.DEGRADED, "DEGRADED")
        name = f"{pair.names['drone'].strip('/')}: tunnel d1"

        def said() -> list[tuple[int, str]]:
            return [(each.level[0], each.message) for array in arrays for each in array.status if each.name == name]

        silent = r"nothing heard from the peer for \d+\.\d s"
        until(lambda: any(level == 1 and re.fullmatch(silent, text) for level, text in said()), "the silence told")
        drone.wait_for("INFO d1: UP -> DEGRADED")
    finally:
        gcs.process.send_signal(signal.SIGCONT)
    until(lambda: statuses[-1].state == TunnelStatus.UP, "UP again")
    assert drone.end(signal.SIGTERM) == 0, drone.lines
    gcs.wait_for("-> DOWN")  # from UP, or from DEGRADED where it has not heard the drone again yet
    assert gcs.end(signal.SIGINT) == 0, gcs.lines
    until(lambda: not any(map(watcher.sees, pair.names.values())), "both gone from the graph", GONE_S)
    for process in (drone, gcs):
        assert not [line for line in process.lines if line.startswith(("ERROR", "FATAL", "Traceback"))], process.lines
