# SPDX-License-Identifier: Apache-2.0
"""`pqcmav join`: a drone fetches its keys by the line that `pqcmav invite` printed at the ground."""

import shlex
import socket
import sys
from pathlib import Path
from typing import Annotated

import typer

from pqc_mav_cli.console import note
from pqc_mav_cli.errors import CliError, ExitCode, engine_errors
from pqc_mav_cli.joining import channel, desk, fetch, line, place, share, trial
from pqc_mav_cli.joining.packaged import packaged
from pqc_mav_cli.keys_command import no_core_dumps

KEYS = "~/.pqcmav/keys/drones"


def join(
    invitation: Annotated[
        str,
        typer.Argument(
            metavar="LINE",
            help="What 'pqcmav invite' printed; - reads it from the standard input, so that no process list has it.",
        ),
    ],
    keys: Annotated[
        Path | None, typer.Option(help=f"Folder for this drone's keys. Default: {KEYS}/<drone>.", show_default=False)
    ] = None,
    replace: Annotated[bool, typer.Option("--replace", help="Replace keys that are in that folder.")] = False,
    wait: Annotated[
        float, typer.Option(min=1, max=600, help="How many seconds to try to reach the ground.")
    ] = fetch.REACH_S,
    test: Annotated[bool, typer.Option("--test/--no-test", help="Try the link afterwards.")] = True,
) -> None:
    """Fetch this drone's keys from its ground station, store them, and test the link.

    They come through a session of the tunnel's own handshake, under the secret in the line. The line works once.
    """
    no_core_dumps()
    channel.end_in_good_order()
    asked = line.read(_typed() if invitation == "-" else invitation)
    if keys is not None:
        place.check(keys.expanduser(), replace)
    note(f"asking {asked.host}:{asked.port} ...")
    with channel.drone(asked) as session:
        fetch.reach(session, asked, wait)
        caller = fetch.Caller(session)
        offer, _ = caller.ask("hello", host=socket.gethostname())
        folder = (keys or _default(str(offer["drone_id"]))).expanduser()
        place.check(folder, replace)
        got = share.unpack(caller.share(offer["parts"], offer["size"], offer["digest"]))
        files = dict(got.files)
        if got.sign:
            own = _own_pairs(got)
            caller.give({name: text for name, text in own.items() if name.endswith(".pub")})
            files |= own
        place.put(files, folder, got.drone_id, replace)
        note(f"{got.drone_id} has its keys in {folder}.")
        _finish(caller, got, files, folder, test)


def _finish(caller: fetch.Caller, got: share.Share, files: dict[str, str], folder: Path, test: bool) -> None:
    """The keys are stored: what is said now must not sound as if they were not."""
    try:
        told, _ = caller.ask("stored")
    except CliError as error:
        raise CliError(f"The keys are stored in {folder}, but the ground has not confirmed it. {error}") from None
    said = desk.plain(told.get("text"), 300)
    note(f"The ground says: {said}")
    verdict, worked = (said, False) if told.get("ok") is not True else ("", True)
    suite = trial.suite_for([Path(name).stem for name in files if name.startswith("gcs/")])
    if test and worked:
        try:
            with channel.in_memory() as copy:
                share.write_folder(files, copy, got.drone_id)
                verdict = trial.link_comes_up(copy, got, suite)
        except CliError as error:
            verdict, worked = str(error), False
        try:
            caller.ask("tested", ok=worked, text=verdict)
        except CliError:
            note("The ground did not hear how the test went.")
    print(_start(got, folder, suite), flush=True)
    if not worked:
        raise CliError(f"The keys are stored, but this drone could not connect. {verdict}")
    if test:
        note(f"OK: {verdict}.")


def _start(got: share.Share, folder: Path, suite: str) -> str:
    """What to start, for whoever has the workspace or the Debian package."""
    if package := packaged("drone"):
        settings = {"drone_id": got.drone_id, "peer": got.peer, "keys": folder, **({"suite": suite} if suite else {})}
        lines = "".join(f"  {name}: {value}\n" for name, value in settings.items())
        return f"In {package.config} set\n{lines}then: systemctl enable --now pqcmav-tunneld@drone"
    more = ["--suite", suite] if suite else []
    given = ["--drone-id", got.drone_id, "--peer", got.peer, "--keys", str(folder), *more]
    return shlex.join(["pqcmav", "up", "drone", *given])


def _own_pairs(got: share.Share) -> dict[str, str]:
    """Signing key pairs of this drone, which never leave it."""
    import pqc_mav_tunnel

    with channel.in_memory() as folder, engine_errors():
        pqc_mav_tunnel.init_keys(str(folder), [got.drone_id], sig_tokens=list(got.sign), drone_signatures=True)
        own = share.read_folder(folder / "drones" / got.drone_id)
    return {name: text for name, text in own.items() if name.startswith("sig/")}


def _default(drone_id: str) -> Path:
    package = packaged("drone")
    return package.keys if package else Path(KEYS) / drone_id


def _typed() -> str:
    """The first line of the standard input that has something in it."""
    if sys.stdin.isatty():
        note("Line:")
    for each in sys.stdin:
        if each.strip():
            return each
    raise CliError("The standard input ended without a line.", ExitCode.USAGE)
