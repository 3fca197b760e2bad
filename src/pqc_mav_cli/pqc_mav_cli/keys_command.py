# SPDX-License-Identifier: Apache-2.0
"""`pqcmav keys`: make, show and hand out long-term keys. Only fingerprints are ever printed, and no core is dumped."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pqc_mav_cli.console import console, note, print_json
from pqc_mav_cli.errors import CliError, ExitCode, engine_errors
from pqc_mav_cli.wording import counted

DEFAULT_ROOT = Path("~/.pqcmav/keys")

keys_app = typer.Typer(
    no_args_is_help=True,
    help="Make, list and export long-term keys. Secret keys are never printed; only their owner can read the files.",
)


@keys_app.callback()
def _before_any_key_is_read() -> None:
    # A core dump would contain the keys.
    import pqc_mav_tunnel

    if said := pqc_mav_tunnel.forbid_core_dumps():
        note(f"warning: {said}")


Root = Annotated[Path, typer.Option("--root", help="Folder of all keys: gcs/ and drones/<id>/ are below it.")]


@keys_app.command()
def init(
    drones: Annotated[list[str], typer.Argument(help="Ids of the drones: 1-32 characters of a-z, 0-9, _ and -.")],
    root: Root = DEFAULT_ROOT,
    sig: Annotated[
        list[str] | None,
        typer.Option(help="Signature algorithm of the gcs (token, e.g. mldsa65); may be repeated. Default: all."),
    ] = None,
    sign: Annotated[
        bool,
        typer.Option("--sign", help="Also make a key pair for each drone, so that a stolen PSK alone is not enough."),
    ] = False,
    gcs_id: Annotated[
        str, typer.Option("--gcs-id", help="Name of the gcs, as 'gcs_id' in its configuration; its PSKs belong to it.")
    ] = "gcs",
    station: Annotated[
        list[str] | None,
        typer.Option(
            help="One of several ground stations, by its gcs_id; repeat it. Each has its keys in stations/<id>."
        ),
    ] = None,
) -> None:
    """Make the keys of a gcs and its drones. Existing keys are kept, so drones can be added later."""
    import pqc_mav_tunnel

    root = root.expanduser()
    with engine_errors():
        pqc_mav_tunnel.init_keys(
            str(root), drones, sig_tokens=sig or [], drone_signatures=sign, gcs_id=gcs_id, stations=station or []
        )
    if station:
        note(
            f"{root} holds keys of {counted(len(station), 'ground station')}: stations/<gcs_id>/ goes to each of them "
            "alone; 'pqcmav keys export-drone ID TARGET' copies what a drone needs."
        )
        return
    entries = pqc_mav_tunnel.list_keys(str(root / "gcs"))
    pairs = sum(1 for entry in entries if entry["kind"] == "sig-secret")
    psks = sum(1 for entry in entries if entry["kind"] == "psk")
    note(
        f"{root} holds {counted(pairs, 'signing key pair')} of the gcs and a PSK for {counted(psks, 'drone')}; "
        "'pqcmav keys show' lists them. gcs/ stays on the ground; 'pqcmav keys export-drone ID TARGET' copies what a "
        "drone needs."
    )


@keys_app.command()
def show(
    folder: Annotated[Path, typer.Argument(help="A key folder: the root, a gcs' or a drone's.")] = DEFAULT_ROOT,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")] = False,
) -> None:
    """List keys with their fingerprints and problems. The exit code is 1 if a key has a problem."""
    folder = folder.expanduser()
    if not folder.is_dir():
        raise CliError(f"{folder} is not a folder; 'pqcmav keys init DRONE...' makes one.", ExitCode.USAGE)
    problems = _show(folder, as_json)
    if problems:
        raise CliError(f"{counted(problems, 'key')} in {folder} cannot be used.")


@keys_app.command(name="export-drone")
def export_drone(
    drone: Annotated[str, typer.Argument(help="Id of the drone.")],
    target: Annotated[
        Path, typer.Argument(help="New folder, e.g. on a memory card; bring it to the drone by a safe route.")
    ],
    root: Root = DEFAULT_ROOT,
) -> None:
    """Copy one drone's keys (its PSK, the gcs' public keys, its own key pairs) into a new folder."""
    import pqc_mav_tunnel

    with engine_errors():
        pqc_mav_tunnel.export_drone(str(root.expanduser()), drone, str(target.expanduser()))
    note(f"{target} holds secrets: bring it to the drone, set 'keys' there to its path, and delete every other copy.")


def _show(folder: Path, as_json: bool) -> int:
    """Prints what is in `folder`. Returns the number of keys with a problem."""
    import pqc_mav_tunnel
    from rich.table import Table

    with engine_errors():
        entries = [dict(entry) for entry in pqc_mav_tunnel.list_keys(str(folder))]
    if as_json:
        print_json(entries)
    else:
        table = Table(box=None, pad_edge=False, header_style="bold")
        for title in ("kind", "algorithm", "owner", "fingerprint", "file"):
            table.add_column(title, overflow="fold")
        for entry in entries:
            path = Path(entry["path"])
            shown = path.relative_to(folder) if path.is_relative_to(folder) else path
            last = f"[red]{entry['problem']}[/red]" if entry["problem"] else str(shown)
            table.add_row(entry["kind"], entry["algorithm"], entry["owner"], entry["fingerprint"], last)
        console().print(table if entries else f"No keys in {folder}.")
    return sum(1 for entry in entries if entry["problem"])
