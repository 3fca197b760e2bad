# SPDX-License-Identifier: Apache-2.0
"""tools/machine_test.py: what it makes of the machine's words, and that its tests are those left out elsewhere."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import machine_test
import pytest
from two_ends import TestError as Failure

LEFT_OUT = Path(machine_test.__file__).with_name("cross_left_out.txt")
GOOD = ["[    0.0] noise", "machine: kernel 6.1", "machine: passed devices", "machine: passed watchdog"]
GOOD += ["machine: passed Net.One", "machine: end"]


def test_all_passed() -> None:
    assert list(machine_test.judge(iter(GOOD), 1)) == ["kernel 6.1", "1 tests passed, and the unit with its watchdog"]


@pytest.mark.parametrize(
    "lines",
    [
        GOOD[:-1],
        [line for line in GOOD if "Net.One" not in line],
        [line.replace("passed watchdog", "failed watchdog") for line in GOOD],
        [],
    ],
    ids=["no end", "one is missing", "one failed", "silent"],
)
def test_whatever_is_missing_fails(lines: list[str]) -> None:
    with pytest.raises(Failure):
        list(machine_test.judge(iter(lines), 1))


def test_what_user_emulation_cannot_run_runs_here() -> None:
    """Of several data threads, one of the files that run twice."""
    for line in LEFT_OUT.read_text(encoding="utf-8").splitlines():
        test, _, reason = line.partition(" ")
        if line.startswith("#") or not ("qemu" in reason or reason.startswith("the same")):
            continue
        name = re.sub(r"\\(.)", r"\1", test.strip("^$")).replace(".*/[238]", "A/2")
        name = re.sub(r"\(([^|)]*)\|?[^)]*\)", r"\1", name)
        name = "two-threads:EngineData.A" if name.startswith("two-threads") else name
        assert any(re.match(machine_test.TESTS, name + rest) for rest in ("", "A")), line


def test_the_script_in_the_machine_is_shell() -> None:
    subprocess.run(["bash", "-n"], input=machine_test.SCRIPT, text=True, check=True, timeout=20)
