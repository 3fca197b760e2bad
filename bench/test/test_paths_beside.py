# SPDX-License-Identifier: Apache-2.0
"""The radio as a network interface, which systems that know interfaces alone need in the laboratory of paths.py."""

from contextlib import ExitStack
from functools import partial
from pathlib import Path

import paths_beside
import pytest
import rig
from peers.room import DRONE, GROUND, Room, refusal

from pqc_mav_sim.radio.ports import RadioPorts, RadioTerms
from pqc_mav_sim.radio.profile import PROFILES

PORT = 14550


@pytest.mark.skipif(bool(refusal()), reason=refusal() or "-")
def test_ip_goes_over_the_radio_both_ways_with_every_byte_as_it_was(tmp_path: Path) -> None:
    with ExitStack() as stack:
        radio = stack.enter_context(RadioPorts(RadioTerms(PROFILES["sik"]), tmp_path))
        room = Room()
        stack.callback(room.close)
        for side, port in ((DRONE, radio.air[0]), (GROUND, radio.ground)):
            stack.enter_context(paths_beside.SerialIp(room, side, port))
        ends = {
            side: stack.enter_context(room.call(side, partial(rig.listening, 0.01, (address, PORT))))
            for side, address in paths_beside.RADIO_ADDRESS.items()
        }
        every = bytes(range(256)) + bytes([paths_beside.END, paths_beside.ESCAPE, 0xDC, 0xDD]) * 3
        for here, there in ((DRONE, GROUND), (GROUND, DRONE)):
            ends[there].settimeout(5.0)
            ends[here].sendto(every, (paths_beside.RADIO_ADDRESS[there], PORT))
            assert ends[there].recv(2048) == every


def test_a_program_that_is_not_there_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("peers.programs.FOLDER", tmp_path)
    monkeypatch.setattr("paths_beside.refusal", str)
    assert paths_beside.missing("mavlink-router") == "mavlink-routerd could not be built here"
    monkeypatch.setattr("peers.programs.FOLDER", tmp_path / "none")
    assert paths_beside.missing("engarde") == "run 'make peers ARGS=--get' first"
