# SPDX-License-Identifier: Apache-2.0
"""`pqcmav invite`: hands one drone its keys, through the tunnel's own handshake and by one line."""

import ipaddress
import socket
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from pqc_mav_cli.console import note
from pqc_mav_cli.errors import CliError, ExitCode
from pqc_mav_cli.joining import channel, ground_keys, trial
from pqc_mav_cli.joining.desk import Desk, Stage
from pqc_mav_cli.joining.packaged import packaged
from pqc_mav_cli.keys_command import DEFAULT_ROOT, Root, no_core_dumps

PORT = 46021
FOR_S = 600
LINGER_S = 2.0  # for a drone that did not hear the last answer


def invite(
    drone: Annotated[str, typer.Argument(help="Id of the drone: 1-32 characters of a-z, 0-9, _ and -.")],
    address: Annotated[
        str, typer.Option(help="Host name or address by which the drone reaches this machine. Default: its own.")
    ] = "",
    port: Annotated[int, typer.Option(min=0, max=65535, help="UDP port to wait on; 0 takes a free one.")] = PORT,
    bind: Annotated[
        str, typer.Option(help="Local address to wait on; empty = every address of the kind that the line names.")
    ] = "",
    peer: Annotated[
        str, typer.Option(help="The drone's 'peer', if not the same address, e.g. of several ground stations.")
    ] = "",
    sign: Annotated[
        bool, typer.Option("--sign", help="Have the drone make signing keys of its own; its secret halves stay there.")
    ] = False,
    qr: Annotated[bool, typer.Option("--qr", help="Also show the line as a QR code.")] = False,
    root: Root = DEFAULT_ROOT,
    gcs_keys: Annotated[
        Path | None,
        typer.Option(
            help="Folder from which the gcs reads its keys, if not below the root; the drone's are copied there. "
            "Default: with the Debian package, that of the gcs that runs, or else what its configuration names.",
            show_default=False,
        ),
    ] = None,
    data_port: Annotated[
        int, typer.Option(min=1, max=65535, help="UDP port of the gcs, if none runs here.")
    ] = trial.DATA_PORT,
    gcs_id: Annotated[str, typer.Option(help="Name of the gcs, if none runs here or several have keys.")] = "gcs",
    socket_path: Annotated[
        str, typer.Option("--socket", help="Control socket of the gcs, if not in its usual folder.")
    ] = "",
    minutes: Annotated[float, typer.Option(min=0.05, max=60, help="How long to wait.")] = FOR_S / 60,
) -> None:
    """Print a line with which one drone can fetch its keys, once, and wait for it.

    On the drone: 'pqcmav join LINE'. Keys that the drone does not have yet are made. Ctrl-C withdraws the line.
    """
    no_core_dumps()
    channel.end_in_good_order()
    root = root.expanduser()
    host = address or own_address()
    bind = bind or ("::" if ":" in host else "")
    with trial.Ground(gcs_id, bind, data_port, socket_path) as ground:
        keys = ground_keys.station_folder(root, ground.gcs_id)
        package = packaged("gcs")
        if not (package or gcs_keys) and ground.keys and (why := ground_keys.read_elsewhere(ground.keys, keys)):
            raise CliError(why, ExitCode.USAGE)
        ground_keys.make(root, [drone], ground.gcs_id)
        running = ground_keys.copied_to(keys, gcs_keys or ((ground.keys or package.keys) if package else None))
        if running is not None:
            ground_keys.check_running(keys, running)
        packed = ground_keys.share_of(root, drone, ground.gcs_id, peer or peer_of(host, ground), sign).packed()
        until_s = _clock_s() + minutes * 60

        def store(public: Mapping[str, str]) -> str:
            ground_keys.keep_public(root, drone, public)
            if running is not None:
                ground_keys.hand_over(keys, running, drone)
            return ground.enlist(drone, keys)

        with channel.ground(bind, port, host, 0, int(time.time() + minutes * 60)) as (session, line):
            print(line.text(), flush=True)
            if qr:
                _show_qr(line.text())
            if is_private(host):
                note(f"{host} is an address of this network alone; for a drone elsewhere see docs/joining.md.")
            note(
                f"On {drone}: pqcmav join LINE  (it works once, for {minutes:g} min; whoever has it can take the keys)"
            )
            try:
                _serve(Desk(drone, packed, until_s, store), session, drone)
            finally:
                _clear()


def own_address() -> str:
    """The address from which this machine reaches others. Raises CliError where it reaches nobody."""
    for family, other in ((socket.AF_INET, "192.0.2.1"), (socket.AF_INET6, "2001:db8::1")):
        with socket.socket(family, socket.SOCK_DGRAM) as asked:
            try:
                asked.connect((other, 9))  # sends nothing
            except OSError:
                continue
            return str(asked.getsockname()[0])
    raise CliError("This machine has no route to anywhere; say by --address how the drone reaches it.", ExitCode.USAGE)


def peer_of(host: str, ground: trial.Ground) -> str:
    """How the drone's configuration names this ground station."""
    if (ground.gcs_id, ground.data_port) == ("gcs", trial.DATA_PORT):
        return host
    return f"{ground.gcs_id}@{f'[{host}]' if ':' in host else host}:{ground.data_port}"


def _clock_s() -> float:
    """Goes on while a laptop sleeps: a line is not good for longer than was said."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


def _serve(desk: Desk, session: channel.Channel, drone: str) -> None:
    """Until the drone has tested its link, or nothing is to be waited for. Raises CliError unless it worked."""
    said, linger_s = Stage.WAITING, None
    while linger_s is None or _clock_s() < linger_s:
        now_s = _clock_s()
        stage = desk.look(now_s)
        if stage is not said:
            said = stage
            _tell(desk, session, drone)
        if stage is Stage.OVER or (stage is Stage.STORED and desk.left_s(now_s) <= 0):
            break
        if stage is Stage.TESTED and linger_s is None:
            linger_s = now_s + LINGER_S
        _count_down(desk, now_s)
        message = session.receive(1.0 if linger_s is None else 0.1)
        if message is not None:
            session.send(desk.answer(message, _clock_s()))
    _clear()
    _conclude(desk, session, drone)


def _tell(desk: Desk, session: channel.Channel, drone: str) -> None:
    _clear()
    if desk.stage is Stage.TAKEN:
        note(f"{_named(desk, session)} takes the keys of {drone}; the line is spent.")
    elif desk.stage is Stage.STORED:
        note(f"{drone} has stored its keys.")


def _conclude(desk: Desk, session: channel.Channel, drone: str) -> None:
    again = f"'pqcmav invite {drone}' makes another line"
    if desk.refused:
        note(f"Another one tried the same line {desk.refused} times and got nothing.")
    if desk.problem:
        raise CliError(f"{drone} has its keys, but is not let in here: {desk.problem}")
    if desk.stage is Stage.TESTED and desk.link_ok:
        note(f"OK: {drone} joined; {desk.verdict}.")
    elif desk.stage is Stage.TESTED:
        raise CliError(f"{drone} has its keys, but its test of the link failed: {desk.verdict}")
    elif desk.stage is Stage.STORED:
        note(f"{drone} joined; it did not say whether its link works.")
    elif desk.taken:
        raise CliError(
            f"{_named(desk, session)} took keys of {drone} and has not confirmed that it stored them; {again}. If that "
            f"was not your drone: 'pqcmav keys rotate {drone} --now' first."
        )
    else:
        strangers = sum(session.engine.totals().get(name, 0) for name in ("hs_tag", "hs_gate"))
        tried = f" {strangers} datagrams came of others who do not have this line." if strangers else ""
        raise CliError(f"Nobody came in time, and the line is worth nothing any more;{tried} {again}.")


def _named(desk: Desk, session: channel.Channel) -> str:
    return f"{desk.host or 'A drone'} ({session.status()['peer']})"


def _count_down(desk: Desk, now_s: float) -> None:
    if desk.stage is Stage.WAITING and sys.stderr.isatty():
        left_s = max(0, int(desk.left_s(now_s)))
        print(f"\rwaiting, {left_s // 60}:{left_s % 60:02} left ", end="", file=sys.stderr, flush=True)


def _clear() -> None:
    if sys.stderr.isatty():
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def _show_qr(text: str) -> None:
    try:
        import segno
    except ModuleNotFoundError:
        note("QR codes need the Python package segno ('tools/setup.sh dashboard' brings it); the line above is enough.")
        return
    segno.make(text, micro=False).terminal(sys.stderr, compact=True)


def is_private(host: str) -> bool:
    """Is it an address that other networks do not reach?"""
    try:
        return ipaddress.ip_address(host.partition("%")[0]).is_private
    except ValueError:
        return False
