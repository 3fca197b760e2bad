# SPDX-License-Identifier: Apache-2.0
"""How the package's programs begin."""

import signal
import sys
from collections.abc import Callable
from typing import TypeVar

from pqc_mav_common.process import call_in_handler

EXIT_USAGE = 2
_Made = TypeVar("_Made")


def made(program: str, make: Callable[[], _Made]) -> _Made | None:
    """What `make` returns; None once its ValueError was told, which says what argument is wrong."""
    try:
        return make()
    except ValueError as error:
        print(f"{program}: {error}", file=sys.stderr)
        return None


def on_stop(stop: Callable[[], object]) -> None:
    """Call `stop` when SIGINT or SIGTERM arrives."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: call_in_handler(stop))
