# SPDX-License-Identifier: Apache-2.0
"""`pqcmav fleet follow`: a station's entries, views, warnings and flights go between it and the registry."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine
from contextlib import aclosing, asynccontextmanager, suppress
from typing import Any, TypeVar

from nats.errors import Error as NatsError
from nats.errors import TimeoutError as NatsTimeoutError

from pqc_mav_cli.errors import CliError
from pqc_mav_cli.fleet.entry import Order
from pqc_mav_cli.fleet.follower import Follower
from pqc_mav_cli.fleet.hands import Hands
from pqc_mav_cli.fleet.sender import Sender
from pqc_mav_cli.fleet.store import ENTRY, DeniedError, Registry, always, shown
from pqc_mav_cli.fleet.view import View
from pqc_mav_cli.fleet.warning import AGAIN_S, Ear, Warned, told
from pqc_mav_common.local_socket import ControlError

_AGAIN_S = 1.0
_VIEW_S, _VIEW_SHARE = 2.0, 20.0  # how often a station tells of its drones, at most that part of its time
_WARNING = "warning."
_Value = TypeVar("_Value")


def name_of(hands: Hands, say: Callable[[str], None]) -> str:
    """The gcs_id of the ground station here, as soon as it runs: at boot either may be the first."""
    why = ""
    while True:
        try:
            return str(hands.gcs_id())
        except (CliError, ControlError) as error:
            if str(error) != why:
                why = str(error)
                say(f"waits: {why}")
        time.sleep(_AGAIN_S)


async def follow_registry(
    follower: Follower, hands: Hands, sender: Sender | None, url: str, say: Callable[[str], None]
) -> None:
    """For ever."""

    def connected(problem: str) -> None:
        say(f"{problem} All goes on as it is; asking again." if problem else f"follows the registry at {shown(url)}")

    work, warnings, denied = _Work(follower, hands, say), _Warnings(follower, hands, say), ""
    async for registry in always(url, connected):
        try:
            async with (
                aclosing(registry.watch(f"{ENTRY}>", _AGAIN_S)) as entries,
                aclosing(gathered(entries)) as batches,
                _beside(*warnings.both(registry), *([sender.run(registry, lambda: follower.key)] if sender else [])),
            ):
                await work.go_on(registry, batches)
        except NatsError as error:  # once more when there is a connection again
            if isinstance(error, DeniedError) and str(error) != denied:
                denied = str(error)
                say(f"the registry at {shown(url)} does not let this station tell what it does: {denied}")


class _Work:
    """What a station does by one connection after the other."""

    def __init__(self, follower: Follower, hands: Hands, say: Callable[[str], None]) -> None:
        self._follower, self._hands, self._say = follower, hands, say
        self._why = {"work": "", "view": ""}
        self._next_view_s = 0.0
        self._view: View | None = None
        self._long: list[tuple[Order, asyncio.Task[str]]] = []  # what must not delay an entry, such as a removal

    async def go_on(self, registry: Registry, batches: AsyncIterator[list[tuple[str, bytes] | None]]) -> None:
        """Until the connection is lost. Raises NatsError."""
        loaded = False
        async for batch in batches:
            for found in batch:
                if found is None:
                    loaded = True
                else:
                    self._follower.take(found[0].removeprefix(ENTRY), found[1])
            try:
                if loaded:
                    for order, long in await asyncio.to_thread(self._follower.work, self._hands):
                        self._long.append((order, asyncio.create_task(asyncio.to_thread(long))))
                    await self._finish()
                while self._follower.receipts:
                    await registry.put(*self._follower.receipts[0])
                    del self._follower.receipts[0]
                self._why["work"] = ""
            except NatsError:
                raise
            except (CliError, ControlError, OSError) as error:
                self._waits("work", error)
            try:  # what cannot be done does not make the station look dead
                if time.monotonic() >= self._next_view_s:
                    await self._tell(registry)
            except NatsError:
                raise
            except (CliError, ControlError, OSError) as error:
                self._next_view_s = time.monotonic() + _VIEW_S
                self._waits("view", error)

    async def _finish(self) -> None:
        for order, task in [each for each in self._long if each[1].done()]:
            self._long.remove((order, task))
            if error := task.exception():
                self._follower.finish(order, "")
                raise error
            await asyncio.to_thread(self._follower.finish, order, task.result())

    async def _tell(self, registry: Registry) -> None:
        begin_s = time.monotonic()
        self._view = await asyncio.to_thread(self._hands.look, self._view, _now_ms())
        self._why["view"] = ""
        if told := await asyncio.to_thread(self._follower.told, self._view):
            await registry.put(*told)
        now_s = time.monotonic()
        self._next_view_s = now_s + max(_VIEW_S, _VIEW_SHARE * (now_s - begin_s))

    def _waits(self, part: str, error: Exception) -> None:
        new = str(error) not in self._why.values()  # as if no ground station runs, which both parts find
        self._why[part] = str(error)
        if new:
            self._say(f"waits: {error}")


class _Warnings:
    """What this station's detector says goes to the others, and theirs to its drones."""

    def __init__(self, follower: Follower, hands: Hands, say: Callable[[str], None]) -> None:
        self._follower, self._hands, self._say = follower, hands, say
        self._ear = Ear(follower.gcs_id)
        self._denied = False

    def both(self, registry: Registry) -> tuple[Coroutine[Any, Any, None], Coroutine[Any, Any, None]]:
        """Until the connection is lost."""
        return self._tell(registry), self._hear(registry)

    async def _tell(self, registry: Registry) -> None:
        said, next_s, name = Warned(0, ""), 0.0, f"{_WARNING}{self._follower.gcs_id}"
        with suppress(NatsError):
            while True:
                await asyncio.sleep(_AGAIN_S)
                try:
                    found = await asyncio.to_thread(self._hands.alarm)
                except (CliError, ControlError, OSError, KeyError):  # it does not run, or is an older one
                    continue  # the others forget what was said
                again = found.level > 0 and time.monotonic() >= next_s
                if (found != said or again) and (key := self._follower.warning_key):
                    try:
                        await registry.put(name, told(key, self._follower.gcs_id, _now_ms(), found))
                        said, next_s = found, time.monotonic() + AGAIN_S
                    except NatsTimeoutError:
                        pass  # tried again, as what it says then
                    except DeniedError as error:
                        if not self._denied:
                            self._say(f"the registry does not let this station warn others: {error}")
                        self._denied, said, next_s = True, found, time.monotonic() + AGAIN_S

    async def _hear(self, registry: Registry) -> None:
        with suppress(NatsError):
            async with aclosing(registry.watch(f"{_WARNING}*")) as words:
                async for each in words:
                    if each is None:
                        continue
                    station = each[0].removeprefix(_WARNING)
                    if what := self._ear.take(self._follower.warning_key, station, each[1], _now_ms()):
                        with suppress(CliError, ControlError, OSError):
                            await asyncio.to_thread(self._hands.warn, station, what)


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


async def gathered(values: AsyncIterator[_Value]) -> AsyncGenerator[list[_Value], None]:
    """All that has come since the last time: what takes long is done once for many."""
    held: list[_Value] = []
    came = asyncio.Event()

    async def read() -> None:
        async for each in values:
            held.append(each)
            came.set()

    reading = asyncio.create_task(read())
    reading.add_done_callback(lambda _: came.set())
    try:
        while held or not reading.done():
            await came.wait()
            if not reading.done():
                came.clear()
            if held:
                batch, held[:] = held[:], []
                yield batch
        await reading
    finally:
        reading.cancel()
        await asyncio.wait({reading})


@asynccontextmanager
async def _beside(*works: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    """What is done meanwhile: a large flight, or a station that does not answer, must not delay an entry."""
    tasks = {asyncio.create_task(work) for work in works}
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
