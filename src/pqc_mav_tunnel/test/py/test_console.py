# SPDX-License-Identifier: Apache-2.0
"""The control socket of running engines, as another program uses it."""

from __future__ import annotations

import json
import os
import random
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pqc_mav_tunnel as tunnel
import pytest
from tunnel_support import Pair, drone_config, gcs_config

GROUP = 47_123  # nobody's
SEEDS = Path(__file__).resolve().parents[2] / "fuzz" / "corpus" / "fuzz_console" / "requests"
SPOILED = 1000  # lines for each end


class Client:
    def __init__(self, path: str | Path) -> None:
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.settimeout(30)
        self.socket.connect(str(path))
        self.lines = self.socket.makefile("rb")

    def ask(self, command: str, **fields: Any) -> dict[str, Any]:
        self.socket.sendall(json.dumps({"v": 1, "command": command, **fields}).encode() + b"\n")
        return self.next()

    def next(self) -> dict[str, Any]:
        return json.loads(self.lines.readline())

    def close(self) -> None:
        self.lines.close()
        self.socket.close()


def test_both_ends_have_their_socket(pair: Pair, own_run_folder: Path) -> None:
    assert pair.gcs.control_socket() == str(own_run_folder / "gcs.sock")
    assert pair.drone.control_socket() == str(own_run_folder / "drone-uav1.sock")
    assert {path.name for path in own_run_folder.iterdir()} == {"gcs.sock", "drone-uav1.sock"}
    pair.drone.stop()
    assert {path.name for path in own_run_folder.iterdir()} == {"gcs.sock"}


def test_what_it_tells_is_what_the_engine_tells(pair: Pair) -> None:
    client = Client(pair.gcs.control_socket())
    told = json.loads(tunnel.Door(pair.gcs).ask('{"v": 1, "command": "dangers", "lines": ["a way around"]}'))
    assert told["ok"]
    status = client.ask("status")["result"]
    assert (status["role"], status["pid"], status["dangers"]) == ("gcs", os.getpid(), ["a way around"])
    (ours,), (theirs,) = pair.gcs.status(), status["tunnels"]
    assert ours.keys() == theirs.keys()
    assert (theirs["state"], theirs["session_id"]) == ("UP", ours["session_id"])
    (stats,) = client.ask("stats")["result"]["tunnels"]
    assert pair.gcs.stats()[0].keys() - stats.keys() == {"plain_dropped_yield"}  # version 1 stays as it is
    assert {"tx_packets_per_s", "rx_packets_per_s", "tx_bytes_per_s", "rx_bytes_per_s"} <= stats.keys()
    (link,) = client.ask("link")["result"]["tunnels"]
    assert link.keys() == pair.gcs.links()[0].keys()
    assert link["local"].keys() == pair.gcs.links()[0]["local"].keys()
    picture = client.ask("picture")["result"]
    assert picture.keys() == {"status", "stats", "link", "server"}
    assert picture["status"][0].keys() == pair.gcs.picture("status")[0].keys()
    assert picture["stats"][0].keys() == pair.gcs.picture("stats")[0].keys()
    assert picture["link"][0][0].keys() == pair.gcs.picture("link")[0][0].keys()
    assert picture["server"].keys() == pair.gcs.picture("server").keys()
    assert client.ask("picture", of="link", drone="uav1")["result"].keys() == {"link"}
    assert client.ask("schema")["result"] == tunnel.picture_schema()
    assert client.ask("config")["result"]["config"] == pair.gcs.config()
    (handshake,) = client.ask("handshakes")["result"]["handshakes"]
    assert handshake["ok"] and handshake["handshake_ms"] > 0
    suites = client.ask("suites", available=True)["result"]["suites"]
    assert {suite["id"] for suite in suites} == {suite.id for suite in tunnel.suites(view="all", only_available=True)}
    client.close()


@pytest.mark.parametrize("end", ["drone", "gcs"])
def test_a_rekey_is_done_told_and_logged(pair: Pair, end: str) -> None:
    engine = getattr(pair, end)
    follower, client = Client(engine.control_socket()), Client(engine.control_socket())
    assert follower.ask("subscribe", events=["handshake", "log"])["ok"]
    answer = client.ask("rekey", reason="a drill")
    assert answer["ok"], answer
    assert answer["result"]["epoch"] == engine.status()[0]["epoch"] == 1
    told = follower.next()
    assert told["event"] == "log"
    assert f"uid {os.getuid()}, gid {os.getgid()}, pid {os.getpid()}: rekey (a drill)." in told["text"]
    while told["event"] != "handshake":
        told = follower.next()
    assert told["ok"] and told["drone_id"] == "uav1"
    follower.close()
    client.close()


def test_a_second_engine_of_the_same_name_does_without(pair: Pair, keys: Path) -> None:
    twin = tunnel.Engine(drone_config(keys, pair.gcs.ports()))
    twin.start()
    assert twin.control_socket() == ""
    told = [event["text"] for event in twin.wait_events(5) if event["type"] == "log"]
    assert any("another engine serves it" in text for text in told), told
    twin.stop()
    client = Client(pair.drone.control_socket())
    assert client.ask("drones")["ok"]
    client.close()


def spoiled(line: bytes, other: bytes, chance: random.Random) -> bytes:
    """A request with a few mistakes in it, as one line."""
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(line) + 1)
        to = at + chance.randint(0, 8)
        sign = bytes([chance.choice(b'{}[]",:0e-\\')])
        middle = chance.choice([b"", line[at:to] * 2, chance.randbytes(to - at), other[at:to], sign])
        line = line[:at] + middle + line[to:]
    return line.replace(b"\n", b" ") or b" "


@pytest.mark.parametrize("end", ["drone", "gcs"])
def test_spoiled_requests_are_answered_one_by_one_and_do_no_harm(pair: Pair, end: str) -> None:
    """What the fuzzer does to the commands alone, at the socket of an engine that works."""
    engine, chance = getattr(pair, end), random.Random(14)
    seeds = SEEDS.read_bytes().splitlines()
    client = Client(engine.control_socket())
    codes = set()
    for _ in range(SPOILED):
        line = spoiled(chance.choice(seeds), chance.choice(seeds), chance)
        client.socket.sendall(line + b"\n")
        while "event" in (answer := client.next()):  # of a subscription
            pass
        assert answer["v"] == 1 and "id" in answer, (line, answer)
        assert answer["ok"] or answer["error"]["text"], (line, answer)
        codes.add("ok" if answer["ok"] else answer["error"]["code"])
    assert {"ok", "bad_json", "bad_request", "unknown_command", "version"} <= codes
    client.close()
    asking = Client(engine.control_socket())
    assert asking.ask("log_level", level="info")["ok"]
    assert asking.ask("status")["result"]["tunnels"][0]["state"] == "UP"
    assert asking.ask("rekey", timeout_s=30)["ok"]
    asking.close()


def test_a_path_that_cannot_be_ends_the_start(keys: Path) -> None:
    engine = tunnel.Engine(gcs_config(keys, control_socket="/nowhere/gcs.sock"))
    with pytest.raises(tunnel.TunnelError, match=r"/nowhere/gcs\.sock"):
        engine.start()


def test_off_is_off(keys: Path, own_run_folder: Path) -> None:
    engine = tunnel.Engine(gcs_config(keys, control_socket="off"))
    engine.start()
    assert engine.control_socket() == "" and not list(own_run_folder.iterdir())
    engine.stop()


ASK = """
import socket, sys
client = socket.socket(socket.AF_UNIX)
client.connect(sys.argv[1])
client.sendall(b'{"v": 1, "command": "log_level", "level": "warning"}\\n')
print(client.makefile().readline())
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become other users")
def test_members_of_the_group_may_use_it_and_others_not(keys: Path, own_run_folder: Path) -> None:
    engine = tunnel.Engine(gcs_config(keys, control_socket=str(own_run_folder / "own.sock")))
    engine.start()
    path = engine.control_socket()
    own_run_folder.chmod(0o755)
    os.chown(path, -1, GROUP)

    def ask(groups: list[int]) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-I", "-S", "-c", ASK, path], user=GROUP, group=GROUP + 1, extra_groups=groups,
            capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip

    member, stranger = ask([GROUP]), ask([])
    assert '"level":"warning"' in member.stdout, member.stderr
    assert stranger.returncode != 0 and "PermissionError" in stranger.stderr
    told = [event["text"] for event in engine.wait_events(5) if event["type"] == "log"]
    assert any(f"uid {GROUP}, gid {GROUP + 1}, pid" in text and "log level warning" in text for text in told), told
    engine.stop()


# Takes as many places as there are, and keeps them by following events.
# The engine may have closed a connection too many before anything is sent.
CROWD = """
import contextlib, socket, sys
held = []
for _ in range(40):
    held.append(socket.socket(socket.AF_UNIX))
    held[-1].connect(sys.argv[1])
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        held[-1].sendall(b'{"v": 1, "command": "subscribe"}\\n')
        held[-1].recv(4096)
print("all", flush=True)
sys.stdin.read()
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become other users")
def test_one_user_does_not_shut_the_others_out(keys: Path, own_run_folder: Path) -> None:
    engine = tunnel.Engine(gcs_config(keys, control_socket_mode="0660"))
    engine.start()
    path = engine.control_socket()
    own_run_folder.chmod(0o755)
    os.chown(path, -1, GROUP)
    command = [sys.executable, "-I", "-S", "-c", CROWD, path]
    with subprocess.Popen(command, user=GROUP, group=GROUP, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as crowd:
        try:
            assert crowd.stdout is not None and crowd.stdout.readline() == b"all\n"
            for _ in range(3):
                client = Client(path)
                answer = client.ask("status")
                assert answer["ok"], answer
                follower = Client(path)
                assert follower.ask("subscribe")["ok"]
                client.close()
        finally:
            crowd.kill()
    engine.stop()
