# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from commands import DEADLINE_S

# Fast DDS prints such lines on stdout.
NOISE = "[RTPS_TRANSPORT_SHM Error] Failed to create segment"
# One comes when ROS starts; the other waits in the C library's buffer until the process ends.
NOISY_ROS = f"""
import ctypes, os, rclpy
libc, start = ctypes.CDLL(None), rclpy.init
def init(*arguments, **named):
    start(*arguments, **named)
    os.write(1, b"{NOISE}\\n")
    libc.puts(b"{NOISE}")
rclpy.init = init
from pqc_mav_cli.entry import run
run()
"""
WITHOUT_ROS = f"""
import os
from pqc_mav_cli import entry, own_stdout, suites_command
def noisy(value):
    own_stdout.claim()
    os.write(1, b"{NOISE}\\n")
    print(["of our own"] * 100_000)
suites_command.print_json = noisy
entry.run()
"""


def test_what_a_library_prints_on_stdout_is_not_in_our_json() -> None:
    line = [sys.executable, "-c", NOISY_ROS, "doctor", "--json"]
    ended = subprocess.run(line, capture_output=True, text=True, timeout=DEADLINE_S, check=False)
    assert json.loads(ended.stdout)
    assert ended.stderr.count(NOISE) == 2


def test_a_reader_that_has_gone_is_no_error() -> None:
    line = [sys.executable, "-c", WITHOUT_ROS, "suites", "--json"]
    with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None and running.stderr is not None
        running.stdout.close()
        said = running.stderr.read()
        assert (running.wait(DEADLINE_S), said) == (0, f"{NOISE}\n")


def test_without_stderr_libraries_print_to_nobody() -> None:
    line = [sys.executable, "-c", WITHOUT_ROS, "suites", "--json"]
    ended = subprocess.run(
        line, stdout=subprocess.PIPE, text=True, timeout=DEADLINE_S, check=True, preexec_fn=lambda: os.close(2)
    )
    assert ended.stdout.startswith("['of our own'")


def test_nothing_is_done_where_stdout_is_not_descriptor_1(capsys: pytest.CaptureFixture[str]) -> None:
    from pqc_mav_cli import own_stdout

    before = sys.stdout
    own_stdout.claim()
    assert sys.stdout is before
