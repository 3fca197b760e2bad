# SPDX-License-Identifier: Apache-2.0
"""Thieves at a joining drone: two rows for real, and what a row says when a thief succeeds."""

from __future__ import annotations

import argparse
import random
import shutil

import air
import joining
import joining_thief
import pqc_mav_tunnel
import pytest
from joining import Row, more_than_copies_buy, page

from pqc_mav_cli.joining import channel
from pqc_mav_cli.joining.line import Line

NO_ROOT = air.need_root() or ("" if shutil.which("pqcmav") else "needs pqcmav: run 'make setup' first")
LINE = Line("10.0.0.1", 46021, bytes(range(32)), bytes(48), 0)


def options(only: str) -> argparse.Namespace:
    return argparse.Namespace(only=only, seed=1, output="")


@pytest.mark.skipif(bool(NO_ROOT), reason=f"the laboratory {NO_ROOT}")
def test_a_recording_and_a_used_line_are_worth_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert joining.run(options("overheard,used")) == 0, capsys.readouterr().out


def test_a_thief_that_succeeds_is_a_problem() -> None:
    row = Row("used", "a used line", "“spent”")
    row.need(True, "never said")
    assert "| a used line | “spent” | ok |" in page([row], "a machine")
    row.need(False, "the thief got keys")
    assert row.problems == ["the thief got keys"]
    assert "| a used line | “spent” | the thief got keys |" in page([row], "a machine")


def test_copies_that_come_first_buy_one_handshake_and_three_times_their_bytes() -> None:
    one, other = (b"\x43" + bytes([each]) * 8 for each in b"12")
    packet = b"\x03" + bytes(48)
    assert more_than_copies_buy([b"\x53" + bytes(56), one, one, packet], 40) == ""
    assert "answers of 2 handshakes" in more_than_copies_buy([one, other], 40)
    assert "49 bytes for 16" in more_than_copies_buy([packet], 16)


def test_rubbish_goes_to_the_port_and_has_hellos_that_are_looked_at() -> None:
    flows = joining.rubbish(random.Random(1))
    to = joining.PORT.to_bytes(2, "big")
    assert all(flow.frame[12:14] == b"\x08\x00" and flow.frame[36:38] == to and flow.payload_at == 42 for flow in flows)
    assert 3 * sum(channel.ID.encode() in flow.payload for flow in flows) == len(flows) == 600


def test_an_unknown_row_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert joining.run(options("used,nonsense")) == 2
    assert "no row 'nonsense'; there are bad-link, overheard" in capsys.readouterr().out


def test_the_thief_derives_the_psk_as_the_ground_does() -> None:
    with joining_thief.ground_keys(LINE) as keys:
        config = joining_thief.ground_config(keys, "127.0.0.1")
        engine = pqc_mav_tunnel.Engine({**config, "data_port": 0})
        engine.start()
        try:
            port = engine.ports()["data"]
            with channel.drone(Line("127.0.0.1", port, LINE.secret, LINE.public, 0)) as session:
                seen = session.engine.wait_events(20.0)
                while not any("signature does not verify" in str(each) for each in seen):
                    seen = session.engine.wait_events(20.0)
                    assert seen, "the thief's ground station did not answer: its PSK is another one"
        finally:
            engine.stop()


def test_nothing_is_read_from_nothing() -> None:
    found = joining_thief.try_to_read([], LINE)
    assert (found.tags, found.tried, found.frames, found.opened, found.confirmed) == (0, 0, 0, 0, False)
