# SPDX-License-Identifier: Apache-2.0
"""pqcmav-tunneld forgets: after a rekey or a ratchet no secret of the session before is left in its memory.

This package's peer is at the other end and so knows what to look for.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import re
import shutil
import subprocess
from contextlib import closing, contextmanager
from dataclasses import replace

import memory_scan
import pytest
from memory_scan import find_secrets
from socket_support import DRONE, LOCAL, TIMEOUT, eventually, identity

from pqc_mav_wirespec import control
from pqc_mav_wirespec.dataplane import Outcome
from pqc_mav_wirespec.drone_peer import DronePeer
from pqc_mav_wirespec.gcs_peer import GcsPeer
from pqc_mav_wirespec.keys import load_gcs_policy
from pqc_mav_wirespec.keyschedule import FEATURE_RATCHET
from pqc_mav_wirespec.suites import find_suite

PROGRAM = shutil.which("pqcmav-tunneld")
SUITES = ["ML-768-AG-MD-65", "ML-512-CP-FA-512", "HQC-128-AS-MD-44", "MC-348-AG-MD-44"]
CHANGES = [*((suite, False) for suite in SUITES), (SUITES[0], True)]
COMMON = {"bind": LOCAL, "grace_s": 0.05, "keepalive_s": 0.2, "degraded_after_s": 2.0}

needs_tunneld = pytest.mark.skipif(PROGRAM is None, reason="pqcmav-tunneld is not on the path: run 'make setup' first")


@contextmanager
def tunneld(folder, announced, **config):
    """(process id, the ports it announced) of a running daemon that lets its own user look into it."""
    file = folder / f"{config['role']}.yaml"
    file.write_text("".join(f"{key}: {value}\n" for key, value in (COMMON | config).items()))
    environment = os.environ | {"PQCMAV_CORE_DUMPS": "1"}
    with subprocess.Popen([PROGRAM, file], stderr=subprocess.PIPE, text=True, env=environment) as process:
        try:
            ports = None
            for line in process.stderr:
                if ports := re.search(announced, line):
                    break
            assert ports, "the daemon ended"
            yield process.pid, [int(port) for port in ports.groups()]
        finally:
            process.kill()


def names(keys, which):
    return {f"{which} k_d2g": keys.k_d2g, f"{which} k_g2d": keys.k_g2d, f"{which} ck": keys.ck}


def check(pid, old, new):
    """The new keys are there (or the search would find nothing at all), the old ones are not."""
    assert find_secrets(pid, names(new, "new"))
    forgets(pid, names(old, "old"))


def forgets(pid, secrets):
    """Soon nothing of them is there."""
    remains = []

    def forgotten():
        remains[:] = find_secrets(pid, secrets)
        return not remains

    try:
        eventually(forgotten)
    except AssertionError:
        pytest.fail("; ".join(remains))


def test_the_search_finds_what_is_there_wherever_it_lies():
    secret = os.urandom(32)
    for lead in (0, 1, 8, 4097):
        kept = ctypes.create_string_buffer(bytes(lead) + secret[16:], lead + 16)
        found = find_secrets(os.getpid(), {"secret": secret})
        assert any("secret[16:32] in " in line and f"{ctypes.addressof(kept) + lead:#x}" in line for line in found)
        del kept


def test_the_search_covers_the_edges_of_its_chunks(monkeypatch):
    monkeypatch.setattr(memory_scan, "CHUNK", 4096)
    secret = os.urandom(16)
    with mmap.mmap(-1, 3 * 4096) as memory:
        for offset in (0, 4096 - 8, 4096, 3 * 4096 - 16):
            memory[offset : offset + 16] = secret
            start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
            found = find_secrets(os.getpid(), {"secret": secret})
            assert any(f"{start + offset:#x}" in line for line in found)
            memory[offset : offset + 16] = bytes(16)


@needs_tunneld
@pytest.mark.parametrize(("suite", "ratchets"), CHANGES)
def test_the_gcs_forgets(folders, tmp_path, suite, ratchets):
    config = {"role": "gcs", "keys": folders[0], "drones": f"[{DRONE}]", "data_port": 0}
    config[f"drone.{DRONE}.require_signature"] = "false"
    config["handshake_threads"] = 8  # so that the second handshake does not overwrite by chance what the first one left
    with (
        tunneld(tmp_path, r"UDP port (\d+)", **config) as (pid, (data,)),
        closing(DronePeer((LOCAL, data), features=FEATURE_RATCHET)) as drone,
    ):
        old = drone.connect(find_suite(suite), identity(folders, suite))
        drone.receive(lambda got: got.outcome is Outcome.CONTROL, TIMEOUT)
        assert find_secrets(pid, names(old, "old"))
        who = identity(folders, suite)
        new = drone.ratchet(who.psk) if ratchets else drone.rekey(find_suite(suite), who)
        drone.send(b"on the new keys")
        drone.receive(lambda got: got.outcome is Outcome.CONTROL, TIMEOUT)
        check(pid, old, new)


@needs_tunneld
@pytest.mark.parametrize(("suite", "ratchets"), CHANGES)
def test_the_drone_forgets(folders, tmp_path, suite, ratchets):
    with closing(GcsPeer(replace(load_gcs_policy(folders[0]), features=FEATURE_RATCHET))) as gcs:
        config = {
            "role": "drone", "keys": folders[1], "drone_id": DRONE, "peer": LOCAL, "suite": suite,
            "data_port": gcs.address[1], "local_data_port": 0, "sign": "false",
            "plain_bind": f"{LOCAL}:0",
            "reconnect_after_s": 60,  # this peer sends no keepalives, and a search takes its time on a busy machine
        }  # fmt: skip
        with tunneld(tmp_path, r"UDP port (\d+)", **config) as (pid, _):
            old = gcs.accept_handshake(TIMEOUT)
            gcs.receive(lambda got: got.outcome is Outcome.CONTROL, TIMEOUT)
            assert find_secrets(pid, names(old, "old"))
            gcs.send_control(DRONE, control.RekeyRequest(1, find_suite(suite).id, "test", ratchet=ratchets))
            new = gcs.accept_handshake(TIMEOUT)
            gcs.receive_control(control.RekeyResult, TIMEOUT)
            gcs.send(DRONE, b"on the new keys")
            check(pid, old, new)


@needs_tunneld
@pytest.mark.parametrize("ends", [False, True])
def test_what_packets_left_on_the_stack_goes_with_their_keys(folders, tmp_path, ends):
    """OpenSSL's ChaCha20 copies its key to the stack, and nobody may come by there again for minutes. Here a mark is
    put where the data thread never comes."""
    config = {"role": "gcs", "keys": folders[0], "drones": f"[{DRONE}]", "data_port": 0}
    config[f"drone.{DRONE}.require_signature"] = "false"
    suite = SUITES[1]
    with (
        tunneld(tmp_path, r"UDP port (\d+)", **config) as (pid, (data,)),
        closing(DronePeer((LOCAL, data))) as drone,
    ):
        drone.connect(find_suite(suite), identity(folders, suite))
        drone.receive(lambda got: got.outcome is Outcome.CONTROL, TIMEOUT)
        mark = {"the mark": os.urandom(16)}
        memory_scan.leave_on_stack(pid, "pqc-data", 48 << 10, mark["the mark"])
        assert find_secrets(pid, mark)
        if ends:
            drone.send_control(control.Close(control.Close.SHUTDOWN))
        else:
            drone.rekey(find_suite(suite), identity(folders, suite))
            drone.send(b"on the new keys")
        forgets(pid, mark)
