# SPDX-License-Identifier: Apache-2.0
"""A registry's bucket in NATS JetStream's key-value store. Whatever comes from it is a stranger's until it is verified.

The store keeps the newest value of each name on its disks and tells everybody who watches. It is trusted with nothing:
it can withhold, and that is all (docs/fleet.md).
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import IO, Any, cast
from urllib.parse import urlsplit

import nats
from nats.errors import Error as NatsError
from nats.errors import TimeoutError as NatsTimeoutError
from nats.js import JetStreamContext
from nats.js.api import ObjectMeta, ObjectStoreConfig
from nats.js.errors import APIError, BucketNotFoundError, NotFoundError
from nats.js.kv import KeyValue
from nats.js.object_store import ObjectStore

from pqc_mav_cli.errors import CliError

BUCKET = "pqcmav"
ENTRY = "entry."  # names of entries begin so; those of receipts and views otherwise
FLIGHTS = "pqcmav-flights"
_STREAM = f"OBJ_{FLIGHTS}"
_FLIGHTS_S, _FLIGHTS_BYTES = 90 * 86_400, 2 << 30  # unless the server's owner makes that bucket otherwise
_FULL = (10077, 10047)  # JetStream: maximum bytes exceeded; insufficient storage
_CONNECT_S = 3.0
_AGAIN_S = 0.5


class FullError(Exception):
    """The store takes no more."""


class DeniedError(NatsError):
    """This user may not do that; the server says so beside an answer that never comes."""


class _Noting:
    """A stream that tells to which subject chunks go, before the first does."""

    def __init__(self, stream: JetStreamContext, begun: Callable[[str], None]) -> None:
        self._stream, self._begun, self._told = stream, begun, False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    async def publish(self, subject: str, payload: bytes = b"", **more: Any) -> Any:
        if not self._told:
            self._told = True
            self._begun(subject)
        return await self._stream.publish(subject, payload, **more)


class Registry:
    """An open connection to the bucket."""

    def __init__(
        self, stream: JetStreamContext, bucket: KeyValue, lost: asyncio.Event, errors: list[Exception]
    ) -> None:
        self._stream = stream
        self._bucket = bucket
        self._lost = lost
        self._errors = errors  # what the server said besides its answers

    async def put(self, name: str, value: bytes) -> None:
        """In the store when this returns. Raises NatsError (DeniedError, if the server says why) or TimeoutError."""
        try:
            await self._bucket.put(name, value)
        except NatsTimeoutError:
            if self._errors:
                raise DeniedError(str(self._errors[-1]).removeprefix("nats: ")) from None
            raise

    async def watch(self, names: str, every_s: float = 3600.0) -> AsyncGenerator[tuple[str, bytes] | None, None]:
        """Values as they stand, None when these are through, then each new one, until the connection is lost.

        `names` may have a `*` for one part, and `>` for all that follow. What somebody deletes is not told: nothing
        follows from it. None comes as well if nothing else does for `every_s` [s].
        """
        watcher = await self._bucket.watch(names)
        try:
            while not self._lost.is_set():
                try:
                    found = await watcher.updates(timeout=every_s)  # type: ignore[no-untyped-call]
                except NatsTimeoutError:
                    found = None
                if found is None:
                    yield None
                elif found.value:
                    yield found.key, found.value
        finally:
            if not self._lost.is_set():
                await watcher.stop()  # type: ignore[no-untyped-call]

    async def put_flight(self, name: str, description: str, data: IO[bytes], begun: Callable[[str], None]) -> None:
        """In the store when this returns; `begun` gets what `drop` takes if it does not.

        Raises FullError, NatsError or TimeoutError.
        """
        try:
            await self._flights(make=True)
            store = ObjectStore(FLIGHTS, _STREAM, cast("Any", _Noting(self._stream, begun)))
            await store.put(name, cast("Any", data), ObjectMeta(name=name, description=description))
        except APIError as error:
            if error.err_code in _FULL:
                raise FullError(f"The registry has no room for more: {error.description}.") from None
            raise

    async def drop(self, chunks: str) -> None:
        """What an upload left that was cut off: nobody else knows of it. Raises NatsError or TimeoutError."""
        with suppress(NotFoundError):
            await self._stream.purge_stream(_STREAM, subject=chunks)

    async def get_flight(self, name: str, target: IO[bytes]) -> None:
        """What stands there. Raises NatsError or TimeoutError."""
        await (await self._flights()).get(name, writeinto=cast("Any", target))

    async def remove_flight(self, name: str) -> None:
        """Raises NatsError or TimeoutError."""
        await (await self._flights()).delete(name)

    async def flights(self) -> list[tuple[str, str, int]]:
        """Names, descriptions, and bytes. Raises NatsError or TimeoutError."""
        try:
            found = await (await self._flights()).list(ignore_deletes=True)
        except NotFoundError:
            return []
        return [(each.name, each.description or "", each.size or 0) for each in found]

    async def _flights(self, make: bool = False) -> ObjectStore:
        try:
            return await self._stream.object_store(FLIGHTS)
        except BucketNotFoundError:
            if not make:
                raise
        return await self._stream.create_object_store(
            bucket=FLIGHTS, config=ObjectStoreConfig(ttl=_FLIGHTS_S, max_bytes=_FLIGHTS_BYTES)
        )


@asynccontextmanager
async def registry(url: str) -> AsyncIterator[Registry]:
    """The bucket at a server, which is made if it is missing. Raises CliError with a sentence."""
    where = shown(url)
    lost = asyncio.Event()
    errors: list[Exception] = []

    async def failed(error: Exception) -> None:
        errors.append(error)

    async def gone() -> None:
        lost.set()

    try:
        connection = await nats.connect(
            url, name="pqcmav", connect_timeout=_CONNECT_S, allow_reconnect=False, max_reconnect_attempts=1,
            reconnect_time_wait=_AGAIN_S, error_cb=failed, disconnected_cb=gone, closed_cb=gone, ping_interval=5,
            max_outstanding_pings=2,
        )  # fmt: skip
    except (NatsError, OSError, ValueError, TimeoutError) as error:
        why = errors[0] if errors else error
        raise CliError(f"No registry answers at {where}: {str(why) or type(why).__name__}.") from None
    try:
        stream = connection.jetstream()
        try:
            bucket = await stream.key_value(BUCKET)
        except BucketNotFoundError:
            bucket = await stream.create_key_value(bucket=BUCKET, history=1)
        yield Registry(stream, bucket, lost, errors)
    except (NatsError, TimeoutError) as error:
        raise CliError(f"The registry at {where} does not do that: {str(error) or type(error).__name__}.") from None
    finally:
        await connection.close()


async def always(url: str, told: Callable[[str], None]) -> AsyncIterator[Registry]:
    """Connections to the bucket, one after the other, for ever; tells once why there is none, and "" when there is."""
    why: str | None = None
    while True:
        try:
            async with registry(url) as found:
                if why != "":
                    told("")
                why = ""
                yield found
        except CliError as error:
            if not why:
                told(str(error))
            why = str(error)
        await asyncio.sleep(_AGAIN_S)


def shown(url: str) -> str:
    """Without a password."""
    parts = urlsplit(url)
    return f"{parts.hostname or url}:{parts.port or 4222}"
