# SPDX-License-Identifier: Apache-2.0
"""The loop: it works while somebody looks, tells changes alone, survives a fault, and waits for nobody."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from starlette.websockets import WebSocket

from pqc_mav_dashboard import hub as module
from pqc_mav_dashboard.day import Day
from pqc_mav_dashboard.errors import Refused
from pqc_mav_dashboard.hub import Hub
from pqc_mav_dashboard.picture import End, Picture


class Source:
    """One that counts what is asked of it."""

    def __init__(self) -> None:
        self.started = self.stopped = self.asked = 0
        self.rates = {"d1": 1.0, "d2": 1.0}
        self.fault = False
        self.steered: list[tuple[str, float]] = []

    async def start(self) -> None:
        self.started += 1

    async def stop(self) -> None:
        self.stopped += 1

    async def picture(self, drones: frozenset[str], *, whole: bool = False) -> Picture:
        self.asked += 1
        if self.fault:
            raise RuntimeError("a fault")
        status = {"state": "UP", "suite": ""}
        ends = [End("gcs", "gcs", drone, 0.0, status, {"tx_bytes_per_s": rate}) for drone, rate in self.rates.items()]
        return Picture(0.0, 0.0, ends)

    async def handshakes(self, drone: str) -> list[dict[str, Any]]:
        return []

    def events(self, after: int) -> tuple[int, list[dict[str, Any]]]:
        return 0, []

    def history(self, drone: str) -> None:
        return None

    async def suites(self) -> list[dict[str, Any]]:
        return []

    def actions(self, drone: str, picture: Picture) -> Mapping[str, str]:
        return {}

    async def act(self, action: str, drone: str, arguments: Mapping[str, str]) -> str:
        return ""

    def replay(self) -> None:
        return None

    def steer(self, what: str, value: float) -> None:
        self.steered.append((what, value))


class Line:
    """A WebSocket of which both ends are here. `slow` takes nothing."""

    def __init__(self, slow: bool = False) -> None:
        self.to_server: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self.to_viewer: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self.slow = slow
        self.to_server.put_nowait({"type": "websocket.connect"})
        self.socket = WebSocket({"type": "websocket", "headers": []}, self.to_server.get, self._send)

    async def _send(self, message: Any) -> None:
        if self.slow and message["type"] == "websocket.send":
            await asyncio.Event().wait()
        self.to_viewer.put_nowait(message)

    def say(self, **message: Any) -> None:
        self.to_server.put_nowait({"type": "websocket.receive", "text": json.dumps({"v": 1, **message})})

    async def hear(self, kind: str) -> dict[str, Any]:
        while True:
            message = await asyncio.wait_for(self.to_viewer.get(), 10)
            if message["type"] == "websocket.close":
                return {"kind": "closed", **message}
            if message["type"] == "websocket.send" and json.loads(message["text"])["kind"] == kind:
                return dict(json.loads(message["text"]))

    def leave(self) -> None:
        self.to_server.put_nowait({"type": "websocket.disconnect", "code": 1001})


@pytest.fixture
def source() -> Source:
    return Source()


@pytest.fixture
def made(source: Source, monkeypatch: pytest.MonkeyPatch) -> Hub:
    monkeypatch.setattr(module, "LINGER_S", 0.05)
    monkeypatch.setattr(module, "SHARE", 1.0)
    return Hub(source, Refused(), interval_s=0.01)


def test_the_source_works_only_while_somebody_looks(made: Hub, source: Source) -> None:
    async def scene() -> None:
        assert source.started == 0
        line = Line()
        serving = asyncio.create_task(made.serve(line.socket))
        line.say(look="")
        assert (await line.hear("fleet"))["whole"]
        line.leave()
        await serving
        while made.working:
            await asyncio.sleep(0.01)
        assert (source.started, source.stopped) == (1, 1)
        asked = source.asked
        await asyncio.sleep(0.1)
        assert source.asked == asked
        again = Line()
        serving = asyncio.create_task(made.serve(again.socket))
        again.say(look="")
        assert (await again.hear("fleet"))["whole"] and source.started == 2
        again.leave()
        await serving
        await made.close()

    asyncio.run(scene())


def test_only_changes_are_told_after_the_first_time(made: Hub, source: Source) -> None:
    async def scene() -> None:
        line = Line()
        serving = asyncio.create_task(made.serve(line.socket))
        line.say(look="")
        assert len((await line.hear("fleet"))["rows"]) == 2
        source.rates["d2"] = 2.0
        while not (rows := (await line.hear("fleet"))["rows"]):
            pass
        assert [row[0] for row in rows] == ["d2"]
        del source.rates["d1"]
        while not (gone := (await line.hear("fleet"))["gone"]):
            pass
        assert gone == ["d1"]
        line.leave()
        await serving
        await made.close()

    asyncio.run(scene())


def test_what_is_steered_during_a_round_is_told_whole_in_the_next(
    made: Hub, source: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A recording that goes elsewhere while a picture of the old place is made: its events would be shown twice."""
    made._interval_s = 0.1

    async def scene() -> None:
        line, at_work, go_on = Line(), asyncio.Event(), asyncio.Event()
        plain = source.picture

        async def picture(drones: frozenset[str], *, whole: bool = False) -> Picture:
            found = await plain(drones)
            at_work.set()
            await go_on.wait()
            return found

        serving = asyncio.create_task(made.serve(line.socket))
        line.say(look="d1")
        assert (await line.hear("drone"))["whole"]
        while (await line.hear("drone"))["whole"]:
            pass
        monkeypatch.setattr(source, "picture", picture)
        await at_work.wait()
        line.say(replay="seek", value=100)
        while not source.steered:
            await asyncio.sleep(0.001)
        go_on.set()
        assert "events" in await line.hear("drone")  # of the old place
        assert (await line.hear("drone"))["whole"]
        assert not (await line.hear("drone"))["whole"]
        line.leave()
        await serving
        await made.close()

    asyncio.run(scene())


def test_a_clock_that_is_set_back_shows_the_page_everything_anew(
    made: Hub, source: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain, times_s = source.picture, iter([5000.0, 5001.0, 3000.0, 3001.0])

    async def picture(drones: frozenset[str], *, whole: bool = False) -> Picture:
        found = await plain(drones, whole=whole)
        found.time_s = next(times_s, 3001.0)
        return found

    monkeypatch.setattr(source, "picture", picture)

    async def scene() -> None:
        line = Line()
        serving = asyncio.create_task(made.serve(line.socket))
        line.say(look="d1")
        told = [await line.hear("drone") for _ in range(4)]
        assert [each["whole"] for each in told] == [True, False, True, False]
        assert [[point[0] for point in each["points"]] for each in told] == [[5000.0], [5001.0], [3000.0], [3001.0]]
        line.leave()
        await serving
        await made.close()

    asyncio.run(scene())


@pytest.mark.parametrize(("replay", "lost"), [({}, [False, True, False]), (None, [False, True, True])])
def test_a_tunnel_of_a_recording_that_goes_back_is_not_lost_before_it_was_up(
    made: Hub, source: Source, monkeypatch: pytest.MonkeyPatch, replay: Any, lost: list[bool]
) -> None:
    """A clock that is set back takes no alarm away."""
    moments = [(100.0, "UP", "cs-x"), (101.0, "DOWN", ""), (50.0, "DOWN", "")]

    async def picture(drones: frozenset[str], *, whole: bool = False) -> Picture:
        time_s, state, suite = moments[min(source.asked, 2)]
        source.asked += 1
        return Picture(time_s, 0.0, [End("gcs", "gcs", "d1", 0.0, {"state": state, "suite": suite})])

    monkeypatch.setattr(source, "picture", picture)
    monkeypatch.setattr(source, "replay", lambda: replay)

    async def scene() -> None:
        line = Line()
        serving = asyncio.create_task(made.serve(line.socket))
        line.say(look="")
        assert [bool((await line.hear("fleet"))["alarms"]["first"]) for _ in range(3)] == lost
        line.leave()
        await serving
        await made.close()

    asyncio.run(scene())


def test_a_history_is_kept_while_nobody_looks(source: Source, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "STEP_S", 0.02)
    made = Hub(source, Refused(), interval_s=0.01, day=Day(tmp_path / "day"))
    plain, begin_s = source.picture, 1_800_000_000.0

    async def picture(drones: frozenset[str], *, whole: bool = False) -> Picture:
        found = await plain(drones, whole=whole)
        found.time_s = begin_s + 10.0 * source.asked
        return found

    monkeypatch.setattr(source, "picture", picture)

    async def scene() -> None:
        made.begin()
        while source.asked < 100:
            await asyncio.sleep(0.01)
        line = Line()
        serving = asyncio.create_task(made.serve(line.socket))
        assert (await line.hear("hello"))["spans_s"] == [600, 3600, 21600, 86400]
        line.say(look="d1", span_s=3600)
        points = (await line.hear("drone"))["points"]
        assert points[0][0] == begin_s + 10 and len(points) >= 100 and points[0][1] == 8.0
        line.say(look="d1", span_s=600)
        while not (shorter := await line.hear("drone"))["whole"]:
            pass
        assert points[0][0] < shorter["points"][0][0]
        line.leave()
        await serving
        assert made.working, "it goes on without a viewer"
        await made.close()

    asyncio.run(scene())


@pytest.mark.parametrize("value", [10**400, -(10**400), float("inf"), float("nan"), "1"])
def test_a_number_that_is_none_is_refused(made: Hub, value: Any) -> None:
    async def scene() -> None:
        line = Line()
        serving = asyncio.create_task(made.serve(line.socket))
        line.say(replay="seek", value=value)
        assert (await line.hear("nothing"))["code"] == 1008
        await serving
        assert made._refused.counts == {"bad_request": 1}
        await made.close()

    asyncio.run(scene())


def test_a_viewer_that_takes_nothing_holds_up_nobody_and_is_let_go(
    made: Hub, source: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "SEND_S", 0.3)

    async def scene() -> None:
        slow, quick = Line(slow=True), Line()
        tasks = [asyncio.create_task(made.serve(line.socket)) for line in (slow, quick)]
        slow.say(look="")
        quick.say(look="")
        for _ in range(20):
            await quick.hear("fleet")
        assert (await slow.hear("nothing"))["code"] == 1008
        assert made.viewers == 1
        for line in (slow, quick):
            line.leave()
        await asyncio.gather(*tasks)
        await made.close()

    asyncio.run(scene())


def test_a_fault_in_a_round_is_not_the_end(
    made: Hub, source: Source, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Where ROS 2's launch was imported, a logger tells those above it nothing.
    monkeypatch.setattr(module.LOG, "propagate", True)

    async def scene() -> None:
        line = Line()
        serving = asyncio.create_task(made.serve(line.socket))
        line.say(look="")
        await line.hear("fleet")
        source.fault = True
        asked = source.asked
        while source.asked < asked + 3:
            await asyncio.sleep(0.01)
        source.fault = False
        assert (await line.hear("fleet"))["kind"] == "fleet"
        assert "A round failed" in caplog.text
        line.leave()
        await serving
        await made.close()

    asyncio.run(scene())


def test_the_servers_end_is_told(made: Hub) -> None:
    async def scene() -> None:
        line = Line()
        serving = asyncio.create_task(made.serve(line.socket))
        line.say(look="")
        await line.hear("fleet")
        await made.close()
        closed = await line.hear("nothing")
        assert closed["code"] == 1001 and "ended" in closed["reason"]
        line.leave()
        await serving

    asyncio.run(scene())
