# SPDX-License-Identifier: Apache-2.0
"""The serial port of one radio: a pseudo terminal that can be unplugged, and takes a wrong rate for noise."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import random
import struct
import termios
import tty
from pathlib import Path

_TCGETS2, _SIZE, _SPEED_AT = 0x802C542A, 44, 40  # Linux' termios2, which has any rate as a number
_OUTPUT_SPEED = 5  # in what termios returns


class Terminal:
    """`path` is where a program opens it."""

    def __init__(self, baud: int, link: Path | None = None) -> None:
        """`link`: a name that stays when it is unplugged and plugged in again."""
        self._link = link
        self._device = self._port = -1
        self.path = ""
        self.plug(baud)

    def plug(self, baud: int) -> None:
        """It is there, at this rate until a program sets another one."""
        self._device, self._port = pty.openpty()
        tty.setraw(self._port)
        settings = termios.tcgetattr(self._port)
        settings[_OUTPUT_SPEED - 1] = settings[_OUTPUT_SPEED] = getattr(termios, f"B{baud}")
        termios.tcsetattr(self._port, termios.TCSANOW, settings)
        fcntl.fcntl(self._device, fcntl.F_SETFL, fcntl.fcntl(self._device, fcntl.F_GETFL) | os.O_NONBLOCK)
        self.path = os.ttyname(self._port)
        if self._link is not None:
            self._link.unlink(missing_ok=True)
            self._link.symlink_to(self.path)
            self.path = str(self._link)

    def unplug(self) -> None:
        """It is gone, also for the program that has it open."""
        if self._link is not None:
            self._link.unlink(missing_ok=True)
        for descriptor in (self._device, self._port):
            with contextlib.suppress(OSError):
                os.close(descriptor)
        self._device = self._port = -1

    def read(self, most: int, baud: int) -> bytes:
        """What a program wrote; nothing while it is unplugged."""
        if self._device < 0:
            return b""
        try:
            return self._heard(os.read(self._device, most), baud)
        except OSError:  # nothing there, or nobody has the port open
            return b""

    def write(self, data: bytes, baud: int) -> None:
        """To the program; one that does not read loses it."""
        if self._device < 0:
            return
        with contextlib.suppress(OSError):
            os.write(self._device, self._heard(data, baud))

    def _heard(self, data: bytes, baud: int) -> bytes:
        """At another rate than that of the sender bytes are noise."""
        (speed,) = struct.unpack_from("I", fcntl.ioctl(self._port, _TCGETS2, bytes(_SIZE)), _SPEED_AT)
        if speed == baud:
            return data
        return random.Random(data).randbytes(len(data))
