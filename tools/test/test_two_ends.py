# SPDX-License-Identifier: Apache-2.0
"""tools/two_ends.py: what it says when an end or a datagram is not as it should be."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import two_ends

TOOLS = Path(__file__).resolve().parents[1]

Start = Callable[[str], two_ends.Daemon]


@pytest.fixture
def start() -> Iterator[Start]:
    """Start a shell script as an end; it is killed at the end of the test."""
    made: list[two_ends.Daemon] = []

    def begin(script: str) -> two_ends.Daemon:
        made.append(two_ends.Daemon("gcs", ["/bin/sh", "-c", script]))
        return made[-1]

    yield begin
    for each in made:
        each.kill()


def test_an_end_that_stops_when_it_is_asked_to(start: Start) -> None:
    end = start("trap 'exit 0' TERM; echo port 7 >&2; while :; do sleep 0.05; done")
    assert end.wait_for(r"port (\d)")[1] == "7"
    end.stop()


def test_an_end_that_dies_of_the_question(start: Start) -> None:
    end = start("echo port 7 >&2; exec sleep 60")
    end.wait_for("port")
    with pytest.raises(two_ends.TestError, match=r"^The gcs ended with -15 after SIGTERM; it said: port 7$"):
        end.stop()


def test_an_end_that_ended_before_it_said_what_was_waited_for(start: Start) -> None:
    with pytest.raises(two_ends.TestError, match=r"^The gcs ended with 3; it said: one; two$"):
        start("printf 'one\ntwo\n' >&2; exit 3").wait_for("three")


def test_a_datagram_arrives_as_it_was_or_is_named() -> None:
    with two_ends.udp() as sender, two_ends.udp(limit_s=0.05) as receiver, two_ends.udp() as other:
        port = receiver.getsockname()[1]
        two_ends.carry(sender, port, receiver, b"one", "The first")
        with pytest.raises(two_ends.TestError, match=r"^The second did not arrive\.$"):
            two_ends.carry(sender, other.getsockname()[1], receiver, b"two", "The second")
        other.sendto(b"stray", ("127.0.0.1", port))
        with pytest.raises(two_ends.TestError, match=r"^The third arrived as b'stray'\.$"):
            two_ends.carry(sender, port, receiver, b"three", "The third")


def test_mounts_of_its_own_once(tmp_path: Path) -> None:
    fake = tmp_path / "unshare"
    fake.write_text('#!/bin/sh\nshift\nexec "$@"\n')
    fake.chmod(0o755)
    script = tmp_path / "script.py"
    script.write_text("import sys, two_ends\ntwo_ends.with_own_mounts()\nprint(sys.argv[1:])\nsys.exit(5)\n")
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "PYTHONPATH": str(TOOLS)}
    command = [sys.executable, str(script), "one", "two"]
    result = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
    assert (result.returncode, result.stdout) == (5, "['one', 'two']\n"), result.stderr
