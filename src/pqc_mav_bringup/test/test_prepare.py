# SPDX-License-Identifier: Apache-2.0
import dataclasses
import subprocess

import pytest
from programs import python_process

from pqc_mav_bringup.description import BringupError, Process
from pqc_mav_bringup.prepare import prepare
from pqc_mav_bringup.respawn import Respawn
from pqc_mav_common.siblings import MARK


def test_all_bear_one_mark_and_the_next_system_another() -> None:
    first, second = prepare([python_process("a", "1"), python_process("b", "2")], {"WISH": "x"})
    assert (first.label, first.command[1:]) == ("a", ("-u", "-c", "1"))
    assert first.environment[MARK] == second.environment[MARK]
    assert first.environment["WISH"] == "x" and first.environment["PYTHONUNBUFFERED"] == "1"
    assert prepare([python_process("a", "1")])[0].environment[MARK] != first.environment[MARK]


def test_what_gives_way_runs_at_a_lower_priority_and_nothing_else_does() -> None:
    program = python_process("a", "import os; print(os.nice(0))")
    told = [
        int(subprocess.run(ready.command, capture_output=True, check=True, timeout=60).stdout)
        for ready in prepare([program, dataclasses.replace(program, nice=1)])
    ]
    assert told[1] == min(19, told[0] + 1)


def test_a_missing_program_and_a_missing_file_are_refused() -> None:
    missing = Process("x", "p", "no-such-program-here", "", "", "", {}, (), None, "get it there")
    with pytest.raises(BringupError, match="get it there"):
        prepare([missing])
    with pytest.raises(BringupError, match="There is no configuration file"):
        prepare([Process("x", "p", "sh", "n", "", "/none.yaml", {}, (), Respawn(), "")])
