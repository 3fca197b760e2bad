# SPDX-License-Identifier: Apache-2.0
"""The engine's calls answered by the program `pqcmav-tunneld`: where its module for Python is not installed.

The module is compiled for one version of Python. The Debian package of the command runs with any, so it asks the daemon's
program, which has the same engine inside.
"""

from __future__ import annotations

import json
import shutil
import subprocess

PROGRAM = "pqcmav-tunneld"
LIMIT_S = 600.0  # making the keys of a large fleet


class TunnelError(RuntimeError):
    """A refusal of the engine: one sentence, and its code."""

    code: str

    def __init__(self, sentence: str, code: str) -> None:
        super().__init__(sentence)
        self.code = code


def call(name: str, arguments: str) -> str:
    """Answer one of the calls of `_calls.py`: arguments and result are JSON. Raises TunnelError."""
    program = shutil.which(PROGRAM)
    if program is None:
        raise TunnelError(f"The engine is not here: neither its Python module nor the program {PROGRAM}.", "state")
    try:
        ended = subprocess.run(
            [program, "--call", name], input=arguments, stdout=subprocess.PIPE, text=True, check=False, timeout=LIMIT_S
        )
        answer = json.loads(ended.stdout)
        if "error" in answer:
            raise TunnelError(answer["error"], answer["code"])
        return json.dumps(answer["result"])
    except (OSError, subprocess.TimeoutExpired) as error:
        raise TunnelError(f"{program} did not answer: {error}", "io") from None
    except (ValueError, KeyError, TypeError):
        raise TunnelError(f"{program} ended with {ended.returncode} without an answer: is it of this version?", "io") from None


def forbid_core_dumps() -> str:
    """Nothing to do: keys are in the program alone, which forbids its own. Returns an empty sentence."""
    return ""
