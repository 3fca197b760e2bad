# SPDX-License-Identifier: Apache-2.0
"""The AT mode of a SiK radio, after its firmware 2.x (ArduPilot/SiK at.c). No clock: time is an argument (s)."""

from __future__ import annotations

from collections.abc import Callable

from pqc_mav_sim.radio.registers import NAMES, Registers

BANNER, VERSION, BOARD, FREQUENCY, BOOTLOADER = "SiK 2.2 on HM-TRP", "2.2", 78, 67, 1
GUARD_S = 1.0  # of silence before and after the three pluses
LONGEST = 16  # characters of a command; one more ends the mode
_PLUS, _BACK, _RETURN = ord("+"), b"\b\x7f", ord("\r")


class AtMode:
    """Between the serial port and the radio: hears `+++` in what passes, and answers commands once it has."""

    def __init__(self, registers: Registers, timing: Callable[[], list[str]], remote: Callable[[bytes], None]) -> None:
        """`timing`: the lines of ATI6. `remote` sends a command for the other radios."""
        self._registers = registers
        self._timing = timing
        self._remote = remote
        self._pluses = -1  # -1: not quiet for long enough
        self._due: float | None = GUARD_S
        self._now = 0.0
        self._command = bytearray()
        self._said = bytearray()
        self.active = False
        self.resets = 0

    def take(self, data: bytes, now: float) -> bytes:
        """Bytes of the host; returns those that are for the air."""
        out = bytearray()
        for byte in data:
            self.work(now)
            if self.active:
                self._type(byte)
            else:
                self._watch(byte, now)
                out.append(byte)
        return bytes(out)

    def work(self, now: float) -> None:
        """Notices that a silence was long enough."""
        self._now = now
        if self._due is None or now < self._due:
            return
        self._due = None
        if self._pluses == 3:
            self.active = True
            self._pluses = -1
            self._command[:] = b"AT"  # its OK tells the host
            self._run()
        elif self._pluses == -1:
            self._pluses = 0

    def take_answers(self) -> bytes:
        """What it said to the host since the last time."""
        out = bytes(self._said)
        self._said.clear()
        return out

    def run_for_other(self, command: bytes) -> bytes:
        """A command that came by the air (RT...): its answer, for the air."""
        if not 2 <= len(command) <= LONGEST or not command.startswith(b"RT"):
            return b""
        own, self._command = self._command, bytearray(b"A" + command[1:])
        before = self.take_answers()
        self._run()
        answer = self.take_answers()
        self._said += before
        self._command = own
        return answer

    def _watch(self, byte: int, now: float) -> None:
        if byte == _PLUS and 0 <= self._pluses < 2:
            self._pluses += 1
        elif byte == _PLUS and self._pluses >= 2:  # a fourth one does not end it, whatever the firmware's comment says
            self._pluses, self._due = 3, now + GUARD_S
        else:
            self._pluses, self._due = -1, now + GUARD_S

    def _type(self, byte: int) -> None:
        if byte == _RETURN:
            self._said += b"\r\n"
            self._run()
        elif byte in _BACK:
            if self._command:
                del self._command[-1]
                self._said += b"\b \b"
        elif len(self._command) >= LONGEST:
            self.active = False
            self._command.clear()
        elif 32 <= byte < 127:
            self._command += bytes([byte]).upper()
            self._said += bytes([byte]).upper()

    def _say(self, *lines: str) -> None:
        self._said += "".join(f"{line}\r\n" for line in lines).encode()

    def _run(self) -> None:
        text = self._command.decode()
        self._command.clear()
        if text.startswith("RT"):
            self._remote(text.encode())
        elif text.startswith("AT"):
            kinds: dict[str, Callable[[str], None]] = {
                "": self._ok,
                "&": self._ampersand,
                "I": self._inform,
                "S": self._register,
                "M": _say_nothing,
            }
            kinds |= {"O": self._leave, "Z": self._reset}
            kinds.get(text[2:3], self._refuse)(text[3:])

    def _refuse(self, _: str) -> None:
        self._say("ERROR")

    def _ok(self, _: str = "") -> None:
        self._say("OK")

    def _leave(self, _: str) -> None:
        self.active = False
        self._pluses, self._due = -1, self._now + GUARD_S

    def _reset(self, _: str) -> None:
        self._leave("")
        self._registers.reset()
        self.resets += 1

    def _ampersand(self, rest: str) -> None:
        if rest.startswith("F"):
            self._registers.default()
            self._ok()
        elif rest.startswith("W"):
            self._registers.save()
            self._ok()
        elif not rest.startswith("P") and rest not in ("T", "T=RSSI", "T=TDM"):  # which say nothing
            self._say("ERROR")

    def _inform(self, rest: str) -> None:
        answers = {"": BANNER, "0": BANNER, "1": VERSION, "2": str(BOARD), "3": str(FREQUENCY), "4": str(BOOTLOADER)}
        which = rest[:1]
        if which in answers:
            self._say(answers[which])
        elif which == "5":
            self._say(*(f"S{number}:{name}={self._registers.get(number)}" for number, name in enumerate(NAMES)))
        elif which == "6":
            self._say(*self._timing())
        elif which == "7":
            self._say("L/R RSSI: 140/138  L/R noise: 40/41 pkts: 0  txe=0 rxe=0 stx=0 srx=0 ecc=0/0 temp=25 dco=0")
        else:
            self._say("ERROR")

    def _register(self, rest: str) -> None:
        number, rest = _number(rest)
        number %= 256
        if number < len(NAMES) and rest.startswith("?"):
            self._say(str(self._registers.get(number)))
        elif 0 < number < len(NAMES) and rest.startswith("=") and self._registers.set(number, _number(rest[1:])[0]):
            self._ok()
        else:
            self._say("ERROR")


def _say_nothing(_: str) -> None:
    """Of mRo's boards alone."""


def _number(text: str) -> tuple[int, str]:
    """The decimal number that it begins with (0 without one, of 32 bits), and the rest."""
    size = next((place for place, each in enumerate(text) if not each.isdigit()), len(text))
    return int(text[:size] or 0) % 2**32, text[size:]
