# SPDX-License-Identifier: Apache-2.0
"""Follows the events of one engine without a thread: an engine at which nothing happens costs nothing."""

import asyncio
import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from pqc_mav_common.local_socket import VERSION, Place

LONGEST = 1 << 18  # bytes of a line


async def follow(place: Place, take: Callable[[Mapping[str, Any]], None]) -> None:
    """Gives `take` each event, until the engine ends. Polls say what is wrong."""
    with suppress(OSError, ValueError):
        reader, writer = await asyncio.open_unix_connection(str(place.path), limit=LONGEST)
        try:
            writer.write(json.dumps({"v": VERSION, "command": "subscribe"}).encode() + b"\n")
            await writer.drain()
            await reader.readline()  # its answer
            while line := await reader.readline():
                event = json.loads(line)
                if isinstance(event, dict) and "event" in event:
                    take(event)
        finally:
            writer.close()
