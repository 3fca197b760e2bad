# SPDX-License-Identifier: Apache-2.0
"""tools/lib.sh: a command that fails ends a script with one line, whatever the command said."""

from __future__ import annotations

import pytest
from bare_machine import Run


@pytest.mark.parametrize(
    ("said", "line"),
    [
        ("error: no room\ngood again", "no room"),
        ("E: Unable to locate package one", "E: Unable to locate package one"),
        ("nothing of the usual words", "nothing of the usual words"),
        ("", "failed"),
    ],
)
def test_logged_names_the_cause(run: Run, said: str, line: str) -> None:
    script = """
        . tools/lib.sh
        set -euo pipefail
        failing() { printf "$SAID"; return 3; }
        logged name "try again" failing
    """
    result = run("-c", script, SAID=said)
    assert result.returncode == 1
    assert len(result.stderr.splitlines()) == 1, result.stderr
    assert result.stderr.startswith(f"error: name: {line}; try again (whole output: ")
