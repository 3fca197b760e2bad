# SPDX-License-Identifier: Apache-2.0
"""From the arguments of `pqcmav up` to the process that supervises: small, because it stays while the system runs.

`replace_process` puts it in the place of the command line's process, whose libraries are of no use any more.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NoReturn

import pqc_mav_bringup
import pqc_mav_common
from pqc_mav_bringup import composed, log_file
from pqc_mav_bringup.description import BringupError, resolve
from pqc_mav_bringup.prepare import prepare
from pqc_mav_bringup.printer import say
from pqc_mav_bringup.ready import Ready, to_plain
from pqc_mav_bringup.respawn import ExitCode
from pqc_mav_bringup.systems import SYSTEMS
from pqc_mav_bringup.watch import watch
from pqc_mav_common import ros_log

# Without site-packages, the current folder and Python's variables (-I, -S); and without ssl, which asyncio would
# import: nothing here speaks TLS, and it would be 4 MB.
_FLAGS = ("-I", "-S")
# Until the supervisor listens to signals, Ctrl-C ends the process without a traceback: one that comes while Python
# starts waits until that is in force.
_CODE = (
    "import signal; signal.signal(2, signal.SIG_DFL); signal.pthread_sigmask(signal.SIG_UNBLOCK, [2]); import sys; "
    "sys.path[:0] = {}; sys.modules['ssl'] = None; from pqc_mav_bringup.watch import run; run()"
)


def supervise(system: str, given: Mapping[str, str]) -> ExitCode:
    """Runs a system with these arguments until it ends. Raises BringupError for what cannot be started."""
    return watch(system, prepared(system, given))


def prepared(system: str, given: Mapping[str, str]) -> list[Ready]:
    """What is to run. Raises BringupError."""
    composed.refuse(given)
    if unkept := refused_logs(os.environ):
        say(unkept)
    # The supervisor's own prefix says who speaks; a user's choice of format wins.
    form = {"RCUTILS_CONSOLE_OUTPUT_FORMAT": "[{severity}] {message}"}
    return prepare(resolve(SYSTEMS[system], given), {} if form.keys() & os.environ.keys() else form)


def refused_logs(environment: Mapping[str, str]) -> str:
    """Which logs cannot be kept, and why, as one sentence; "" where all can. What runs does not need them."""
    folders = {log_file.VARIABLE: log_file.folder(), "ROS_LOG_DIR": ros_log.folder(environment)}
    refused = {name: (where, why) for name, where in folders.items() if where and (why := ros_log.refusal(where))}
    if not refused:
        return ""
    wheres = " and ".join(f"{where} ({why})" for where, why in refused.values())
    return f"No logs are kept, since {wheres} cannot be written; set {' and '.join(refused)} to other folders."


def replace_process(program: str, system: str, given: Mapping[str, str]) -> NoReturn:
    """Goes on as a process that does nothing but `watch`, under the same number; ends with one line for a refusal."""
    try:
        processes = prepared(system, given)
    except BringupError as error:
        say(f"{program}: error: {' '.join(str(error).split())}")
        sys.exit(int(ExitCode.CONFIG))
    descriptor = os.memfd_create(f"{program} {system}", 0)  # stays open in what follows
    with os.fdopen(descriptor, "w", closefd=False) as handed_over:
        json.dump(to_plain(processes), handed_over)
    os.lseek(descriptor, 0, os.SEEK_SET)
    sys.stdout.flush()
    sys.stderr.flush()
    folders = [str(Path(str(each.__file__)).parent.parent) for each in (pqc_mav_bringup, pqc_mav_common)]
    code = _CODE.format(list(dict.fromkeys(folders)))
    line = [sys.executable, *_FLAGS, "-c", code, program, "up", system, str(descriptor)]
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    os.execv(sys.executable, line)  # noqa: S606 - no shell is wanted
