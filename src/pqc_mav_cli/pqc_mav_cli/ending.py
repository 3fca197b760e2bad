# SPDX-License-Identifier: Apache-2.0
"""How `pqcmav` ends, whatever ends it: with an exit code, and with at most one line instead of a traceback.

Ctrl-C has three times: while Python imports there is nothing to tidy up, and it ends the process as any program; a
command gets a KeyboardInterrupt; and when the command is done, it ends the process again.
"""

from __future__ import annotations

import errno
import os
import signal
import sys
import threading
from collections.abc import Callable

from pqc_mav_bringup.printer import discard
from pqc_mav_cli.console import print_error
from pqc_mav_cli.errors import CliError, ExitCode
from pqc_mav_common.errors import ProcessError

INTERRUPTED = 128 + signal.SIGINT
# What the machine refuses, not a fault of ours: full, read-only or broken disks, files that are somebody else's.
_REFUSALS = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EROFS, errno.EACCES, errno.EPERM}


def interrupts_end() -> None:
    """From now on Ctrl-C ends the process at once, without a word."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def interrupts_raise() -> None:
    """From now on Ctrl-C is a KeyboardInterrupt, so that what was begun is undone."""
    sys.unraisablehook = _interrupts_come_again
    signal.signal(signal.SIGINT, signal.default_int_handler)


def _interrupts_come_again(lost: sys.UnraisableHookArgs) -> None:
    """A Ctrl-C that falls into a callback of the interpreter, which prints and forgets it, comes again after it."""
    if lost.exc_type is KeyboardInterrupt:
        threading.Timer(0.01, os.kill, (os.getpid(), signal.SIGINT)).start()
    else:
        sys.__unraisablehook__(lost)


def fill_standard_streams() -> None:
    """Opens what the caller closed (`>&-`), so that no socket gets its number and is printed into."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    sys.stdout = sys.stdout or os.fdopen(1, "w")
    sys.stderr = sys.stderr or os.fdopen(2, "w")


def ended(command: Callable[[], int]) -> int:
    """Runs a command. Returns its exit code; every error that is no fault of ours is one line on stderr."""
    try:
        code = command()
        sys.stdout.flush()
        return code
    except (CliError, ProcessError) as error:
        print_error(error)
        return error.exit_code
    except KeyboardInterrupt:
        return INTERRUPTED
    except ImportError as error:
        # That of an extension module which was interrupted while it began.
        if KeyboardInterrupt not in (type(error.__cause__), type(error.__context__)):
            raise
        return INTERRUPTED
    except SystemExit as error:
        # rich and click turn a BrokenPipeError into one.
        if not isinstance(error.__context__, BrokenPipeError):
            raise
        discard(sys.stdout)
        return ExitCode.OK
    except BrokenPipeError:
        # A reader that has seen enough is no failure.
        discard(sys.stdout)
        return ExitCode.OK
    except OSError as error:
        if error.errno not in _REFUSALS:
            raise
        if not error.filename:
            discard(sys.stdout)  # what it still holds would fail again while Python ends
        print_error(f"Cannot {f'use {error.filename}' if error.filename else 'write the output'}: {error.strerror}.")
        return ExitCode.FAILED
