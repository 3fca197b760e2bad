# SPDX-License-Identifier: Apache-2.0
"""A station's finished recordings go into the registry, each once, while the rest of its work goes on."""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import Callable
from pathlib import Path

from nats.errors import Error as NatsError

from pqc_mav_cli.errors import CliError, ExitCode
from pqc_mav_cli.fleet.flights import look_into, seal
from pqc_mav_cli.fleet.store import FullError, Registry
from pqc_mav_cli.fleet.view import Key
from pqc_mav_common.atomic_file import atomic_write
from pqc_mav_recorder.file import RecordingError

_LOOK_S = 5.0


class Sender:
    """Sends what the recorder has completed in a folder: it gives a file its name `*.mcap` at the end."""

    def __init__(self, gcs_id: str, folder: Path, state: Path, say: Callable[[str], None]) -> None:
        """Raises CliError for a folder that is none, or a list of sent files that cannot be read."""
        if not folder.is_dir():
            raise CliError(f"{folder} is no folder of recordings.", ExitCode.USAGE)
        self._gcs_id, self._folder, self._file, self._say = gcs_id, folder, state, say
        try:
            kept = json.loads(state.read_text()) if state.exists() else {"sent": [], "begun": ""}
            self._sent, self._begun = {str(each) for each in kept["sent"]}, str(kept["begun"])
        except (OSError, ValueError, TypeError, KeyError):
            raise CliError(f"{state} cannot be read; without it, all flights are sent again.", ExitCode.USAGE) from None
        self._too_large: set[str] = set()
        self._why = ""

    async def run(self, registry: Registry, key: Callable[[], Key | None]) -> None:
        """For ever. What goes wrong is said once, and tried again."""
        while True:
            try:
                if self._begun:  # and cut off
                    await registry.drop(self._begun)
                    self._keep("")
                if now := key():
                    for path in sorted(self._folder.glob("*.mcap")):
                        if path.name not in self._sent | self._too_large:
                            await self._send(registry, now, path)
                self._why = ""
            except (NatsError, OSError, TimeoutError) as error:
                why = f"flights wait: {str(error) or type(error).__name__}"
                if why != self._why:
                    self._say(why)
                self._why = why
            await asyncio.sleep(_LOOK_S)

    async def _send(self, registry: Registry, key: Key, path: Path) -> None:
        with tempfile.TemporaryFile(dir=self._file.parent) as sealed:
            try:
                flight = await asyncio.to_thread(look_into, self._gcs_id, path)
            except (RecordingError, ValueError) as error:
                self._note(path, f"is not sent: {error}")
                return
            with path.open("rb") as source:
                description = await asyncio.to_thread(seal, key, flight, source, sealed)
            while True:
                sealed.seek(0)
                try:
                    await registry.put_flight(flight.name, description, sealed, self._keep)
                    break
                except FullError as error:
                    if not await self._made_room(registry, flight.size):
                        self._too_large.add(path.name)
                        self._say(f"{path.name}, {flight.size:,} bytes, is not sent before a restart: {error}")
                        return
        self._note(path, f"sent, {flight.size:,} bytes")

    async def _made_room(self, registry: Registry, size: int) -> bool:
        """The oldest of this station's own goes if that helps; those of others are not its business."""
        there = await registry.flights()
        own = sorted((name, taken) for name, _, taken in there if name.startswith(f"{self._gcs_id}/"))
        if sum(taken for _, taken in own) < size:
            return False
        await registry.remove_flight(own[0][0])
        self._say(f"{own[0][0]} gave way to a newer flight: the registry is full")
        return True

    def _note(self, path: Path, what: str) -> None:
        self._sent.add(path.name)
        self._keep("")
        self._say(f"{path.name} {what}")

    def _keep(self, begun: str) -> None:
        """What was sent, and the chunks of what is being sent: if that is cut off, they would fill the store."""
        self._begun = begun
        there = {each.name for each in self._folder.glob("*.mcap")}
        atomic_write(self._file, json.dumps({"sent": sorted(self._sent & there), "begun": begun}))
