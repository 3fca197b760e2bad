# SPDX-License-Identifier: Apache-2.0
"""`pqcmav demo`: a vehicle, the tunnel and a ground client on this machine, watched and judged."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from pqc_mav_cli.console import console
from pqc_mav_cli.demo.output import line_a_second, print_result
from pqc_mav_cli.ending import INTERRUPTED
from pqc_mav_cli.errors import CliError, ExitCode, engine_errors
from pqc_mav_cli.interruptible import run_interruptible

if TYPE_CHECKING:
    from pqc_mav_cli.demo.run import DemoRun, DemoState

SHORTEST_S, LONGEST_S = 3.0, 3600.0
DURATION_S = 30.0
RATE_HZ = 320.0


def demo(
    duration: Annotated[float, typer.Option(help="Seconds of flight.", min=SHORTEST_S, max=LONGEST_S)] = DURATION_S,
    suite: Annotated[str, typer.Option(help="Cipher suite: id or short code. Default: the configured one.")] = "",
    rate: Annotated[
        float | None,
        typer.Option(
            help="Messages per second of the vehicle. Default: 320; radio and two-ways: 226.", min=1.0, max=5000.0
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the result as JSON, and nothing else on stdout.")
    ] = False,
    scenario: Annotated[
        str,
        typer.Option(
            help="Fly a scenario for the policy: nominal, hot, low-battery, bad-link or attack (about 100 s); or "
            "thin-link: the same flight over 64 kbit/s with and without shaping; or radio: over a pair of simulated "
            "SiK radios, sealed and in the clear; or two-ways: by LTE, a radio and both (about 50 s each)."
        ),
    ] = "",
    plot: Annotated[
        str, typer.Option(help="File for the scenario's plot. Default: pqcmav-demo-<scenario>.png in this folder.")
    ] = "",
) -> int:
    """Fly a simulated vehicle through the tunnel and judge the result.

    The vehicle, both proxies and a ground client use fresh keys in a temporary folder, free ports of this machine and a
    ROS domain of their own, so a real system may run at the same time. The exit code is 0 if no message was lost,
    doubled or seen in the clear, every command was carried out, and every process ended cleanly. With --scenario the
    drone also runs its sensors and its policy, which has to change to lighter suites, lose no message, upgrade after
    landing, and give its reasons. `--scenario thin-link` flies twice at a time over a simulated link of 64 kbit/s:
    if the tunnel shapes it, every command must be answered at once. `--scenario radio` flies over simulated SiK radios,
    in the clear and sealed: a listener in the air must read nothing of it, and commands must still be answered.
    `--scenario two-ways` flies by LTE with outages, by a radio that fades, and by both: then commands must be answered.
    """
    if scenario:
        if suite or duration != DURATION_S:
            raise CliError(
                "--scenario has its own duration and suites: leave out --duration and --suite.", ExitCode.USAGE
            )
        if scenario == "radio":
            from pqc_mav_cli.demo.radio_link import fly_radio

            return fly_radio(rate, plot, as_json)
        if scenario == "two-ways":
            from pqc_mav_cli.demo.ways_link import fly_ways

            return fly_ways(rate, plot, as_json)
        rate = RATE_HZ if rate is None else rate
        if scenario == "thin-link":
            from pqc_mav_cli.demo.thin_link import fly_thin_link

            return fly_thin_link(rate, plot, as_json)
        from pqc_mav_cli.demo.scenario_command import fly_scenario

        return fly_scenario(scenario, rate, plot, as_json)
    if plot:
        raise CliError("--plot draws a scenario: name one with --scenario.", ExitCode.USAGE)
    with ExitStack() as stack:
        run = _prepare(stack, duration, suite, RATE_HZ if rate is None else rate, as_json)
        result = run_interruptible(run.run())
        if result is None:
            return INTERRUPTED
    from pqc_mav_cli.demo.view import summary

    return print_result(result, lambda: summary(result), run.state.lines, as_json)


def _prepare(stack: ExitStack, duration: float, suite: str, rate: float, as_json: bool) -> DemoRun:
    """Keys, ports, the watcher and the view; all undone when `stack` closes."""
    from pqc_mav_bringup.demo_session import DemoSession
    from pqc_mav_bringup.description import BringupError
    from pqc_mav_cli.demo.run import DemoRun
    from pqc_mav_cli.demo.view import plain_line
    from pqc_mav_cli.ros_session import own_domain, watch

    try:
        with engine_errors():
            session = stack.enter_context(DemoSession({"suite": suite, "rate": f"{rate:g}"}))
        environment = stack.enter_context(own_domain())
        watcher = stack.enter_context(watch())
        on_tick = (
            stack.enter_context(_live_view()) if sys.stdout.isatty() and not as_json else line_a_second(plain_line)
        )
        return DemoRun(dict(session.values), duration, watcher, environment, on_tick)
    except BringupError as error:
        raise CliError(str(error)) from None


@contextmanager
def _live_view() -> Iterator[Callable[[DemoState], None]]:
    """The live view on a terminal, where the summary will be."""
    from rich.live import Live

    from pqc_mav_cli.demo.view import live

    with Live(console=console(), auto_refresh=False, transient=True) as shown:
        yield lambda state: shown.update(live(state, time.monotonic()), refresh=True)
