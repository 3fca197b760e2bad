# SPDX-License-Identifier: Apache-2.0
"""`pqcmav policy train`: makes the table of the strategies rl and hybrid."""

import time
from pathlib import Path
from typing import Annotated

import typer

from pqc_mav_cli.console import note
from pqc_mav_cli.errors import CliError, ExitCode

REPORT_S = 5.0


def train(
    output: Annotated[Path, typer.Argument(help="File to write, e.g. rl_table.json.")],
    seed: Annotated[int, typer.Option(help="The same seed gives the same file, byte for byte.")] = 1,
    episodes: Annotated[int, typer.Option(min=1, help="Simulated missions to learn from.")] = 3000,
) -> None:
    """Train the learned strategy on simulated missions."""
    from pqc_mav_policy.registry import engine_available, engine_catalogue
    from pqc_mav_policy.strategies.rl import table as rl_table
    from pqc_mav_policy_lab.flight_model.costs import published_costs
    from pqc_mav_policy_lab.training.draw import Draw
    from pqc_mav_policy_lab.training.train import Training
    from pqc_mav_policy_lab.training.train import train as learn

    catalogue = engine_catalogue()
    report_at = time.monotonic() + REPORT_S

    def told(episode: int, worth: float) -> None:
        nonlocal report_at
        if time.monotonic() >= report_at:
            report_at = time.monotonic() + REPORT_S
            note(f"mission {episode} of {episodes}, reward of the last {worth:.1f}")

    draw = Draw(catalogue, published_costs(catalogue), engine_available())
    table = learn(draw, Training(seed=seed, episodes=episodes), told)
    try:
        rl_table.write(table, output)
    except rl_table.TableError as error:
        raise CliError(str(error), ExitCode.FAILED) from None
    print(f"{len(table.values)} states in {output}, {output.stat().st_size / 1024:.1f} KiB, SHA-256 in the file")
