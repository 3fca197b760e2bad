# SPDX-License-Identifier: Apache-2.0
"""The process that stays behind `pqcmav up` for as long as a system runs: it has what it needs for that, and no more.

`supervise.replace_process` starts it without site-packages, with the folders of two packages in its path.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import Sequence
from typing import NoReturn

from pqc_mav_bringup.log_file import LogFile
from pqc_mav_bringup.printer import Printer, say, settle
from pqc_mav_bringup.ready import Ready, from_plain
from pqc_mav_bringup.respawn import ExitCode
from pqc_mav_bringup.supervisor import Supervisor


def watch(system: str, processes: Sequence[Ready]) -> ExitCode:
    """Starts them and sees to them until they have ended."""
    printer = Printer([process.label for process in processes], keep=LogFile(system).write)
    say(f"{system}: {', '.join(process.label for process in processes)} (Ctrl-C stops)")
    return asyncio.run(Supervisor(processes, printer.line).run())


def run() -> NoReturn:
    """What such a process does: its arguments are those of `replace_process`."""
    _, _, system, descriptor = sys.argv[1:]
    with os.fdopen(int(descriptor)) as handed_over:
        processes = from_plain(json.load(handed_over))
    code = int(watch(system, processes))
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    settle(sys.stderr)
    sys.exit(code)
