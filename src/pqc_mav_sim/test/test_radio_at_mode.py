# SPDX-License-Identifier: Apache-2.0
"""The AT mode of a simulated radio: how it begins and ends, what it answers, and what settings do to the air."""

import pytest

from pqc_mav_sim.impairment.model import ImpairedDirection
from pqc_mav_sim.impairment.settings import Impairment
from pqc_mav_sim.radio.air import Air
from pqc_mav_sim.radio.modem import Modem
from pqc_mav_sim.radio.profile import PROFILES

STEP = 0.005


class Pair:
    """Two radios, and a host at each."""

    def __init__(self, profile: str = "sik") -> None:
        self.modems = [Modem(PROFILES[profile]) for _ in range(2)]
        self.air = Air(self.modems, ImpairedDirection("test", Impairment()))
        self.heard = [b"", b""]
        self.now = 0.0

    def run(self, seconds: float) -> None:
        end = self.now + seconds
        while self.now < end:
            self.now += STEP
            self.air.advance(self.now)
            for number, modem in enumerate(self.modems):
                self.heard[number] += modem.take_for_host(10_000)

    def send(self, data: bytes, number: int = 0) -> None:
        self.modems[number].from_host(data, self.now)

    def enter(self, number: int = 0) -> None:
        self.run(1.1)
        self.send(b"+++", number)
        self.run(1.1)
        assert self.heard[number].endswith(b"OK\r\n")

    def ask(self, command: str, number: int = 0, wait: float = 0.1) -> str:
        self.heard[number] = b""
        self.send(command.encode() + b"\r", number)
        self.run(wait)
        echo, _, answer = self.heard[number].decode().partition("\r\n")
        assert echo == command.upper()
        return answer.strip()


def test_three_pluses_between_silences_begin_it():
    pair = Pair("sik-raw")
    pair.enter()
    assert pair.modems[0].at_mode.active
    assert pair.heard[1] == b"+++", "they have gone into the air before anybody knew"


@pytest.mark.parametrize("sent", [(b"x+++", b""), (b"+++", b"x"), (b"++", b""), (b"++x+", b"")])
def test_anything_else_does_not(sent):
    pair = Pair("sik-raw")
    pair.run(1.1)
    pair.send(sent[0])
    pair.run(0.5)
    pair.send(sent[1])
    pair.run(0.9)
    assert not pair.modems[0].at_mode.active


def test_nor_does_what_comes_too_soon_after_other_bytes():
    pair = Pair("sik-raw")
    pair.send(b"bytes")
    pair.run(0.9)
    pair.send(b"+++")
    pair.run(1.5)
    assert not pair.modems[0].at_mode.active


@pytest.mark.parametrize(
    ("command", "answer"),
    [
        ("at", "OK"),
        ("ATI", "SiK 2.2 on HM-TRP"),
        ("ATI1", "2.2"),
        ("ATS1?", "57"),
        ("ATS6?", "1"),
        ("ATS16?", "ERROR"),
        ("ATS0=1", "ERROR"),
        ("ATS1=58", "ERROR"),
        ("ATS4=21", "ERROR"),
        ("ATS6=0", "OK"),
        ("AT&F", "OK"),
        ("AT&T", ""),
        ("ATX", "ERROR"),
        ("hello", ""),
    ],
)
def test_answers(command, answer):
    pair = Pair()
    pair.enter()
    assert pair.ask(command) == answer


def test_all_settings_and_the_times_of_the_turns():
    pair = Pair()
    pair.enter()
    lines = pair.ask("ATI5").split("\r\n")
    assert len(lines) == 16 and lines[0] == "S0:FORMAT=26" and lines[15] == "S15:MAX_WINDOW=131"
    assert pair.ask("ATI6").split("\r\n")[2] == "max_data_packet_length: 250"


def test_what_is_set_counts_after_it_was_saved_and_the_radio_begins_anew():
    pair = Pair()
    pair.enter()
    pair.ask("ATS2=128")
    assert pair.modems[0].profile.air_kbit == 64
    pair.ask("AT&W")
    pair.send(b"ATZ\r")
    pair.run(0.1)
    assert not pair.modems[0].at_mode.active
    assert pair.modems[0].profile.air_kbit == 128
    pair.send(b"nobody hears it")
    pair.run(2)
    assert b"nobody" not in pair.heard[1]


def test_what_was_not_saved_is_forgotten_then():
    pair = Pair()
    pair.enter()
    pair.ask("ATS3=7")
    pair.send(b"ATZ\r")
    pair.run(0.1)
    pair.enter()
    assert pair.ask("ATS3?") == "25"


def test_both_ends_are_set_from_one():
    pair = Pair()
    pair.enter()
    assert pair.ask("RTS2?", wait=2.0) == "64"
    assert pair.ask("RTS2=128", wait=2.0) == "OK"
    assert pair.ask("RT&W", wait=2.0) == "OK"
    pair.ask("RTZ", wait=2.0)
    pair.ask("ATS2=128")
    pair.ask("AT&W")
    pair.send(b"ATZ\r")
    pair.run(0.1)
    pair.send(b"hello")
    pair.run(2)
    assert pair.heard[1].endswith(b"hello")
    assert [modem.profile.air_kbit for modem in pair.modems] == [128, 128]


def test_meanwhile_the_air_brings_nothing_and_nothing_of_the_host_goes_there():
    pair = Pair("sik-raw")
    pair.enter()
    pair.heard = [b"", b""]
    pair.send(b"for the other", 1)
    pair.ask("ATI")
    pair.run(1)
    assert (b"for the other" not in pair.heard[0]) and pair.heard[1] == b""
    pair.send(b"ATO\r")
    pair.run(0.1)
    pair.send(b"again", 1)
    pair.run(1)
    assert pair.heard[0].endswith(b"again")


def test_a_command_that_is_too_long_ends_it():
    pair = Pair()
    pair.enter()
    pair.send(b"AT" + b"I" * 20)
    assert not pair.modems[0].at_mode.active


def test_typing_errors_are_taken_back():
    pair = Pair()
    pair.enter()
    pair.heard[0] = b""
    pair.send(b"ATX\x7fI1\r")
    pair.run(0.1)
    assert pair.heard[0] == b"ATX\b \bI1\r\n2.2\r\n"


def test_a_radio_without_it_passes_everything():
    pair = Pair("satellite")
    pair.run(1.1)
    pair.send(b"+++")
    pair.run(5)
    assert not pair.modems[0].at_mode.active
    assert pair.heard[1] == b"+++"
