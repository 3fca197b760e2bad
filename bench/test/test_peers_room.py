# SPDX-License-Identifier: Apache-2.0
"""The rig for real, briefly: two machines, a forwarder and the tunnel between them, and what an end leaves behind."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
import rig
from peers import connecting, own, plain
from peers.figures import Sheet
from peers.room import ADDRESS, DRONE, GROUND, refusal, room
from peers.sending import Plan, connected, cost, delay, in_turn, pair_of, prepared

WHY = refusal()
pytestmark = pytest.mark.skipif(bool(WHY), reason=f"this {WHY}")
FORWARDER = plain.SYSTEMS[1]
TUNNEL = own.SYSTEMS[0]


def quick() -> Plan:
    return Plan(repetitions=1, trial_s=0.2, delay_s=0.3, cost_s=0.5)


needs_load = pytest.mark.skipif(
    not (rig.PROGRAMS[0] / "udp_load").exists(), reason="the load is not built: 'tools/setup.sh benchmarks'"
)


def test_two_machines_hear_each_other_and_nobody_else() -> None:
    with room() as made:
        there = made.call(GROUND, lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        here = made.call(DRONE, lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        with there, here:
            there.bind((ADDRESS[GROUND], 4000))
            there.settimeout(5)
            here.sendto(b"hello", (ADDRESS[GROUND], 4000))
            assert there.recvfrom(100)[1][0] == ADDRESS[DRONE]
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as outside, pytest.raises(OSError, match=r"assign"):
            outside.bind((ADDRESS[GROUND], 4000))


def test_a_lossy_link_loses_and_a_whole_one_does_not() -> None:
    arrived = {}
    for loss in (0.0, 0.5):
        with room(loss, seed=3) as made:
            there = made.call(GROUND, lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
            here = made.call(DRONE, lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
            with there, here:
                there.bind((ADDRESS[GROUND], 4000))
                there.settimeout(1)
                for number in range(200):
                    here.sendto(number.to_bytes(2, "big"), (ADDRESS[GROUND], 4000))
                    time.sleep(0.001)
                count = 0
                while count < 200:
                    try:
                        there.recv(100)
                    except TimeoutError:
                        break
                    count += 1
            arrived[loss] = count
    assert arrived[0.0] == 200
    assert 50 < arrived[0.5] < 150


@needs_load
def test_the_forwarder_and_the_tunnel_carry_what_is_sent() -> None:
    for system in (FORWARDER, TUNNEL):
        with connected(system) as ends:
            pair = pair_of(system, ends, ends.room)
            assert len(pair.pids) == 2
            for trip in ("one-way", "round"):
                got = rig.load(pair, 500, 256, 0.4, trip)
                assert got["received"] == got["sent"] == 200
                assert got["delay_us"]["p50"] > 0
            before = rig.cpu_ns(pair.pids)
            rig.load(pair, 2000, 256, 0.3)
            assert rig.cpu_ns(pair.pids) > before


@needs_load
def test_parts_give_their_figures() -> None:
    systems = [FORWARDER, TUNNEL]
    delays, costs = delay(systems, quick()), cost(systems, quick())
    connects = connecting.connect(systems, quick())
    for sheet in (delays, costs, connects):
        assert sheet.failures == {}
    assert set(delays.values["rtt_4000"]) == {"forwarder", "pqcmav"}
    assert costs.values["pss_320"]["pqcmav"][0] > 1
    # An ML-KEM-768 public key, a ciphertext and an ML-DSA-65 signature alone are 5,581 bytes.
    assert 5_581 < connects.values["handshake_bytes"]["pqcmav"][0] < 30_000
    assert "forwarder" not in connects.values["handshake_bytes"]


def test_a_killed_ground_comes_back() -> None:
    sheet = connecting.recovery([TUNNEL], quick())
    assert sheet.failures == {}
    assert 0.05 < sheet.values["recovery_s"]["pqcmav"][0] < 30


def test_a_system_that_does_not_start_is_a_failure_and_no_end() -> None:
    class Broken(plain.Forwarders):
        def start(self, side: str) -> None:
            raise RuntimeError("no")

    broken = plain.System("broken", "broken", "", Broken)
    sheet: Sheet = delay([broken], quick())
    assert sheet.values == {}
    assert sheet.failures == {"broken": ["no"]}


def test_keys_change_where_they_are_asked_to() -> None:
    with prepared(TUNNEL) as ends:
        ends.renew_often()
        ends.start(GROUND)
        ends.start(DRONE)
        end = time.monotonic() + 20
        while (first := _epoch(ends)) == "" and time.monotonic() < end:
            time.sleep(0.1)
        while _epoch(ends) == first and time.monotonic() < end + 20:
            time.sleep(0.1)
        assert _epoch(ends) != first


def _epoch(ends) -> str:  # type: ignore[no-untyped-def]
    try:
        return ends.keys()
    except (OSError, KeyError, IndexError):
        return ""


def test_the_order_changes_and_is_the_same_in_every_run() -> None:
    systems = [FORWARDER, TUNNEL, own.SYSTEMS[1], plain.SYSTEMS[0]]
    orders = [[each.key for each in in_turn(systems, n)] for n in range(6)]
    assert len({tuple(each) for each in orders}) > 1
    assert orders == [[each.key for each in in_turn(systems, n)] for n in range(6)]


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_nothing_is_left_however_it_ends(tmp_path: Path, ending: signal.Signals) -> None:
    run = Path(rig.__file__).parent / "peers" / "run"
    command = [sys.executable, str(run), "--no-get", "--only", "rekey", "--systems", "pqcmav", "--repetitions", "1"]
    process = subprocess.Popen([*command, "--output", str(tmp_path)], start_new_session=True)
    try:
        end = time.monotonic() + 60
        while len(started := _in_session_of_rooms(process.pid)) < 2:
            assert time.monotonic() < end and process.poll() is None
            time.sleep(0.1)
        process.send_signal(ending)
        process.wait(30)
    finally:
        process.kill()
        process.wait()
    end = time.monotonic() + 10
    while any(Path(f"/proc/{pid}/exe").exists() for pid in started):
        assert time.monotonic() < end, f"{started} are left"
        time.sleep(0.1)


def _in_session_of_rooms(parent: int) -> list[int]:
    """The tunnel's processes that this one started: in another network namespace than its own."""
    found = []
    own_net = Path("/proc/self/ns/net").readlink()
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rsplit(")", 1)[1].split()
            if int(fields[1]) == parent and (stat.parent / "ns" / "net").readlink() != own_net:
                found.append(int(stat.parent.name))
        except OSError:
            continue
    return found
