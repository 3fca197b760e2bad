# SPDX-License-Identifier: Apache-2.0
"""What constant_time.py reads from valgrind and from the engine's program, and what it then calls a fault."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import constant_time_page
import pytest

import constant_time
from constant_time import Result, faults, reports

TOOL = Path(constant_time.__file__)
ERROR = "<error><stack><frame><ip>{ip}</ip><obj>/x/liboqs.so.7</obj>{fn}</frame></stack></error>"
LISTED = "engine\\topens\\t1\\nengine\\trekey\\t0\\nopenssl\\tseals\\t1\\nleak\\tmemcmp\\t1\\n"


def error(ip: str, function: str = "") -> str:
    return ERROR.format(ip=ip, fn=f"<fn>{function}</fn>" if function else "")


def test_reports_of_one_instruction_are_one() -> None:
    xml = "<valgrindoutput>" + error("1", "f") + error("1", "f") + error("2", "f") + error("3")
    assert reports(xml + "</valgrindoutput>") == {"f": 2, "liboqs, no name": 1}
    assert reports("<valgrindoutput/>") == {}


GOOD = [
    Result("engine", "opens", True, Counter(), 1.0, 1000),
    Result("engine", "rekey", False, Counter()),
    Result("liboqs", "signs", True, Counter({"f": 3}), 80.0, 1000),
    Result("leak", "memcmp", True, Counter({"bcmp": 2}), 120.0, 1000),
]


def test_nothing_is_wrong_with_an_engine_without_reports_and_with_leaks_that_are_found() -> None:
    assert faults(GOOD, True) == []


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (Result("engine", "opens", True, Counter({"decrypt": 1}), 1.0), "opens: memcheck reports 1: decrypt"),
        (Result("engine", "opens", True, problem="it crashed"), "opens: it crashed"),
        (Result("leak", "memcmp", True, Counter(), 120.0), "memcheck did not see it"),
        (Result("leak", "memcmp", True, Counter({"bcmp": 1}), 3.0), "its times did not tell"),
        (Result("leak", "memcmp", True, Counter({"bcmp": 1})), "its times did not tell"),
    ],
)
def test_faults(changed: Result, said: str) -> None:
    (found,) = faults([changed if each.name == changed.name else each for each in GOOD], True)
    assert said in found


def test_a_report_without_a_reading_is_taken_for_a_leak() -> None:
    known = Result(
        "liboqs", "HQC-128 decapsulation", True, Counter({"PQCLEAN_HQC128_CLEAN_vect_set_random_fixed_weight": 1})
    )
    other = Result("liboqs", "HQC-128 decapsulation", True, Counter({"PQCLEAN_HQC128_CLEAN_decode": 1}), 12.0, 2000)
    assert "| counter |" in constant_time_page.cells(known)
    assert "take it for a leak" in constant_time_page.cells(other) and "**differ** 12.0" in constant_time_page.cells(
        other
    )
    assert "Not explained: HQC-128 decapsulation." in constant_time_page.page([*GOOD[:2], other], 1.0)


def test_algorithms_that_say_the_same_and_were_not_timed_are_one_row() -> None:
    found = [Result("liboqs", f"{name} signing", True, Counter({"f": 3})) for name in ("A-1", "A-2")]
    rows = constant_time_page.table([*found, Result("liboqs", "A-3 signing", True, Counter({"f": 3}), 1.0, 2000)])
    assert [row.split(" | ")[0] for row in rows[2:]] == ["| A-1, A-2 signing", "| A-3 signing"]


def run(tmp_path: Path, report: str, t: float, *words: str) -> subprocess.CompletedProcess[str]:
    """With programs that stand in for valgrind and for the engine's."""
    program, valgrind = tmp_path / "constant_time", tmp_path / "valgrind"
    program.write_text(f'#!/bin/sh\n[ "$1" = list ] && printf "{LISTED}" || echo \'{{"n": 1000, "t": {t}}}\'\n')
    valgrind.write_text(
        '#!/bin/bash\nfor word; do case "$word" in --xml-file=*) file="${word#*=}";; esac; done\n'
        f'text="{report}"; [ "$word" = memcmp ] && text="{error("9", "bcmp")}"\n'
        'echo "<valgrindoutput>$text</valgrindoutput>" >"$file"\n'
    )
    for each in (program, valgrind):
        each.chmod(0o755)
    return subprocess.run(
        [sys.executable, str(TOOL), str(program), *words],
        env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_run_as_make_sanitize_does_it(tmp_path: Path) -> None:
    good = run(tmp_path, "", 50.0)
    assert good.returncode == 0, good.stdout + good.stderr
    assert "seals" not in good.stdout, "the libraries' algorithms are for the page"
    assert run(tmp_path, error("5", "gate_good"), 2.0, "--again").returncode == 0, "all was known"
    assert run(tmp_path, "", 2.0).returncode == 1
    assert run(tmp_path, error("5", "gate_good"), 50.0, "--again").returncode == 1, "the times are those of before"
    bad = run(tmp_path, error("5", "gate_good"), 50.0)
    assert bad.returncode == 1
    assert "error: opens: memcheck reports 1: gate_good" in bad.stdout
