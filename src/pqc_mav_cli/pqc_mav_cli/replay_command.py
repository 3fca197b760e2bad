# SPDX-License-Identifier: Apache-2.0
"""`pqcmav replay`: what a strategy decides on a recorded flight."""

from pathlib import Path
from typing import Annotated, Any

import typer

from pqc_mav_cli.console import note
from pqc_mav_cli.errors import CliError, ExitCode


def replay(
    recording: Annotated[Path, typer.Argument(help="A recording (*.mcap), even an unfinished one.")],
    strategy: Annotated[
        str, typer.Option(help="measured, cascade, expert, rl or hybrid; empty = as recorded, else measured.")
    ] = "",
    namespace: Annotated[str, typer.Option(help="The vehicle's ROS namespace in the recording.")] = "drone",
    config: Annotated[
        Path | None, typer.Option(help="The policy's configuration file of that flight. Default: its default values.")
    ] = None,
    table: Annotated[
        Path | None, typer.Option(help="Trained table of rl and hybrid. Default: the one that is installed.")
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Compare with the recorded decisions; the exit code is 1 if any differ.")
    ] = False,
    changes: Annotated[
        bool, typer.Option("--changes", help="Print only decisions that differ from the one before.")
    ] = False,
) -> int:
    """Feed a recording to a strategy and print its decisions, one JSON object per line.

    The same recording and strategy give the same lines, byte for byte. The session is the recorded one: a strategy sees
    what happened, not what its own decisions would have caused.
    """
    from pqc_mav_policy.registry import engine_available, engine_catalogue
    from pqc_mav_policy.settings import make
    from pqc_mav_policy_lab.recordings.replay import as_line, differs
    from pqc_mav_policy_lab.recordings.replay import replay as decisions
    from pqc_mav_recorder.file import RecordingError

    try:
        settings = read_settings(config, table, namespace)
        source = read_recording(recording, namespace, engine_available(), settings)
        recorded = source.snapshots[0].strategy if source.snapshots else ""
        made = make(strategy or recorded or "measured", engine_catalogue(), settings)
    except RecordingError as error:
        raise CliError(str(error)) from None
    except ValueError as error:  # StrategyError, PerformanceError, ParameterError
        raise CliError(str(error), ExitCode.USAGE) from None
    if check and not any(snapshot.strategy for snapshot in source.snapshots):
        raise CliError(f"{recording} holds no recorded decisions to compare with.")
    if source.problem:
        note(source.problem)
    different = 0
    last = None
    for snapshot, decision in decisions(made, source.snapshots):
        shown = (decision.action, decision.guard, decision.to_suite)
        if not changes or shown != last:
            print(as_line(decision, snapshot.now - source.snapshots[0].now))
        last = shown
        different += differs(snapshot, decision)
    if check:
        note(f"{different} of {len(source.snapshots)} decisions differ from the recorded ones ({source.topic}).")
    return ExitCode.FAILED if check and different else ExitCode.OK


def read_settings(config: Path | None, table: Path | None, namespace: str) -> Any:
    """Parameters of the strategies as a policy node in that namespace takes them. Raises CliError, ParameterError."""
    from dataclasses import replace

    from pqc_mav_common import config_file
    from pqc_mav_common.errors import ProcessError
    from pqc_mav_policy.ros_parameters import parse
    from pqc_mav_policy.settings import Settings

    settings = Settings()
    if config is not None:
        try:
            given = config_file.parameters(config_file.load(config), namespace, "pqc_policy")
        except ProcessError as error:
            raise CliError(str(error), ExitCode.USAGE) from None
        settings = parse(given).settings
    return settings if table is None else replace(settings, rl_policy_file=table)


def read_recording(path: Path, namespace: str, available: tuple[str, ...], settings: Any) -> Any:
    """What the policy saw where one was recorded, else made from the telemetry. Raises RecordingError."""
    from pqc_mav_policy_lab.recordings.assemble import assemble
    from pqc_mav_policy_lab.recordings.replay import read

    recorded = read(path, namespace)
    return recorded if recorded.snapshots else assemble(path, namespace, available, settings.policy)
