# SPDX-License-Identifier: Apache-2.0
"""Runs a scenario: the demo with senses and policy, a simulated board, and whatever is done to the vehicle.

The order of starting and ending is the demo's (see run.py), so that both applications count every message.
"""

import asyncio
import time
from collections.abc import Callable
from pathlib import Path

from pqc_mav_bringup.scenario_system import SCENARIO
from pqc_mav_bringup.systems import DETECT, GROUND, POLICY, SENSING, VEHICLE
from pqc_mav_cli.demo.run import COUNTERS_LIMIT_S, DRONE_PROXY, GCS_PROXY, UP_LIMIT_S, DemoRun, DemoState
from pqc_mav_cli.demo.scenario_recorder import ScenarioRecorder
from pqc_mav_cli.demo.scenario_result import ScenarioResult
from pqc_mav_cli.demo.scenarios import IDLE_W, Event, Scenario, Schedule
from pqc_mav_cli.errors import CliError
from pqc_mav_cli.ros_session import Watcher
from pqc_mav_proxy.names import DROP_REASONS
from pqc_mav_sim.board_thermal import BoardThermal
from pqc_mav_sim.flood import Flood
from pqc_mav_sim.impairment.link import A_TO_B, B_TO_A
from pqc_mav_sim.impairment.relay import Relay

DRONE_SENSING, DRONE_POLICY, DRONE_DETECT = f"drone/{SENSING}", f"drone/{POLICY}", f"drone/{DETECT}"
HOST = "127.0.0.1"
TURN_S = 0.1
BOARD_S = 0.2


class ScenarioRun(DemoRun):
    """One scenario. `values` are the arguments of SCENARIO; `on_tick(state)` is called four times a second."""

    def __init__(
        self,
        scenario: Scenario,
        values: dict[str, str],
        watcher: Watcher,
        recorder: ScenarioRecorder,
        environment: dict[str, str],
        on_tick: Callable[[DemoState], None],
    ) -> None:
        course = scenario.take_off_s, scenario.land_s, scenario.altitude_m
        super().__init__(values, scenario.duration_s, watcher, environment, on_tick, SCENARIO, course)
        self.scenario = scenario
        self.scenario_result = ScenarioResult(scenario, recorder.trace)
        self._recorder = recorder
        self._schedule = Schedule(scenario.events)
        self._board = BoardThermal(IDLE_W)
        self._thermal_root = Path(values["thermal_root"])
        self._floods: list[Flood] = []
        self._relay = self._make_relay(values) if scenario.relayed else None

    def _make_relay(self, values: dict[str, str]) -> Relay:
        try:
            return Relay(
                int(values["data_port"]),
                listen=int(values["air_data_port"]),
                seed=1,
            )
        except OSError as error:
            raise CliError(f"The simulated link cannot be set up: {error.strerror}.") from None

    async def run_scenario(self) -> ScenarioResult:
        """Runs it all. Always returns with every process ended; a failure is in the result's `error`."""
        result = self.scenario_result
        self._board.write(self._thermal_root)
        if self._relay is not None:
            self._relay.start()
        tasks = [asyncio.create_task(self._tick()), asyncio.create_task(self._simulate_board())]
        try:
            await self._tunnel_up()
            await self._senses_up()
            await self._flight()
            await self._take_reports(result)
            await self._count()
        except CliError as error:
            result.error = str(error)
        finally:
            self.state.phase = "shutting down"
            self._end_flood()
            await self._end()
            if self._relay is not None:
                self._relay.stop()
            for task in tasks:
                task.cancel()
            result.exit_codes = dict(self.result.exit_codes)
        return result

    async def _senses_up(self) -> None:
        self.state.phase = "sensors, policy, detector"
        self._start(DRONE_SENSING)
        self._start(DRONE_POLICY)
        self._start(DRONE_DETECT)
        self._start(GROUND)
        await self._until(lambda: self.state.ground, UP_LIMIT_S, "The ground client did not start")
        self._start(VEHICLE)
        await self._until(self._vehicle_heard, UP_LIMIT_S, "The ground client heard nothing from the vehicle")
        await self._until(
            self._recorder.ready, UP_LIMIT_S, "Sensing, policy or detector did not start within {limit:g} s"
        )

    async def _flight(self) -> None:
        state = self.state
        self._recorder.begin()
        state.flight_began_s = time.monotonic()
        state.phase = "flying"
        view = state.view(DRONE_PROXY)
        self.scenario_result.start_suite = view.status.suite if view else ""
        while (now_s := time.monotonic() - state.flight_began_s) < self.scenario.duration_s:
            for event in self._schedule.due(now_s):
                self._apply(event)
            await self._sleep(TURN_S)

    def _apply(self, event: Event) -> None:
        self._recorder.event(event.text)
        if event.board_w is not None:
            self._board.power_w = event.board_w
        if event.link is not None:
            assert self._relay is not None, "an event about the link in a scenario without one"
            self._relay.impair(event.link)
        if event.flood_hz is not None:
            self._end_flood()
            if event.flood_hz > 0:
                self._floods = [self._flood(port, way, event.flood_hz) for port, way in self._targets()]

    def _targets(self) -> list[tuple[int, str]]:
        """The encrypted ports of both ends, and the direction whose frames go there."""
        gcs_port, drone_port = self._ports
        return [(gcs_port, A_TO_B), (drone_port, B_TO_A)]

    def _flood(self, port: int, way: str, rate_hz: float) -> Flood:
        relay = self._relay
        assert relay is not None, "an attacker on the path in a scenario without one"
        return Flood(HOST, port, rate_hz, lambda: relay.overheard(way)).start()

    def _end_flood(self) -> None:
        self.scenario_result.flood_sent += sum(flood.stop() for flood in self._floods)
        self._floods = []

    async def _count(self) -> None:
        state, result = self.state, self.scenario_result
        if self._relay is not None:
            result.link_lost = (self._relay.lost(A_TO_B), self._relay.lost(B_TO_A))
        counted_s = time.time()

        def fresh() -> bool:
            views = [state.view(label) for label in (DRONE_PROXY, GCS_PROXY)]
            return all(view is not None and view.stats_read_s[0] > counted_s for view in views)

        await self._until(fresh, COUNTERS_LIMIT_S, "The proxies' counters did not arrive")
        for label in (DRONE_PROXY, GCS_PROXY):
            view = state.view(label)
            assert view is not None
            result.refused += sum(int(getattr(view.stats, f"drop_{reason}")) for reason in DROP_REASONS)
            if label == DRONE_PROXY:
                result.final_suite = view.status.suite

    async def _simulate_board(self) -> None:
        while True:
            self._board.advance(time.monotonic())
            self._board.update(self._thermal_root)
            await asyncio.sleep(BOARD_S)
