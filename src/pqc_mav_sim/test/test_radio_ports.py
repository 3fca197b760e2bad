# SPDX-License-Identifier: Apache-2.0
"""Simulated radios at pseudo terminals, and their program."""

import json
import os
import select
import termios
import time

import pytest

from pqc_mav_sim import radio_cli
from pqc_mav_sim.radio.ports import RadioPorts, RadioTerms
from pqc_mav_sim.radio.profile import PROFILES

PATIENCE_S = 20.0
RAW = PROFILES["sik-raw"]


class Host:
    """A program at such a port."""

    def __init__(self, path: str) -> None:
        self.fd = os.open(path, os.O_RDWR | os.O_NOCTTY)

    def send(self, data: bytes) -> None:
        os.write(self.fd, data)

    def receive(self, size: int) -> bytes:
        out, deadline = b"", time.monotonic() + PATIENCE_S
        while len(out) < size and time.monotonic() < deadline:
            if select.select([self.fd], [], [], 0.1)[0]:
                out += os.read(self.fd, size - len(out))
        return out


def test_bytes_go_from_port_to_port(tmp_path):
    with RadioPorts(RadioTerms(RAW, drones=2), tmp_path / "radio") as ports:
        assert ports.ground == str(tmp_path / "radio" / "ground")
        ground, one, two = Host(ports.ground), Host(ports.air[0]), Host(ports.air[1])
        one.send(b"hello")
        assert (ground.receive(5), two.receive(5)) == (b"hello", b"hello")
        ground.send(bytes(range(256)))
        assert one.receive(256) == bytes(range(256))
    assert not (tmp_path / "radio" / "ground").exists()


def test_the_port_takes_bytes_at_its_rate():
    with RadioPorts(RadioTerms(RAW)) as ports:
        ground, air = Host(ports.ground), Host(ports.air[0])
        begin = time.monotonic()
        air.send(bytes(1_800))
        assert len(ground.receive(1_800)) == 1_800
        assert time.monotonic() - begin > 1_800 / 5_760  # what a line needs; a busy machine takes longer
        assert ports.summary()["simulated"] is True


def test_lost_and_invented_bytes():
    with RadioPorts(RadioTerms(RAW, byte_loss=0.05)) as ports:
        ground, air = Host(ports.ground), Host(ports.air[0])
        air.send(bytes(1_500))
        came = ground.receive(1_200)
        assert set(came) != {0}


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--drones", "9"], "9 drones are out of range"),
        (["--loss", "1"], "loss 1 is out of range"),
        (["--bit-errors", "0.5"], "bit errors 0.5 are out of range"),
        (["--byte-loss", "0.5"], "byte loss 0.5 is out of range"),
        (["--burst-ms", "0"], "bursts of 0 ms are out of range"),
    ],
)
def test_what_makes_no_sense_is_refused(arguments, problem, capsys):
    assert radio_cli.main(arguments) == radio_cli.EXIT_USAGE
    assert problem in capsys.readouterr().err


def test_the_program_says_where_the_ports_are_and_what_it_carried(tmp_path, capsys):
    assert radio_cli.main(["--folder", str(tmp_path), "--duration", "0.2", "--profile", "elrs"]) == 0
    first, last = capsys.readouterr().out.splitlines()
    assert first == f"simulated radios (elrs, 460800 baud): ground {tmp_path}/ground, air1 {tmp_path}/air1"
    summary = json.loads(last)
    assert summary["simulated"] is True
    assert set(summary["radios"]) == {"ground", "air1"}


def test_an_adapter_may_be_unplugged_and_come_back_under_its_name(tmp_path):
    with RadioPorts(RadioTerms(RAW), tmp_path) as ports:
        ports.unplug(1)
        assert not (tmp_path / "air1").exists()
        ports.plug(1)
        ground, air = Host(ports.ground), Host(ports.air[0])
        air.send(b"again")
        assert ground.receive(5) == b"again"


def test_at_another_rate_bytes_are_noise():
    with RadioPorts(RadioTerms(RAW)) as ports:
        ground, air = Host(ports.ground), Host(ports.air[0])
        settings = termios.tcgetattr(air.fd)
        settings[4] = settings[5] = termios.B115200
        termios.tcsetattr(air.fd, termios.TCSANOW, settings)
        air.send(bytes(100))
        came = ground.receive(100)
        assert len(came) == 100
        assert set(came) != {0}
