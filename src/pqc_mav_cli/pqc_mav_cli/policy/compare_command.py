# SPDX-License-Identifier: Apache-2.0
"""`pqcmav policy compare`: the same missions under every strategy and static suites, as page and JSON."""

from pathlib import Path
from typing import Annotated, Any

import typer

from pqc_mav_cli.console import note
from pqc_mav_cli.errors import CliError, ExitCode
from pqc_mav_cli.policy.publish import publish


def compare(
    missions: Annotated[
        list[str] | None,
        typer.Argument(help="Names of simulated missions, or files of recordings. Default: all simulated missions."),
    ] = None,
    output: Annotated[Path | None, typer.Option(help="Folder for policy.md and .json.")] = None,
    costs: Annotated[
        Path | None,
        typer.Option(help="Measured handshakes (bench/results/engine.json.gz). Default: published ones of a Pi 5."),
    ] = None,
    config: Annotated[
        Path | None, typer.Option(help="Configuration file of the policy. Default: its default values.")
    ] = None,
    table: Annotated[
        Path | None, typer.Option(help="Trained table of rl and hybrid. Default: the one that is installed.")
    ] = None,
    namespace: Annotated[str, typer.Option(help="The vehicle's ROS namespace in recordings.")] = "drone",
    raw_voltage: Annotated[
        bool,
        typer.Option("--raw-voltage", help="Judge the voltage with its sag under load, as the published cascade did."),
    ] = False,
) -> None:
    """Fly missions under every strategy and compare security, rekeys, outages, energy and broken invariants."""
    from pqc_mav_cli.replay_command import read_settings
    from pqc_mav_policy.parameter_table import plain
    from pqc_mav_policy.registry import engine_available, engine_catalogue
    from pqc_mav_policy_lab.compare import comparison as comparing
    from pqc_mav_policy_lab.compare import report as compare_report
    from pqc_mav_policy_lab.flight_model.costs import CostError, measured_costs, published_costs
    from pqc_mav_policy_lab.missions.simulated import MissionError
    from pqc_mav_recorder.file import RecordingError

    catalogue, available = engine_catalogue(), engine_available()
    try:
        settings = read_settings(config, table, namespace)
        spent = measured_costs(costs, catalogue) if costs else published_costs(catalogue)
        flown = comparing.strategies(catalogue, settings)
        chosen = _missions(missions or [], namespace, available, settings, raw_voltage)
    except (CostError, MissionError, RecordingError, ValueError) as error:
        raise CliError(str(error), ExitCode.USAGE) from None
    comparison = comparing.compare(
        chosen, flown, catalogue=catalogue, costs=spent, available=available, settings=settings, told=note
    )
    content = compare_report.as_content(comparison, plain(settings.policy))
    publish("policy", compare_report.as_markdown(content), content, output)


def _missions(
    names: list[str], namespace: str, available: tuple[str, ...], settings: Any, raw_voltage: bool
) -> list[Any]:
    from pqc_mav_cli.replay_command import read_recording
    from pqc_mav_policy_lab.missions.recorded import RecordedMission
    from pqc_mav_policy_lab.missions.simulated import NAMES, mission

    found: list[Any] = []
    for name in names or NAMES:
        if name not in NAMES and (".mcap" in name or Path(name).exists()):
            recording = read_recording(Path(name), namespace, available, settings)
            if recording.problem:
                note(recording.problem)
            found.append(RecordedMission(recording))
        else:
            found.append(mission(name, raw_voltage=raw_voltage))
    return found
