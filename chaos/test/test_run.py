# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import runpy
import subprocess
import sys
from pathlib import Path

import air
import pytest
import tables

RUN = Path(__file__).resolve().parent.parent / "run"


def test_a_package_that_lacks_is_named_with_what_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["run", "strangers"])
    for name in ("strangers", "contact", "impostor", "spoiling"):  # another test may have needed them
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setitem(sys.modules, "pqc_mav_wirespec", None)
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(RUN), run_name="__main__")
    assert ended.value.code == (
        "chaos: 'strangers' needs the Python package 'pqc_mav_wirespec': run 'tools/setup.sh chaos' and then again"
    )


@pytest.mark.parametrize("command", ["transfers", "joining", "stations"])
def test_without_root_one_line_says_so(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(air, "need_root", lambda: "needs root")
    monkeypatch.setattr(sys, "argv", ["run", command])
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(RUN), run_name="__main__")
    assert ended.value.code == 3
    assert capsys.readouterr().out == f"{command}: this needs root.\n"


WHILE_IT_FORKS = f"""
import os, runpy, signal, sys, time
runpy.run_path({str(RUN)!r})["obey_signals"]()
signal.signal(signal.SIGINT, signal.default_int_handler)
os.register_at_fork(after_in_parent=lambda: signal.raise_signal(signal.{{}}))
if os.fork() == 0:
    os._exit(0)
try:
    time.sleep(60.0)
except KeyboardInterrupt:
    sys.exit(7)
"""


@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT"])
def test_a_signal_that_comes_while_python_forks_is_not_lost(name: str) -> None:
    ended = subprocess.run([sys.executable, "-c", WHILE_IT_FORKS.format(name)], timeout=30.0, check=False)
    assert ended.returncode == 7


def test_the_default_folder_is_that_of_the_record() -> None:
    assert runpy.run_path(str(RUN))["RESULTS"] == tables.RESULTS


@pytest.mark.parametrize("command", ["overload", "lab"])
def test_each_command_explains_its_own_options(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["run", command, "--help"])
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(RUN), run_name="__main__")
    assert ended.value.code == 0
    assert "--seed" in capsys.readouterr().out


@pytest.mark.parametrize("command", ["capture", "dataset", "record", "tutorial", "storms"])
def test_only_a_command_with_a_page_takes_a_folder_for_it(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["run", command, "--help"])
    with pytest.raises(SystemExit):
        runpy.run_path(str(RUN), run_name="__main__")
    used = "options.output" in RUN.with_name(f"{command}.py").read_text(encoding="utf-8")
    assert ("--output" in capsys.readouterr().out) == used
