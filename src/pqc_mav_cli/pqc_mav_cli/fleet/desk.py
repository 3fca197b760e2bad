# SPDX-License-Identifier: Apache-2.0
"""The operator's side of a registry: tells it, and hears what the stations confirm."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Any

from nats.js.errors import Error as JetStreamError

from pqc_mav_cli.errors import CliError
from pqc_mav_cli.fleet import entry
from pqc_mav_cli.fleet.book import Book
from pqc_mav_cli.fleet.flights import Box, Flight, described, unseal
from pqc_mav_cli.fleet.store import ENTRY, registry
from pqc_mav_cli.fleet.view import View, opened
from pqc_mav_cli.wording import counted

_LOOK_S = 0.2


async def told(
    book: Book,
    decided: Callable[[], Mapping[str, Mapping[str, Any]]],
    url: str,
    confirm_s: float,
    heard: Callable[[str, str, str], None],
) -> tuple[list[str], bool]:
    """Publishes what is `decided` by the book as it is then; `heard` gets station, name and outcome of confirmations.

    Returns the stations that have not confirmed all of it in time, and whether one refused. Raises CliError.
    """
    book.stations()  # before anything is asked
    async with registry(url) as found:
        with book.alone():  # until all is there: of two revisions the newer one must stay
            stations, entries = book.stations(), decided()
            for name, made in book.changed(stations, entries).items():
                await found.put(ENTRY + name, made)
        open_ = {(gcs_id, name) for gcs_id in stations for name in entries}
        refused = False
        until_s = asyncio.get_running_loop().time() + confirm_s
        async with aclosing(found.watch("receipt.>", _LOOK_S)) as receipts:
            async for each in receipts:
                if isinstance(each, tuple):
                    gcs_id, name = _said_by(each[0])
                    if (gcs_id, name) in open_:
                        revision = book.entries[name]["revision"]
                        outcome = entry.confirmed(book.operator, gcs_id, name, revision, each[1])
                        if outcome is not None:
                            open_.remove((gcs_id, name))
                            refused = refused or outcome.startswith("refused")
                            heard(gcs_id, name, outcome)
                if not open_ or asyncio.get_running_loop().time() > until_s:
                    break
    return sorted({gcs_id for gcs_id, _ in open_}), refused


async def confirmations(book: Book, url: str) -> dict[tuple[str, str], str]:
    """What each station says of the newest revision of each entry. Raises CliError."""
    said = {}
    async with registry(url) as found, aclosing(found.watch("receipt.>")) as receipts:
        async for each in receipts:
            if not isinstance(each, tuple):
                break
            gcs_id, name = _said_by(each[0])
            if name in book.entries:
                revision = book.entries[name]["revision"]
                outcome = entry.confirmed(book.operator, gcs_id, name, revision, each[1])
                if outcome is not None:
                    said[(gcs_id, name)] = outcome
    return said


async def views(book: Book, url: str) -> dict[str, View]:
    """What each station said last of its drones. Raises CliError."""
    said: dict[str, View] = {}
    stations, least = book.stations(), book.least()
    async with registry(url) as found, aclosing(found.watch("view.*")) as told:
        async for each in told:
            if not isinstance(each, tuple):
                break
            gcs_id = each[0].removeprefix("view.")
            if gcs_id in stations and (view := opened(book.operator, gcs_id, each[1], least)):
                said[gcs_id] = view
    return said


async def flights_of(book: Book, url: str) -> tuple[list[tuple[Flight, Box]], int]:
    """What the stations have sent, the oldest first, and how much there is that none has. Raises CliError."""
    async with registry(url) as found:
        told = [described(book.operator, *each) for each in await found.flights()]
    good = [each for each in told if each is not None]
    return sorted(good, key=lambda each: (each[0].begin_s, each[0].name)), len(told) - len(good)


async def fetched(wanted: Sequence[tuple[Flight, Box]], url: str, folder: Path, say: Callable[[str], None]) -> None:
    """Brings flights into a folder, each whole or not at all. Raises CliError, in the end for what failed."""
    failed = 0
    async with registry(url) as found:
        for flight, box in wanted:
            target = folder / f"{flight.gcs_id}-{flight.file}"
            if target.exists():
                continue
            partial = target.with_name(f".{target.name}.partial")
            try:
                with tempfile.TemporaryFile(dir=folder) as sealed, partial.open("xb") as plain:
                    await found.get_flight(flight.name, sealed)
                    sealed.seek(0)
                    await asyncio.to_thread(unseal, box, sealed, plain)
                partial.rename(target)
                say(f"{target}")
            except (CliError, JetStreamError) as error:
                failed += 1
                say(f"{flight.name}: {str(error) or type(error).__name__}")
            except OSError as error:
                raise CliError(f"{target} cannot be written: {error.strerror}.") from None
            finally:
                partial.unlink(missing_ok=True)
    if failed:
        raise CliError(f"{counted(failed, 'flight')} cannot be fetched: see above.")


def _said_by(receipt: str) -> tuple[str, str]:
    """Station and entry of a receipt, by the name that it has in the store; anybody may have written it there."""
    gcs_id, _, name = receipt.removeprefix("receipt.").partition(".")
    return gcs_id, name
