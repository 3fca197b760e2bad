# SPDX-License-Identifier: Apache-2.0
"""What `pqcmav demo --scenario` does: prepare, fly, draw, judge."""

from contextlib import ExitStack
from functools import partial
from pathlib import Path

from pqc_mav_cli.demo.output import line_a_second, print_result
from pqc_mav_cli.demo.run import DemoState
from pqc_mav_cli.demo.scenario_recorder import ScenarioRecorder
from pqc_mav_cli.demo.scenario_run import ScenarioRun
from pqc_mav_cli.demo.scenario_view import progress_line, summary
from pqc_mav_cli.demo.scenarios import SCENARIOS
from pqc_mav_cli.ending import INTERRUPTED
from pqc_mav_cli.errors import CliError, ExitCode, engine_errors
from pqc_mav_cli.interruptible import run_interruptible

HEARD = ("status", "thermal", "battery", "link", "decision")


def fly_scenario(name: str, rate_hz: float, plot: str, as_json: bool) -> int:
    """Flies one scenario and judges it. Returns the exit code. Raises CliError."""
    if name not in SCENARIOS:  # others fly over a link of their own (command.py)
        listed = ", ".join((*SCENARIOS, "thin-link", "radio", "two-ways"))
        raise CliError(f"There is no scenario '{name}'; choose one of: {listed}.", ExitCode.USAGE)
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
    return print_result(result, lambda: summary(result), run.state.lines, as_json)


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
        return ScenarioRun(scenario, values, watcher, recorder, environment, line_a_second(partial(_line, recorder)))
    except BringupError as error:
        raise CliError(str(error)) from None


def _line(recorder: ScenarioRecorder, state: DemoState, now_s: float) -> str:
    heard = {name: recorder.newest(name) for name in HEARD}
    return progress_line(state.elapsed_s(now_s), state.duration_s, state.phase, heard)
