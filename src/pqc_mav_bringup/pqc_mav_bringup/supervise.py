# SPDX-License-Identifier: Apache-2.0
"""The supervising process behind `pqcmav up`: small, because it stays for as long as the system runs.

`replace_process` puts it in the place of the command line's process, whose libraries are of no use any more.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Mapping
from typing import NoReturn

from pqc_mav_bringup import composed
from pqc_mav_bringup.description import BringupError, resolve
from pqc_mav_bringup.log_file import LogFile
from pqc_mav_bringup.printer import Printer, discard
from pqc_mav_bringup.respawn import ExitCode
from pqc_mav_bringup.supervisor import Supervisor
from pqc_mav_bringup.systems import SYSTEMS

# Without the empty entry that -c puts first: what lies in the current folder is nobody's library. And without ssl,
# which asyncio would import: nothing here speaks TLS, and it would be 4 of its 24 MB.
_CODE = (
    "import sys; sys.path[:] = filter(None, sys.path); sys.modules['ssl'] = None; "
    "from pqc_mav_bringup.supervise import run; run()"
)


def supervise(system: str, given: Mapping[str, str]) -> ExitCode:
    """Runs a system with these arguments until it ends. Raises BringupError for what cannot be started."""
    composed.refuse(given)
    processes = resolve(SYSTEMS[system], given)
    printer = Printer([process.label for process in processes], keep=LogFile(system).write)
    # The supervisor's own prefix says who speaks; a user's choice of format wins.
    form = {"RCUTILS_CONSOLE_OUTPUT_FORMAT": "[{severity}] {message}"}
    supervisor = Supervisor(processes, printer.line, environment={} if form.keys() & os.environ.keys() else form)
    _say(f"{system}: {', '.join(process.label for process in processes)} (Ctrl-C stops)")
    return asyncio.run(supervisor.run())


def replace_process(program: str, system: str, given: Mapping[str, str]) -> NoReturn:
    """Goes on as a process that does nothing but `supervise`, under the same number."""
    sys.stdout.flush()
    sys.stderr.flush()
    line = [sys.executable, "-c", _CODE, program, "up", system, json.dumps(dict(given))]
    os.execv(sys.executable, line)  # noqa: S606 - no shell is wanted


def run() -> NoReturn:
    """What such a process does: its arguments are those of `replace_process`."""
    program, _, system, given = sys.argv[1:]
    try:
        code = int(supervise(system, json.loads(given)))
    except BringupError as error:
        _say(f"{program}: error: {' '.join(str(error).split())}")
        code = int(ExitCode.CONFIG)
    except KeyboardInterrupt:  # before the supervisor listens to signals
        code = 128 + 2
    sys.exit(code)


def _say(sentence: str) -> None:
    try:
        print(sentence, file=sys.stderr, flush=True)
    except BrokenPipeError:  # what is being done goes on even when nothing reads it any more
        discard(sys.stderr)
