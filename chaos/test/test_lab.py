# SPDX-License-Identifier: Apache-2.0
"""The laboratory for real, briefly: with root a lossy link and what Ctrl-C leaves behind; without, one line."""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import air
import lab
import pytest
from children import HERE
from conditions import CONDITIONS, Rekey
from laboratory import laboratory
from verdicts import Observation, problems

from pqc_mav_common.waiting import wait_until

RUN = [sys.executable, str(HERE / "run")]
NO_ROOT = air.need_root()
needs_root = pytest.mark.skipif(bool(NO_ROOT), reason=f"the fault laboratory {NO_ROOT}")


def condition(name: str):
    return next(each for each in CONDITIONS if each.name == name)


@needs_root
def test_a_lossy_link_loses_what_it_says_and_the_tunnel_nothing_more() -> None:
    short = replace(condition("loss-5"), seconds=3.0, rekeys=(Rekey(1.2, attempts=4),))
    with laboratory() as room:
        seen = room.run(short)
    assert problems(short, seen) == []
    assert all(way.lost_on_link == way.lost > 0 for way in seen.ways.values())


@needs_root
def test_a_forgetful_nat_is_followed() -> None:
    base = condition("nat-rebind")
    # The address before gets copies until it was not heard for 3 s; only then is it left.
    short = replace(base, seconds=7, rekeys=(Rekey(1.8),), events=(replace(base.events[0], at_s=1.2),))
    with laboratory() as room:
        for _ in range(3):
            seen, found = lab.observe(room, short)
            if not lab.stood_still(seen, found):
                break
    assert found == []
    assert seen.stats["gcs"]["roams"] == 1


def descendants(pid: int) -> list[int]:
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rsplit(")", 1)[1].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(fields[1]) == pid and fields[0] != "Z":
            found.append(int(path.parent.name))
    return found


@needs_root
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_nothing_is_left_over(number: signal.Signals, tmp_path: Path) -> None:
    before = set(Path("/sys/class/net").iterdir())
    command = [*RUN, "lab", "--only", "loss-10", "--output", ""]
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "TMPDIR": str(tmp_path)},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a runner in the background ignores it
    )
    # the link, both ends and the traffic
    assert wait_until(lambda: len(descendants(process.pid)) >= 4, 15)
    children = descendants(process.pid)
    process.send_signal(number)
    output, _ = process.communicate(timeout=15)
    assert process.returncode != 0
    assert wait_until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in children), 10)
    assert set(Path("/sys/class/net").iterdir()) == before
    assert not list(Path("/run/netns").glob(f"*{process.pid}*"))
    if number != signal.SIGKILL:
        assert "stopped" in output
        assert not list(tmp_path.iterdir())


def test_without_root_one_line_says_so(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(lab, "need_root", lambda: "needs root for network namespaces")
    options = lab_options("--only", "loss-0")
    assert lab.run(options) == 3
    assert capsys.readouterr().out == "chaos: the fault laboratory needs root for network namespaces.\n"


def lab_options(*words: str):
    import argparse

    parser = argparse.ArgumentParser()
    lab.arguments(parser)
    parser.add_argument("--output", default="")
    return parser.parse_args(words)


def test_need_root_is_about_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert air.need_root().startswith("needs root")


def test_an_unknown_condition_is_refused_by_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert lab.run(lab_options("--only", "loss-99")) == 2
    assert "no condition 'loss-99'" in capsys.readouterr().out


def test_a_row_that_cannot_be_run_fails_the_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def fail(self: object, _: object) -> None:
        raise air.AirError("no such device")

    monkeypatch.setattr("laboratory.Laboratory.run", fail)
    monkeypatch.setattr(lab, "need_root", lambda: "")
    assert lab.run(lab_options("--only", "loss-0", "--output", str(tmp_path))) == 1
    assert "could not be run: no such device" in capsys.readouterr().out
    assert "FAILED" in (tmp_path / "chaos.md").read_text()


@pytest.mark.parametrize(("late", "runs", "code"), [((9, 0), 2, 0), ((9, 9), 2, 1), ((0,), 1, 1)])
def test_a_row_is_repeated_once_and_only_when_the_machine_stood_still(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, late: tuple[int, ...], runs: int, code: int
) -> None:
    seen = [Observation(late_sends=each) for each in late]
    monkeypatch.setattr("laboratory.Laboratory.run", lambda *_: seen.pop(0))
    # the machine was too slow, or the tunnel: only a run in which nothing was late can pass
    monkeypatch.setattr(lab, "problems", lambda _, each: ["short of it"] if each.late_sends or runs == 1 else [])
    monkeypatch.setattr(lab, "need_root", lambda: "")
    assert lab.run(lab_options("--only", "loss-0", "--output", str(tmp_path))) == code
    assert not seen
    page = (tmp_path / "chaos.md").read_text()
    assert ("## Repeated" in page) == (runs == 2)
    assert ("## Not as expected" in page) == (code == 1)
    assert len(json.loads(gzip.decompress((tmp_path / "chaos.json.gz").read_bytes()))["repeated"]) == runs - 1


def test_the_list_names_every_condition(capsys: pytest.CaptureFixture[str]) -> None:
    assert lab.run(lab_options("--list")) == 0
    assert len(capsys.readouterr().out.splitlines()) == len(CONDITIONS)
