# SPDX-License-Identifier: Apache-2.0
"""Simulated radios as pseudo terminals, each a serial port that a program opens as it would a real one."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from pqc_mav_sim.impairment.model import ImpairedDirection
from pqc_mav_sim.impairment.settings import Impairment
from pqc_mav_sim.radio.air import Air
from pqc_mav_sim.radio.modem import Modem
from pqc_mav_sim.radio.profile import PROFILES, RadioProfile
from pqc_mav_sim.radio.terminal import Terminal

_STEP_S = 0.002
_CTS_AT = 17  # bytes of room; below that the radio stops its host


@dataclass(frozen=True)
class RadioTerms:
    """What is between the ports.

    Attributes:
        profile: kind of the radios.
        drones: radios in the air besides the one on the ground.
        loss: share of the time in which the air carries nothing.
        burst_ms: how long it does so each time.
        bit_errors: share of the bits that the air bends, which ECC is there for.
        byte_loss: share of bytes that a serial port loses, and as many that it invents.
        flow_control: the radio stops its host instead of losing what comes too fast.
        seed: of all that is drawn.
    """

    profile: RadioProfile = PROFILES["sik"]
    drones: int = 1
    loss: float = 0.0
    burst_ms: float = 200.0
    bit_errors: float = 0.0
    byte_loss: float = 0.0
    flow_control: bool = False
    seed: int = 1


class RadioPorts:
    """`ground` and `air` are paths of serial ports: that of the ground's radio, and those of the drones'."""

    def __init__(
        self, terms: RadioTerms, folder: Path | None = None, listener: Callable[[bytes], None] | None = None
    ) -> None:
        """With `folder` the ports are links in it: ground, air1, air2, ... `listener` hears every packet in the air."""
        self._terms = terms
        self._modems = [Modem(terms.profile) for _ in range(terms.drones + 1)]
        bad = Impairment(loss=terms.loss, dead_ms=terms.burst_ms) if terms.loss else Impairment()
        self._air = Air(self._modems, ImpairedDirection(f"air {terms.seed}", bad), listener, terms.bit_errors)
        self._random = random.Random(f"bytes {terms.seed}")
        links: list[Path | None] = [None] * len(self._modems)
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
            links = [folder / name for name in ("ground", *(f"air{i + 1}" for i in range(terms.drones)))]
        self._terminals = [Terminal(terms.profile.baud, link) for link in links]
        self.ground, *self.air = [each.path for each in self._terminals]
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="sim-radio", daemon=True)

    def start(self) -> None:
        """Begin to carry."""
        self._thread.start()

    def stop(self) -> None:
        """End, and remove the links."""
        self._ended.set()
        if self._thread.is_alive():
            self._thread.join()
        for terminal in self._terminals:
            terminal.unplug()

    def unplug(self, number: int) -> None:
        """The radio's adapter (0 is the ground's) is gone."""
        with self._lock:
            self._terminals[number].unplug()

    def fade(self, number: int, share: float) -> None:
        """From now on the air loses so much of what this radio sends, besides its terms; 0 ends it."""
        with self._lock:
            self._air.fade(number, share)

    def plug(self, number: int) -> None:
        """It is back: under its old name, if there is a folder of links."""
        with self._lock:
            self._terminals[number].plug(self._modems[number].profile.baud)

    def __enter__(self) -> RadioPorts:
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop()

    def summary(self) -> dict[str, Any]:
        """Counters of each radio; all of it is simulated."""
        with self._lock:
            radios = {Path(name).name: modem.summary() for name, modem in zip(self._names, self._modems, strict=True)}
        return {"simulated": True, "profile": self._terms.profile.says, "radios": radios}

    @property
    def _names(self) -> list[str]:
        return [self.ground, *self.air]

    def _run(self) -> None:
        begin = last = time.monotonic()
        may_read, may_write = [0.0] * len(self._modems), [0.0] * len(self._modems)
        while not self._ended.wait(_STEP_S):
            now = time.monotonic()
            passed, last = now - last, now
            with self._lock:
                for number, modem in enumerate(self._modems):
                    budget = passed * modem.profile.baud / 10
                    may_read[number] = min(may_read[number] + budget, 2 * budget + 1)
                    may_read[number] -= self._read(number, modem, int(may_read[number]), now - begin)
                self._air.advance(now - begin)
                for number, modem in enumerate(self._modems):
                    budget = passed * modem.profile.baud / 10
                    may_write[number] = min(may_write[number] + budget, 2 * budget + 1)
                    may_write[number] -= self._write(number, modem, int(may_write[number]))

    def _read(self, number: int, modem: Modem, most: int, now: float) -> int:
        if self._terms.flow_control or modem.registers.flow_control:
            most = min(most, modem.room - _CTS_AT)
        if most <= 0:
            return 0
        data = self._terminals[number].read(most, modem.profile.baud)
        modem.from_host(self._spoiled(data), now)
        return len(data)

    def _write(self, number: int, modem: Modem, most: int) -> int:
        data = modem.take_for_host(most)
        if data:
            self._terminals[number].write(self._spoiled(data), modem.profile.baud)
        return len(data)

    def _spoiled(self, data: bytes) -> bytes:
        share = self._terms.byte_loss
        if not share:
            return data
        out = bytearray()
        for byte in data:
            drawn = self._random.random()
            if drawn >= share:
                out.append(byte)
            if share <= drawn < 2 * share:
                out.append(self._random.randrange(256))
        return bytes(out)
