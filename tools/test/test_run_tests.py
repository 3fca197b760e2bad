# SPDX-License-Identifier: Apache-2.0
"""tools/run_tests.py: the totals are honest."""

from __future__ import annotations

import importlib.util
import re
import signal
import sys
from pathlib import Path
from types import ModuleType

import pytest

TOOL = Path(__file__).resolve().parent.parent / "run_tests.py"


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("run_tests_tool", TOOL)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


JUNIT = """<testsuites><testsuite>
<testcase name="a"/><testcase name="b" status="run"/>
<testcase name="c"><failure message="x"/></testcase>
<testcase name="d"><error message="x"/></testcase>
<testcase name="e"><skipped message="x"/></testcase>
<testcase name="f" status="disabled"/>
</testsuite></testsuites>"""


def shell(tool: ModuleType, tmp_path: Path, report: str, code: int) -> object:
    """Run a runner that writes this report and exits with this code."""
    target = tmp_path / "report.xml"
    script = f"cat >{target} <<'E'\n{report}\nE\nexit {code}" if report else f"exit {code}"
    return tool.run("fake", ["bash", "-c", script], tmp_path, target)


def test_counts_every_kind(tool: ModuleType, tmp_path: Path) -> None:
    outcome = shell(tool, tmp_path, JUNIT, 1)
    assert (outcome.passed, outcome.failed, outcome.skipped, outcome.problem) == (2, 2, 2, "")
    assert not outcome.good


def test_all_good(tool: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    outcome = shell(tool, tmp_path, "<testsuite><testcase name='a'/></testsuite>", 0)
    assert tool.summarise([outcome]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "1 passed, 0 failed, 0 skipped"


@pytest.mark.parametrize(
    ("report", "code", "problem"),
    [
        ("", 1, "no report"),
        ("", 0, "no report"),
        ("<testsuite", 0, "no report"),
        ("<testsuite></testsuite>", 0, "found no test"),
        ("<testsuite><testcase name='a'/></testsuite>", 3, "exit code 3"),
    ],
)
def test_broken_runner_never_looks_clean(
    tool: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str], report: str, code: int, problem: str
) -> None:
    good = tool.Outcome("other", 5, 0, 0, 1.0)
    assert tool.summarise([good, shell(tool, tmp_path, report, code)]) == 1
    output = capsys.readouterr().out
    assert problem in output
    assert ", 1 failed, " in output.splitlines()[-1]


def test_old_report_is_not_taken_for_a_new_one(tool: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "report.xml").write_text("<testsuite><testcase name='a'/></testsuite>")
    assert not shell(tool, tmp_path, "", 0).good


def test_hanging_runner_is_stopped(tool: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tool, "RUNNER_TIMEOUT_S", 0.2)
    outcome = tool.run("fake", ["sleep", "60"], tmp_path, tmp_path / "report.xml")
    assert not outcome.good
    assert "stopped" in outcome.problem


def test_hanging_runner_takes_its_children_along(
    tool: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tool, "RUNNER_TIMEOUT_S", 0.5)
    # The child keeps the output open: were it left alone, reading to the end would wait for it.
    tool.run("fake", ["bash", "-c", "sleep 60 & wait"], tmp_path, tmp_path / "report.xml", re.compile("nothing"))


def test_lines_of_passed_ctests_are_left_out(
    tool: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = [
        "      Start  23: kdf:Sha256",
        " 1/8 Test  #23: kdf:Sha256 ................   Passed    0.32 sec",
        " 2/8 Test  #24: kdf:Passed ................***Failed    0.32 sec",
        " 3/8 Test  #25: kdf:Other .................***Skipped   0.32 sec",
        "100% tests passed, 0 tests failed out of 8",
    ]
    (tmp_path / "lines").write_text("\n".join(lines) + "\n")
    tool.run("fake", ["cat", "lines"], tmp_path, tmp_path / "report.xml", tool.GOOD_CTEST_LINE)
    assert capsys.readouterr().out.splitlines()[2:] == lines[2:]


CTEST = "<testcase name='{0}' classname='{0}'>{1}</testcase>"


def test_a_ctest_that_passes_at_the_second_try_is_named(
    tool: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = [
        " 2/8 Test  #24: clock:Starved ............***Failed    0.32 sec",
        "        Test  #25: kdf:Slow ..............***Timeout   9.00 sec",
        " 4/8 Test  #26: kdf:Other .................***Skipped   0.32 sec",
        "        Test  #24: clock:Starved ..........   Passed    0.32 sec",
    ]
    (tmp_path / "lines").write_text("\n".join(lines) + "\n")
    report = tmp_path / "report.xml"
    junit = f"<testsuite>{CTEST.format('clock:Starved', '')}{CTEST.format('kdf:Slow', '<failure/>')}</testsuite>"
    script = f"cat lines; cat >{report} <<'E'\n{junit}\nE\nexit 8"
    outcome = tool.run("ctest", ["bash", "-c", script], tmp_path, report, tool.GOOD_CTEST_LINE)
    assert (outcome.failed, outcome.unsteady) == (1, ("clock:Starved",))
    assert tool.summarise([outcome]) == 1
    assert "unsteady, passed when tried again: clock:Starved\n" in capsys.readouterr().out


def test_nothing_passed_is_a_failure(tool: ModuleType) -> None:
    assert tool.summarise([tool.Outcome("x", 0, 0, 3, 1.0)]) == 1


def test_programs_under_test_can_be_interrupted_even_in_the_background(
    tool: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["run_tests.py"])
    monkeypatch.setattr(tool, "selected", lambda _names: [])
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        assert tool.main() == 1
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)


def test_tests_that_are_not_built_are_named(tool: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "src" / "engine"
    (package / "test").mkdir(parents=True)
    (package / "test" / "test_one.cpp").write_text("")
    monkeypatch.setattr(tool, "ROOT", tmp_path)
    said = tool.missing([package])
    assert said.startswith("the C++ tests of engine are not built: run 'make test'")
    tests = tmp_path / "build" / "engine" / "CTestTestfile.cmake"
    tests.parent.mkdir(parents=True)
    tests.write_text("")
    assert tool.missing([package]) == said
    tests.write_text("add_test(One.Case true)\nadd_test(long_tests_NOT_BUILT false)\n")
    assert tool.missing([package]).startswith("long_tests of engine are not built")
    tests.write_text("add_test(One.Case true)\n")
    assert tool.missing([package]) == ""


def test_missing_pytest_is_named(tool: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tool.importlib.util, "find_spec", lambda _name: None)
    assert tool.missing([]).startswith("pytest is not installed: run 'make test'")


def test_unknown_package_is_refused(tool: ModuleType) -> None:
    with pytest.raises(SystemExit, match="no package nonsense"):
        tool.selected(["nonsense"])


FLAKY = """
import pathlib

LATE = 1  # tries that fail

def test_starved():
    seen = pathlib.Path(__file__).with_name("seen")
    tries = seen.stat().st_size + 1 if seen.exists() else 1
    seen.write_text("x" * tries)
    assert tries > LATE

def test_steady():
    pass
"""


def looked_at(tool: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str) -> object:
    """What remains of a package with these tests after a first and a second look."""
    (tmp_path / "pack" / "test").mkdir(parents=True)
    (tmp_path / "pack" / "test" / "test_it.py").write_text(source)
    monkeypatch.setattr(tool, "ROOT", tmp_path)
    monkeypatch.setattr(tool, "RESULTS", tmp_path / "results")
    parts = tool.parts_of(tmp_path / "pack")
    _, python = tool.run_together([], parts)
    (outcome,) = tool.second_look(python, parts)
    return outcome


def test_every_test_is_in_one_part(tool: ModuleType) -> None:
    for name, beside in tool.BESIDE.items():
        (folder,) = tool.selected([name])
        rest, other = tool.parts_of(folder)
        assert rest.left_out == other.places and {each.name for each in other.places} == set(beside)
        assert all(each.exists() for each in other.places), "pytest ignores what is not there without a word"
        assert rest.package == other.package == name


def test_a_starved_test_passes_alone_and_is_named(
    tool: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    outcome = looked_at(tool, tmp_path, monkeypatch, FLAKY)
    assert (outcome.passed, outcome.failed) == (2, 0)
    assert tool.summarise([outcome]) == 0
    assert re.search(r"unsteady, passed when tried again: .*test_starved\n", capsys.readouterr().out)


def test_what_fails_alone_stays_a_failure(
    tool: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    outcome = looked_at(tool, tmp_path, monkeypatch, FLAKY + "\ndef test_broken():\n    assert False\n")
    assert (outcome.passed, outcome.failed) == (2, 1)
    assert tool.summarise([outcome]) == 1
    output = capsys.readouterr().out
    assert re.findall(r"failed: .*\.(test_\w+)\n", output.partition("==> summary")[2]) == ["test_broken"]


@pytest.mark.parametrize(("late", "failed"), [(2, 0), (3, 1)])
def test_what_fails_is_tried_again_twice(
    tool: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, late: int, failed: int
) -> None:
    outcome = looked_at(tool, tmp_path, monkeypatch, FLAKY.replace("LATE = 1", f"LATE = {late}"))
    assert (outcome.passed, outcome.failed) == (2 - failed, failed)
    assert len(outcome.unsteady) == 1 - failed


def test_many_failures_get_no_second_look(tool: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tool, "SECOND_LOOK_MAX", 0)
    assert looked_at(tool, tmp_path, monkeypatch, FLAKY).failed == 1
