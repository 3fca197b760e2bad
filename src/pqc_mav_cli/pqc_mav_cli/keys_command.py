# SPDX-License-Identifier: Apache-2.0
"""`pqcmav keys`: make, show, hand out and revoke long-term keys. Only fingerprints are printed, no core is dumped."""

import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

import typer

from pqc_mav_cli.console import console, note, print_json
from pqc_mav_cli.errors import CliError, ExitCode, engine_errors
from pqc_mav_cli.wording import counted
from pqc_mav_common.local_socket import ControlError, chosen

DEFAULT_ROOT = Path("~/.pqcmav/keys")

keys_app = typer.Typer(
    no_args_is_help=True,
    help="Make, list, export, renew and revoke long-term keys. No secret is ever printed; only its owner can read it.",
)


@keys_app.callback()
def _before_any_key_is_read() -> None:
    no_core_dumps()


def no_core_dumps() -> None:
    """A core dump would contain the keys."""
    import pqc_mav_tunnel

    if said := pqc_mav_tunnel.forbid_core_dumps():
        note(f"warning: {said}")


Root = Annotated[Path, typer.Option("--root", help="Folder of all keys: gcs/ and drones/<id>/ are below it.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")]
GcsId = Annotated[
    str, typer.Option("--gcs-id", help="Name of the gcs, as 'gcs_id' in its configuration; its PSKs belong to it.")
]


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
    gcs_id: GcsId = "gcs",
    station: Annotated[
        list[str] | None,
        typer.Option(
            help="One of several ground stations, by its gcs_id; repeat it. Each has its keys in stations/<id>."
        ),
    ] = None,
) -> None:
    """Make the keys of a gcs and its drones. Existing keys are kept, so drones can be added later."""
    import pqc_mav_tunnel

    from pqc_mav_cli import key_changes

    root = root.expanduser()
    with key_changes.alone_in(root), engine_errors():
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
        "'pqcmav keys list' shows them. gcs/ stays on the ground; 'pqcmav keys export-drone ID TARGET' copies what a "
        "drone needs."
    )


@keys_app.command()
def show(
    folder: Annotated[Path, typer.Argument(help="A key folder: the root, a gcs' or a drone's.")] = DEFAULT_ROOT,
    every: Annotated[bool, typer.Option("--all", help="Show every file with its fingerprint.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show what each end holds, and problems. The exit code is 1 if a key has a problem."""
    from pqc_mav_cli import keys_view

    folder = folder.expanduser()
    entries = _entries(folder)
    if as_json:
        print_json(entries)
    elif not entries:
        console().print(f"No keys in {folder}.")
    elif every:
        console().print(keys_view.every_file(entries, folder))
    else:
        console().print(keys_view.summary(entries, folder), *keys_view.problems(entries), sep="\n")
    if problems := sum(1 for entry in entries if entry["problem"]):
        raise CliError(f"{counted(problems, 'key')} in {folder} cannot be used.")


@keys_app.command(name="list")
def list_drones(root: Root = DEFAULT_ROOT, as_json: AsJson = False) -> None:
    """List the drones that have keys here. The exit code is 1 if a key of theirs has a problem."""
    from pqc_mav_cli import key_changes, keys_view

    root = root.expanduser()
    entries = _entries(root)
    found = keys_view.drones(entries, key_changes.drones_of(root), root, key_changes.grounds(root))
    if as_json:
        print_json(found)
    else:
        console().print(keys_view.drones_table(found) if found else f"No keys of drones in {root}.")
    if problems := [problem for drone in found for problem in drone["problems"]]:
        raise CliError(f"{counted(len(problems), 'key')} cannot be used: {problems[0]}")


@keys_app.command()
def rotate(
    who: Annotated[str, typer.Argument(help="Id of a drone, or gcs for the ground station's signing keys.")],
    root: Root = DEFAULT_ROOT,
    sig: Annotated[
        list[str] | None,
        typer.Option(help="With gcs: signature algorithm (token, e.g. mldsa65); may be repeated. Default: all it has."),
    ] = None,
    gcs_id: GcsId = "gcs",
    now: Annotated[
        bool,
        typer.Option(
            "--now",
            help="Of a drone, with the ground station on this machine: the old key and the session end at once.",
        ),
    ] = False,
    socket: Annotated[
        str, typer.Option(help="With --now: control socket of the ground station, if not in its usual folder.")
    ] = "",
) -> None:
    """Replace keys by new ones. Until both ends have them and have read them again, they go on with the old.

    With --now the ground station reads its keys at once and ends the drone's session: docs/keys.md, a stolen PSK.
    """
    from pqc_mav_cli import key_changes
    from pqc_mav_cli.joining.channel import end_in_good_order

    end_in_good_order()
    root = _existing(root)
    if who == key_changes.GCS:
        if now:
            raise CliError("--now is for a drone's key: 'pqcmav keys rotate DRONE --now'.", ExitCode.USAGE)
        with key_changes.alone_in(root):
            made = key_changes.rotate_gcs(root, sig or [], gcs_id)
        note(
            f"{counted(len(made), 'new signing key pair')} of the gcs ({', '.join(made)}). Now bring every drone its "
            "new share ('pqcmav keys export-drone ID TARGET') and call 'pqcmav reload' at both ends; "
            "drones that have only the old public key cannot connect until then."
        )
        return
    if sig:
        raise CliError("--sig is for the ground station's keys: 'pqcmav keys rotate gcs'.", ExitCode.USAGE)
    with key_changes.alone_in(root):
        made = key_changes.rotate_drone(root, who, gcs_id)
    pairs = f" and {counted(len(made), 'new signing key pair')} ({', '.join(made)})" if made else ""
    share = f"its share ('pqcmav keys export-drone {who} TARGET'"
    if key_changes.signs_elsewhere(root, who):  # a share without them would take the place of them
        share += f", of which psk.key alone: it has its own signing keys. Or 'pqcmav invite {who}', 'join --replace'"
    knowing = key_changes.grounds_of(root, who)
    if now:
        here = _end_session(who, root, knowing, socket)
        others = [str(ground) for ground in knowing if ground.name != here]
        elsewhere = (
            f" at {here}. It still counts at the other ground stations: bring each its folder ({', '.join(others)}), "
            f"and call 'pqcmav drones end {who}' there"
        )
        note(
            f"{who} has a new PSK{pairs}, its session has ended, and the old key opens nothing any more"
            f"{elsewhere if len(knowing) > 1 else ''}. Now bring the drone {share}) and call 'pqcmav reload' there."
        )
        return
    folders = ", ".join(map(str, knowing))
    note(
        f"{who} has a new PSK{pairs}. Now bring the drone {share}), the ground station its folder ({folders}) unless "
        "it is this one, and call 'pqcmav reload' at both, or restart them."
    )


def _end_session(drone: str, root: Path, knowing: list[Path], socket: str) -> str:
    """Has the ground station of this machine read its keys, of which it may have a copy, and end the session.

    Returns its gcs_id. Raises CliError if that is no use.
    """
    from pqc_mav_cli.joining import ground_keys

    there = (
        f"{drone} has a new PSK in {root}, but its session goes on and the old key still counts: {{}}. Bring the "
        f"ground station its folder, and call 'pqcmav drones end {drone}' there."
    )
    with chosen(os.environ, path=socket, role="gcs") as control:
        if control is None:
            raise CliError(there.format("no ground station runs on this machine"))
        try:
            here = str(control.ask("status").get("gcs_id", "gcs"))
            ground = next((each for each in knowing if here == each.name or len(knowing) == 1), None)
            running = ground_keys.copied_to(root / ground, ground_keys.read_by(control)) if ground else None
            if ground and running and os.access(running, os.R_OK | os.W_OK | os.X_OK):
                ground_keys.check_running(root / ground, running)
                ground_keys.hand_over(root / ground, running, drone)
            renewed = control.ask("drones", action="end", drone=drone)["renewed"]
        except CliError as error:
            raise CliError(there.format(str(error).removesuffix("."))) from None
        except OSError as error:
            raise CliError(there.format(f"no answer from {control.place.path} ({error})")) from None
        except ControlError as error:
            raise CliError(there.format(f"the ground station refused: {error}")) from None
    if drone not in renewed:
        raise CliError(there.format(f"the ground station of this machine reads its keys elsewhere than in {root}"))
    return here


@keys_app.command()
def revoke(
    drone: Annotated[str, typer.Argument(help="Id of the drone.")],
    root: Root = DEFAULT_ROOT,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Remove all keys of a drone: after 'pqcmav reload' there its session is over. Other drones are not affected."""
    from pqc_mav_cli import key_changes

    root = _existing(root)
    key_changes.require_drone(root, drone)
    may_go(f"all keys of {drone} below {root}", yes)
    with key_changes.alone_in(root):
        removed = key_changes.revoke(root, drone)
    gone = f"Removed {', '.join(str(path.relative_to(root)) for path in removed)}"
    if _known_here(drone):
        note(
            f"{gone}, but the ground station of this machine has another copy of the key, and lets {drone} in: remove "
            f"psk/{drone}.key where it reads its keys and call 'pqcmav reload', or 'pqcmav drones remove {drone}'."
        )
        return
    if any(path.parent.name == "psk" and not any(path.parent.glob("*.key")) for path in removed):
        then = f"No drone is left: stop the station, or before its next start name another drone instead of {drone} in"
    else:
        then = f"Before its next start take {drone} out of"
    note(
        f"{gone}. Now call 'pqcmav reload' on the ground station's machine: until then it goes on with the key it has "
        f"read. If it reads a copy, remove psk/{drone}.key there first. {then} 'drones' in its configuration."
    )


def _known_here(drone: str) -> bool:
    """Whether a ground station of this machine would let a drone in after a reload, too."""
    with suppress(ControlError, OSError), chosen(os.environ, role="gcs") as control:
        if control and any(each["drone_id"] == drone for each in control.ask("drones")["drones"]):
            return drone not in control.ask("reload", dry_run=True)["removed"]
    return False


def may_go(keys: str, yes: bool) -> None:
    """Asks whether these may be removed, unless the answer was given. Raises CliError if nobody can be asked."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise CliError(f"Nobody can be asked whether {keys} may go; add --yes.", ExitCode.USAGE)
    typer.confirm(f"Remove {keys}? They cannot be restored", abort=True, err=True)


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


def _entries(folder: Path) -> list[dict[str, Any]]:
    import pqc_mav_tunnel

    with engine_errors():
        return [dict(entry) for entry in pqc_mav_tunnel.list_keys(str(_existing(folder)))]


def _existing(folder: Path) -> Path:
    folder = folder.expanduser()
    if not folder.is_dir():
        raise CliError(f"{folder} is not a folder; 'pqcmav keys init DRONE...' makes one.", ExitCode.USAGE)
    return folder
