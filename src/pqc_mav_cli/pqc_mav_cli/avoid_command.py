# SPDX-License-Identifier: Apache-2.0
"""`pqcmav avoid`: a ground station, and with it its drones, leaves a family of algorithms."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Annotated, Any

import typer

from pqc_mav_cli import drones_file
from pqc_mav_cli.drones_command import NoSave, Socket, ground_station, lasting, saving_to
from pqc_mav_cli.errors import CliError, ExitCode
from pqc_mav_cli.wording import outcome
from pqc_mav_common.local_socket import ANSWER_S, Control, ControlError, Place

NONE = "none"
AT_A_TIME = 4  # handshakes: a fleet shares the ground station's processor, and often its air
HANDSHAKE_S = 60.0


def avoid(
    families: Annotated[
        list[str] | None,
        typer.Argument(
            help="lattices, codes, hashes, families by name (ML-KEM, Falcon ...), or suites of level1 or level3; they "
            f"replace those named before, and '{NONE}' avoids none any more. Without: which are avoided.",
        ),
    ] = None,
    no_save: NoSave = False,
    socket: Socket = "",
) -> None:
    """Leave a family of algorithms: the ground station makes no keys with it, and each drone is given other ones.

    A drone takes the suite of its level with the shortest handshake that both ends have; no packet is lost. It is
    written into the configuration file, so drones that come later are told as well.
    """
    with ground_station(socket) as control:
        if not families:
            now = control.ask("avoid")
            print(f"avoided: {now['avoid'] or NONE}{_still(now['still'])}")
            return
        file = None if no_save else saving_to(control)
        for line in leave(control, wanted(families), file, no_save):
            print(line, flush=True)


def wanted(families: Sequence[str]) -> list[str]:
    """What is to be avoided, by the words of a command. Raises CliError."""
    if NONE in families and len(families) > 1:
        raise CliError(f"'{NONE}' stands alone, or not at all.", ExitCode.USAGE)
    return [] if NONE in families else list(families)


def leave(control: Control, families: Sequence[str], file: Path | None, no_save: bool = False) -> Iterator[str]:
    """Has a ground station avoid these, writes it into its file, and rekeys drones; a line for each thing done.

    Raises CliError at the end if something is left.
    """
    now = _told(control, families)
    unsaved = _unsaved(file, families)
    yield f"avoided: {now['avoid'] or NONE}{unsaved or lasting(file, no_save)}"
    with ThreadPoolExecutor(AT_A_TIME) as pool:
        yield from pool.map(lambda drone: _moved(control.place, drone), now["still"])
    with Control(control.place) as again:  # handshakes take their time, and an engine ends a connection that is idle
        left = again.ask("avoid")["still"]
    if unsaved and not left:
        raise typer.Exit(ExitCode.FAILED)
    if left:
        raise CliError(
            f"Still with keys of an avoided family: {', '.join(left)}. Each keeps its session until its next handshake "
            "and has none after that: see above for what it lacks, or 'pqcmav avoid none'.",
            ExitCode.FAILED,
        )


def _told(control: Control, families: Sequence[str]) -> dict[str, Any]:
    try:
        return dict(control.ask("avoid", families=list(families)))
    except ControlError as error:
        if error.code != "config_invalid":
            raise
        raise CliError(str(error), ExitCode.USAGE) from None


def _unsaved(file: Path | None, families: Sequence[str]) -> str:
    """Why the file does not have it, as the end of a line; "" if it has. The drones must not wait for that."""
    try:
        if file is not None:
            drones_file.save_list(file, "avoid", families)
    except CliError as error:
        return f", until a restart of the ground station: {error}"
    return ""


def _still(drones: list[str]) -> str:
    return f"; still with such keys: {', '.join(drones)}" if drones else ""


def _moved(place: Place, drone: str) -> str:
    """A drone's rekey, on a connection of its own, as a line."""
    try:
        with Control(place, HANDSHAKE_S + ANSWER_S) as control:
            done: dict[str, Any] = control.ask("rekey", drone=drone, reason="avoid", timeout_s=HANDSHAKE_S)
        return f"{drone}: {outcome(done['suite'], done['epoch'], done['rekey_ms'], 0.0)}"
    except (ControlError, OSError) as error:
        return f"{drone}: {error}"
