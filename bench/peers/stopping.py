# SPDX-License-Identifier: Apache-2.0
"""An end from outside that is not lost: Python drops what a signal raises inside a hook of fork or a finaliser."""

import signal
from types import FrameType

DROPPED_IN = ("_execute_child", "__del__")  # functions that are running while Python drops exceptions
AGAIN_S = 0.05


def stop(_: int, frame: FrameType | None) -> None:
    """Raises KeyboardInterrupt where it counts, or a little later."""
    while frame is not None:
        if frame.f_code.co_name in DROPPED_IN:
            signal.setitimer(signal.ITIMER_REAL, AGAIN_S)
            return
        frame = frame.f_back
    raise KeyboardInterrupt


def listen() -> None:
    """To Ctrl-C and SIGTERM."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGALRM):
        signal.signal(number, stop)
