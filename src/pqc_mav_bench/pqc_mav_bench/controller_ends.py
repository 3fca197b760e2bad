# SPDX-License-Identifier: Apache-2.0
"""The two ends as the controller's node reaches them: the agent over services, its own side over a recorder."""

import threading
import time
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from pqc_mav_interfaces.action import Rekey
from pqc_mav_interfaces.msg import PowerSample
from pqc_mav_interfaces.srv import ClockSync, GetInfo, SetTraffic, StartSuite, StopSuite
from std_srvs.srv import Trigger

from pqc_mav_bench.clock import Exchange
from pqc_mav_bench.collectors.clock_id import clock_id
from pqc_mav_bench.collectors.environment import FIELDS, VERSIONS, environment
from pqc_mav_bench.collectors.power import Reading, summarise
from pqc_mav_bench.collectors.proxy_watch import ProxyWatch
from pqc_mav_bench.errors import LEASE_S, TAKEN, AgentLostError, AgentTakenError, BenchError
from pqc_mav_bench.rekey_result import RekeyResult
from pqc_mav_bench.ros_call import QUICK_S, RosCall
from pqc_mav_bench.scenario import scenario_of
from pqc_mav_bench.scenario_load import ScenarioLoad
from pqc_mav_bench.side_recorder import SideRecorder
from pqc_mav_bench.workload.spec import EndSpec
from pqc_mav_common import qos
from pqc_mav_common.action_call import ActionCall
from pqc_mav_common.key_values import flat, nested, to_key_values
from pqc_mav_common.waiting import wait_until

SLOW_S = 20.0  # starting and ending a run
REKEY_S = 90.0  # a handshake may take 45 s
READY_S = 1.0
KEEP_S = LEASE_S / 4
# The proxy lets another sender take the autopilot's place only after two seconds of silence, and each run has its own.
# On a busy machine it may have taken the last one's last message long after it was sent.
NEW_SENDER_S = 2.5
POWER_KEPT = 40_000  # ten a second: more than an hour, the longest data time
POWER_LATE_S = 0.6  # the model publishes twice a second


class RosGround:
    """The agent `name` ("/gcs/bench_agent"); `identity` names this controller to it.

    Methods raise AgentLostError when it does not answer, BenchError when it refuses, if they do not say otherwise.
    """

    def __init__(self, node: Any, name: str, identity: str) -> None:
        self._identity = identity
        self._info = RosCall(node, GetInfo, f"{name}/get_info")
        self._clock = RosCall(node, ClockSync, f"{name}/clock_sync")
        self._start = RosCall(node, StartSuite, f"{name}/start_suite")
        self._traffic = RosCall(node, SetTraffic, f"{name}/set_traffic")
        self._stop = RosCall(node, StopSuite, f"{name}/stop_suite")
        self._shutdown = RosCall(node, Trigger, f"{name}/shutdown")
        # The last one: DDS announces endpoints in order, so an agent that answers here has met those above and drops
        # no answer to them.
        self._ping = RosCall(node, Trigger, f"{name}/ping")

    def ready(self) -> bool:
        """Whether it answers and its proxy has a session; raises nothing."""
        try:
            pending = self._ping.begin(Trigger.Request(), READY_S)
            return bool(self._ping.end(pending, READY_S).success)
        except TimeoutError:
            return False

    def info(self) -> dict[str, Any]:
        """Its machine and software: fields of RunContext, and `clock_id`."""
        answer = _asked(self._info, GetInfo.Request(), QUICK_S)
        values = {name: getattr(answer, name) for name in (*FIELDS, *VERSIONS)}
        return {**values, "clock_id": flat(answer.config).get("clock_id", "")}

    def exchange(self) -> Exchange:
        """One exchange of time stamps."""
        t1 = time.monotonic_ns()
        answer = _asked(self._clock, ClockSync.Request(t1_ns=t1), QUICK_S)
        return Exchange(t1, answer.t2_ns, answer.t3_ns, time.monotonic_ns())

    def start_suite(self, suite: str, handshakes: int) -> int:
        """Collectors reset; the data time begins after `handshakes` good ones. Returns its monotonic clock [ns]."""
        request = StartSuite.Request(controller=self._identity, suite=suite, handshakes=handshakes)
        answer = _asked(self._start, request, SLOW_S)
        _accepted(answer)
        return int(answer.agent_ns)

    @contextmanager
    def kept(self) -> Iterator[None]:
        """Tells it every KEEP_S that this controller is there: it ends the run of one that was killed."""
        over = threading.Event()

        def tell() -> None:
            while not over.wait(KEEP_S):
                with suppress(TimeoutError):
                    self._traffic(SetTraffic.Request(controller=self._identity, run=True), QUICK_S)

        thread = threading.Thread(target=tell, daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()

    def start_traffic(self, workload: Mapping[str, Any]) -> None:
        """Generator on."""
        request = SetTraffic.Request(controller=self._identity, run=True, workload=to_key_values(workload))
        _accepted(_asked(self._traffic, request, SLOW_S))

    def quiet(self) -> int:
        """Generator off, the data time is over. Returns how many it sent."""
        answer = _asked(self._traffic, SetTraffic.Request(controller=self._identity, quiet=True), SLOW_S)
        _accepted(answer)
        return int(answer.sent)

    def stop_traffic(self, expected: int) -> None:
        """Ends the generator when the `expected` packets of the drone are there, or no more come."""
        request = SetTraffic.Request(controller=self._identity, expected=expected)
        _accepted(_asked(self._traffic, request, SLOW_S))

    def begin_stop(self, suite: str) -> Any:
        """Asks for the measurement; `end_stop` of what it returns waits for it."""
        try:
            return self._stop.begin(StopSuite.Request(controller=self._identity, suite=suite))
        except TimeoutError as error:
            raise AgentLostError(f"The agent is lost: {error}.") from None

    def end_stop(self, pending: Any) -> dict[str, Any]:
        """The measurement."""
        try:
            answer = self._stop.end(pending, SLOW_S)
        except TimeoutError as error:
            raise AgentLostError(f"The agent is lost: {error}.") from None
        _accepted(answer)
        return nested(answer.metrics)

    def abort(self, suite: str) -> None:
        """Ends what runs there, its traffic above all; raises nothing.

        Short waits: a controller that is told to end has PATIENCE_S of the supervisor for this and its last files.
        """
        quiet = SetTraffic.Request(controller=self._identity, quiet=True)
        stop = StopSuite.Request(controller=self._identity, suite=suite)
        for call, request in ((self._traffic, quiet), (self._stop, stop)):
            with suppress(TimeoutError):
                call.end(call.begin(request, READY_S), QUICK_S)

    def shutdown(self) -> None:
        """Ends the agent; raises nothing."""
        try:
            self._shutdown.end(self._shutdown.begin(Trigger.Request(), READY_S), QUICK_S)
        except TimeoutError:
            return


def _asked(call: RosCall, request: Any, limit_s: float) -> Any:
    try:
        return call(request, limit_s)
    except TimeoutError as error:
        raise AgentLostError(f"The agent is lost: {error}.") from None


def _accepted(answer: Any) -> None:
    if not answer.ok:
        kind = AgentTakenError if answer.message.startswith(TAKEN) else BenchError
        raise kind(f"The agent refused: {answer.message}")


class RosDrone:
    """The controller's own side: the proxy `proxy` ("/drone/pqc_proxy"), power from the topic `power`.

    Methods raise BenchError.
    """

    def __init__(self, node: Any, proxy: str, drone_id: str, power: str) -> None:
        self._watch = ProxyWatch(node, proxy, drone_id)
        self._recorder = SideRecorder(self._watch)
        self._load = ScenarioLoad()
        self._rekey = ActionCall(node, Rekey, f"{proxy}/rekey_action")
        self._power: deque[Reading] = deque(maxlen=POWER_KEPT)
        self._began_s = 0.0
        self._silent_since_s = float("-inf")
        node.create_subscription(PowerSample, power, self._take_power, qos.sensor(20))

    def close(self) -> None:
        """Ends traffic and load."""
        self._recorder.close()
        self._load.close()

    def info(self) -> dict[str, Any]:
        """Own machine and software, and `clock_id`."""
        return {**environment(), "clock_id": clock_id()}

    def wait_up(self, limit_s: float) -> bool:
        """Waits for a session."""
        return self._watch.wait_up(limit_s) and self._watch.wait(lambda: self._watch.counters() is not None, limit_s)

    def begin(self, suite: str, handshakes: int) -> None:
        """Collectors reset. The data time begins after so many good handshakes."""
        self._began_s = time.monotonic()
        self._power.clear()
        self._recorder.begin(suite, handshakes)

    def plain_address(self) -> str:
        """Where the drone's application sends to, host:port."""
        return str(self._watch.status.plain_local)

    def start_traffic(self, spec: EndSpec) -> None:
        """Generator on."""
        if spec.workload.generated:
            time.sleep(max(0.0, self._silent_since_s + NEW_SENDER_S - time.monotonic()))
        self._recorder.start_traffic(spec)

    def rekey(self, suite: str) -> RekeyResult:
        """Changes the suite of the running tunnel."""
        if not self._rekey.wait_ready(QUICK_S):
            raise BenchError(f"The drone's proxy is lost: nobody offers {self._rekey.name}.")
        pending = self._rekey.begin(Rekey.Goal(suite=suite, reason="benchmark"))
        if not pending.wait(REKEY_S):
            raise BenchError(f"The drone's proxy is lost: {self._rekey.name} did not answer within {REKEY_S:g} s.")
        answer = pending.result
        if answer is None:
            raise BenchError(f"The drone's proxy is lost: {pending.failure}")
        return RekeyResult(bool(answer.ok), float(answer.rekey_ms), str(answer.message))

    def begin_window(self) -> None:
        """The data time begins."""
        self._recorder.begin_window()

    def quiet(self) -> None:
        """The data time is over."""
        self._recorder.quiet()

    def stop_traffic(self, expected: int) -> int:
        """Ends the generator when the `expected` packets of the ground are there, or no more come.

        Returns how many it sent.
        """
        sent = self._recorder.stop_traffic(expected)
        self._silent_since_s = time.monotonic()
        return sent

    def finish(self) -> dict[str, Any]:
        """The measurement."""
        return self._recorder.finish()

    def abort(self) -> None:
        """Ends what runs; raises nothing."""
        self._recorder.abort()
        self._silent_since_s = time.monotonic()

    def handshakes(self) -> list[dict[str, Any]]:
        """Reports since `begin`."""
        return self._watch.handshakes_since(self._began_s)

    def power(self) -> dict[str, Any]:
        """Power during the data time; {} without a sensor."""
        window = self._recorder.window
        if window is None or not self._power:
            return {}
        wait_until(lambda: self._power[-1].at_s >= window[1], POWER_LATE_S)
        return summarise(list(self._power), *window)

    def set_load(self, scenario: str, *, emulate: bool) -> str:
        """Puts a scenario's load on. Returns "none", "detector" or "emulated". Raises OptionsError."""
        kind = self._load.set(scenario_of(scenario), emulate=emulate)
        self._recorder.extra_pids = {"load": self._load.pid} if self._load.pid else {}
        return kind

    def _take_power(self, message: Any) -> None:
        self._power.append(Reading.of(message, time.monotonic()))
