"""What `pqcmav demo --scenario` does: prepare, fly, draw, judge."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from pqc_mav_cli.console import console, note, print_json
from pqc_mav_cli.demo.run import DemoState
from pqc_mav_cli.demo.scenario_recorder import ScenarioRecorder
from pqc_mav_cli.demo.scenario_run import ScenarioRun
from pqc_mav_cli.demo.scenario_view import progress_line, summary
from pqc_mav_cli.demo.scenarios import SCENARIOS
from pqc_mav_cli.errors import CliError, ExitCode, engine_errors
from pqc_mav_cli.interruptible import INTERRUPTED, run_interruptible

HEARD = ("status", "thermal", "battery", "link", "decision")


def fly_scenario(name: str, rate_hz: float, plot: str, as_json: bool) -> int:
    """Flies one scenario and judges it. Returns the exit code. Raises CliError."""
    if name not in SCENARIOS:
        raise CliError(f"There is no scenario '{name}'; there are: {', '.join(SCENARIOS)}.", ExitCode.USAGE)
    path = Path(plot or f"pqcmav-demo-{name}.png").expanduser()
    with ExitStack() as stack:
        run = _prepare(stack, name, rate_hz)
        result = run_interruptible(run.run_scenario())
        if result is None:
            return INTERRUPTED
    if result.trace.decisions:
        from pqc_mav_cli.demo.scenario_plot import draw

        draw(result, path)
        result.plot = str(path)
    if as_json:
        print_json(result.as_json())
    else:
        console().print(summary(result))
    if not result.passed:
        for label, line in list(run.state.lines)[-15:]:
            note(f"  {label} | {line}")
    return ExitCode.OK if result.passed else ExitCode.FAILED


def _prepare(stack: ExitStack, name: str, rate_hz: float) -> ScenarioRun:
    from pqc_mav_bringup.description import BringupError
    from pqc_mav_cli.demo.scenario_session import scenario_session
    from pqc_mav_cli.ros_session import own_domain, ros_node, watch

    scenario = SCENARIOS[name]
    try:
        with engine_errors():
            values = stack.enter_context(scenario_session(scenario, rate_hz))
        environment = stack.enter_context(own_domain())
        watcher = stack.enter_context(watch())
        recorder = ScenarioRecorder(stack.enter_context(ros_node("pqcmav_scenario")))
        return ScenarioRun(scenario, values, watcher, recorder, environment, _lines(recorder))
    except BringupError as error:
        raise CliError(str(error)) from None


def _lines(recorder: ScenarioRecorder) -> Callable[[DemoState], None]:
    """One line per second on stderr."""
    next_s = 0.0

    def tick(state: DemoState) -> None:
        nonlocal next_s
        now_s = time.monotonic()
        if now_s >= next_s:
            next_s = now_s + 1.0
            heard = {name: recorder.newest(name) for name in HEARD}
            note(progress_line(state.elapsed_s(now_s), state.duration_s, state.phase, heard))

    return tick
