# SPDX-License-Identifier: Apache-2.0
"""tools/ros2_conformance.py: the page says what the runners wrote, and comes only from a green run."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import ros2_conformance
import ros2_results
from ros2_results import FAILED, PASSED, SKIPPED, Case

JUNIT = """<testsuites><testsuite>
<testcase classname="pqc_mav_x.test_a" name="good"/>
<testcase classname="pqc_mav_x.test_a" name="bad"><failure message="AssertionError: 1 is 2">long</failure></testcase>
<testcase classname="pqc_mav_x.test_a" name="not"><skipped message="no rclcpp">f:1</skipped></testcase>
<testcase classname="" name=""><skipped message="collection skipped">('f.py', 17, "Skipped: it's not here")</skipped>
</testcase></testsuite></testsuites>"""
CTEST = """<Site><Testing><TestList><Test>./pytest</Test></TestList>
<Test Status="passed"><Name>pytest</Name></Test>
<Test Status="passed"><Name>frame:Frame.IsRead</Name></Test>
<Test Status="failed"><Name>frame:Frame.IsRefused</Name></Test>
<Test Status="notrun"><Name>frame:Frame.IsOff</Name></Test>
</Testing></Site>"""


@pytest.fixture
def build(tmp_path: Path) -> Path:
    """The build folder of a package with CMake that was tested twice."""
    folder = tmp_path / "pqc_mav_x"
    for name, text in (("20261126-1", "<Site/>"), ("20261127-1", CTEST)):
        (folder / "Testing" / name).mkdir(parents=True)
        (folder / "Testing" / name / "Test.xml").write_text(text)
    (folder / "test_results" / "pqc_mav_x").mkdir(parents=True)
    (folder / "test_results" / "pqc_mav_x" / "pytest.xunit.xml").write_text(JUNIT)
    return folder


def test_each_test_is_counted_once_with_what_it_says(build: Path) -> None:
    found = {case.name: (case.outcome, case.why) for case in ros2_results.cases(build)}
    assert found == {
        "pqc_mav_x.test_a.good": (PASSED, ""),
        "pqc_mav_x.test_a.bad": (FAILED, "AssertionError: 1 is 2"),
        "pqc_mav_x.test_a.not": (SKIPPED, "no rclcpp"),
        "all": (SKIPPED, "it's not here"),
        "frame:Frame.IsRead": (PASSED, ""),
        "frame:Frame.IsRefused": (FAILED, "CTest says no more"),
        "frame:Frame.IsOff": (SKIPPED, "CTest says no more"),
    }


def test_what_an_earlier_run_left_is_forgotten(build: Path) -> None:
    ros2_results.forget(build)
    assert ros2_results.cases(build) == []


def second_try(monkeypatch: pytest.MonkeyPatch, *found: Case) -> tuple[list[Case], list[str]]:
    monkeypatch.setattr(ros2_conformance, "test", lambda names, *_: [case for case in found if case.package in names])
    return ros2_conformance.again([Case("a", "good", PASSED), Case("b", "bad", FAILED), Case("b", "other", PASSED)])


def test_what_passes_alone_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    cases, second = second_try(monkeypatch, Case("b", "bad", PASSED), Case("b", "other", PASSED))
    assert second == ["b bad"] and {case.outcome for case in cases} == {PASSED} and len(cases) == 3


@pytest.mark.parametrize("then", [Case("b", "bad", FAILED), Case("b", "other", PASSED)])
def test_what_fails_twice_or_is_gone_stays_a_failure(monkeypatch: pytest.MonkeyPatch, then: Case) -> None:
    cases, second = second_try(monkeypatch, then)
    assert second == [] and [case.name for case in cases if case.outcome == FAILED] == ["bad"]


@pytest.mark.parametrize(
    ("found", "outcomes"),
    [
        ([], [FAILED]),
        ([Case("pqc_mav_cli", "", SKIPPED)], [FAILED]),
        ([Case("pqc_mav_cli", "a", PASSED), Case("pqc_mav_cli", "b", SKIPPED)], [PASSED, SKIPPED]),
    ],
)
def test_a_package_whose_tests_did_not_run_has_failed(
    monkeypatch: pytest.MonkeyPatch, found: list[Case], outcomes: list[str]
) -> None:
    monkeypatch.setattr(ros2_conformance, "run", lambda *_: True)
    monkeypatch.setattr(ros2_conformance.ros2_results, "forget", lambda _: None)
    monkeypatch.setattr(ros2_conformance.ros2_results, "cases", lambda _: found)
    assert [case.outcome for case in ros2_conformance.test(["pqc_mav_cli"])] == outcomes


@pytest.fixture
def rclcpp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A prefix that has rclcpp, and a colcon."""
    (tmp_path / "share" / "rclcpp").mkdir(parents=True)
    (tmp_path / "share" / "rclcpp" / "package.xml").write_text("<package><version>28.1.6</version></package>")
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path))
    monkeypatch.setattr(ros2_conformance, "run", lambda *_: True)
    monkeypatch.setattr(ros2_conformance.shutil, "which", lambda _: "colcon")


@pytest.mark.parametrize("outcome", [PASSED, FAILED])
def test_only_a_green_run_writes_the_page(
    rclcpp: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, outcome: str
) -> None:
    page = tmp_path / "page.md"
    page.write_text("the last one")
    container = Case("pqc_mav_proxy_cpp", "pqc_mav_proxy_cpp.test_component.test_both_ends[x]", PASSED)
    found = [container, Case("pqc_mav_x", "one", outcome), Case("pqc_mav_x", "two", SKIPPED, "no X here")] * 2
    found.append(Case("pqc_mav_x", "three", SKIPPED, "no Y here"))
    monkeypatch.setattr(ros2_conformance, "test", lambda *_: found)
    assert ros2_conformance.main(["--bench", "Made of wood.", "--page", str(page)]) == (outcome == FAILED)
    if outcome == FAILED:
        assert page.read_text() == "the last one"
        return
    text = page.read_text()
    assert "4 tests passed, none failed, 3 were skipped" in " ".join(text.split())
    for line in (
        "**The bench:** Made of wood.",
        "rclcpp 28.1.6",
        "| component containers: one executor thread, several, isolated | 2 |  |",
        "| DDS security with Enforce | not run | nothing to run it with |",
        "* 2: no X here",
        "* 1: each for a reason of its own",
    ):
        assert line in text, line


def test_security_that_is_skipped_is_not_passed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def skips(*_: object) -> bool:
        (tmp_path / "build" / "test-results" / "security.xml").write_text(JUNIT)
        return True

    monkeypatch.setattr(ros2_conformance, "ROOT", tmp_path)
    monkeypatch.setattr(ros2_conformance, "run", skips)
    assert [case.outcome for case in ros2_conformance.secured("rmw_x")] == [PASSED, FAILED, FAILED, FAILED]


def test_without_rclcpp_nothing_is_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path))
    with pytest.raises(SystemExit, match="no rclcpp on AMENT_PREFIX_PATH"):
        ros2_conformance.main([])


def test_what_it_runs_ends_with_ctrl_c_even_in_the_background_of_a_script(rclcpp: None, tmp_path: Path) -> None:
    """Whose '&' has it ignored, which every process below would inherit."""
    colcon = tmp_path / "colcon"
    colcon.write_text("#!/bin/sh\ngrep SigIgn /proc/self/status >&2\nexit 1\n")
    colcon.chmod(0o755)
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        ran = subprocess.run(
            [sys.executable, ros2_conformance.__file__],
            env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"},
            capture_output=True,
            text=True,
            check=False,
        )
    finally:
        signal.signal(signal.SIGINT, before)
    ignored = int(ran.stderr.partition("SigIgn:")[2].split()[0], 16)
    assert ignored & 1 << signal.SIGINT - 1 == 0
