# SPDX-License-Identifier: Apache-2.0
"""`pqcmav fleet`: one place to add, remove and steer the drones of several ground stations (docs/fleet.md)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from pqc_mav_cli.console import console, note
from pqc_mav_cli.errors import CliError, ExitCode
from pqc_mav_cli.keys_command import DEFAULT_ROOT, Root, no_core_dumps

DEFAULT_STATE = Path("~/.pqcmav/registry")
_CONFIRM_S = 10.0

fleet_app = typer.Typer(
    no_args_is_help=True,
    help="Add and remove drones at several ground stations at once, through a registry (NATS JetStream).",
)

Url = Annotated[
    str,
    typer.Option("--registry", envvar="PQCMAV_REGISTRY", help="The server: nats://USER:PASSWORD@HOST, or tls://..."),
]
State = Annotated[Path, typer.Option("--state", help="Folder of this station's key, and of what it has done.")]
DroneIds = Annotated[list[str], typer.Argument(help="Ids of drones.")]


@fleet_app.callback()
def ready() -> None:
    """Before any key is read. Raises CliError if a package is missing."""
    no_core_dumps()
    try:
        import cryptography.hazmat.primitives.hpke  # noqa: F401
        import nats  # noqa: F401
    except ModuleNotFoundError as error:
        raise CliError(
            f"A registry needs the Python packages nats-py and cryptography 50 or newer ({error.name} is missing): "
            "'tools/setup.sh dashboard' brings them into a workspace, pip elsewhere.",
            ExitCode.USAGE,
        ) from None


@fleet_app.command()
def init(root: Root = DEFAULT_ROOT) -> None:
    """At the operator's: make the key that signs what the registry says. Its public half goes to each station."""
    from pqc_mav_cli.fleet.identity import Operator, write_secret
    from pqc_mav_common.atomic_file import atomic_write

    folder = root.expanduser() / "fleet"
    if (folder / "operator.pub").exists() or not (folder / "operator.pem").exists():
        write_secret(folder / "operator.pem", Operator.make().pem())
    operator = Operator.read(folder / "operator.pem")
    atomic_write(folder / "operator.pub", operator.public.pem())
    note(f"{folder / 'operator.pub'} (fingerprint {operator.public.fingerprint}) goes to each station.")


@fleet_app.command(name="station-key")
def station_key(state: State = DEFAULT_STATE) -> None:
    """At a station: print the public key to which its drones' keys are sealed; it is made if there is none."""
    from pqc_mav_cli.fleet.identity import Station, write_secret

    path = state.expanduser() / "station.pem"
    if not path.exists():
        write_secret(path, Station.make().pem())
    station = Station.read(path)
    print(station.public.pem().decode(), end="")
    note(f"Fingerprint {station.public.fingerprint}: at the operator's, 'pqcmav fleet station ID FILE' with this text.")


@fleet_app.command()
def station(
    gcs_id: Annotated[str, typer.Argument(help="The station's gcs_id.")],
    key: Annotated[
        Path, typer.Argument(help="The file with the station's public key, as 'pqcmav fleet station-key' prints it.")
    ],
    url: Url = "",
    root: Root = DEFAULT_ROOT,
) -> None:
    """At the operator's: let a station have the drones' keys. It gets all drones that the registry has."""
    from pqc_mav_cli.fleet.identity import station_public
    from pqc_mav_cli.joining.ground_keys import make
    from pqc_mav_cli.key_changes import grounds
    from pqc_mav_common.atomic_file import atomic_write

    book = _book(root)
    public = station_public(key)
    if gcs_id not in {ground.name for ground in grounds(book.root)}:
        raise CliError(
            f"{book.root} has no keys of {gcs_id}: 'pqcmav keys init DRONE --station {gcs_id}' makes them.",
            ExitCode.USAGE,
        )
    folder = book.folder / "stations"
    folder.mkdir(mode=0o700, exist_ok=True)
    with book.alone():  # what another command adds is in the book now, or is told to this station too
        if drones := book.drones():
            make(book.root, drones, gcs_id)
        atomic_write(folder / f"{gcs_id}.pub", public.pem())
    note(f"{gcs_id} has the key with fingerprint {public.fingerprint}; compare it with what the station says.")
    if _standing(book):
        _tell(book, lambda: _standing(book), url)


@fleet_app.command()
def add(
    drones: DroneIds,
    endpoint: Annotated[
        list[str] | None,
        typer.Option(help="Its plaintext at each station, e.g. udp-listen:127.0.0.1:14560; repeat it. For one drone."),
    ] = None,
    suite: Annotated[
        list[str] | None, typer.Option(help="A suite that it may ask for; repeat it. Default: all. For one drone.")
    ] = None,
    url: Url = "",
    root: Root = DEFAULT_ROOT,
) -> None:
    """At the operator's: add drones at every station, or bring the stations a drone's new keys and settings.

    Keys that are missing are made, as by 'pqcmav keys init'. The drone gets its share by 'pqcmav keys export-drone'.
    """
    from pqc_mav_cli.joining.ground_keys import make

    settings = {"plain_endpoints": endpoint, "allowed_suites": suite}
    given = {key: value for key, value in settings.items() if value}
    if given and len(drones) > 1:
        raise CliError("--endpoint and --suite are one drone's; add the others by themselves.", ExitCode.USAGE)
    if given:
        _check(drones=drones, drone={drones[0]: given})
    book = _book(root)
    for gcs_id in book.stations():
        make(book.root, drones, gcs_id)

    def with_settings(name: str) -> dict[str, Any]:
        return {"settings": {**(book.entries.get(name, {}).get("settings") or {}), **given}}

    _tell(book, lambda: {name: with_settings(name) for name in (f"drone.{drone}" for drone in drones)}, url)


@fleet_app.command()
def remove(
    drones: DroneIds,
    url: Url = "",
    root: Root = DEFAULT_ROOT,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """At the operator's: remove drones at every station. Their sessions end, and their keys are gone everywhere."""
    from pqc_mav_cli import key_changes
    from pqc_mav_cli.keys_command import may_go

    book = _book(root)
    for drone in drones:
        if f"drone.{drone}" not in book.entries:
            raise CliError(f"The registry has no drone '{drone}': 'pqcmav fleet list' shows them.", ExitCode.USAGE)
    may_go(f"the keys of {', '.join(drones)}", yes)
    try:
        _tell(book, lambda: {f"drone.{drone}": {"settings": None} for drone in drones}, url)
    finally:  # not without the book, by which a new station would still be told of a drone without keys
        with book.alone(), key_changes.alone_in(book.root):
            for drone in {*drones} & {*key_changes.drones_of(book.root)} - {*book.drones()}:
                key_changes.revoke(book.root, drone)


@fleet_app.command()
def avoid(
    families: Annotated[list[str], typer.Argument(help="As of 'pqcmav avoid': lattices, ML-KEM, level1 ..., or none.")],
    url: Url = "",
    root: Root = DEFAULT_ROOT,
) -> None:
    """At the operator's: every station, and with it its drones, leaves these families of algorithms."""
    from pqc_mav_cli.avoid_command import HANDSHAKE_S, wanted

    book = _book(root)
    _check(avoid=wanted(families))
    _tell(book, lambda: {"avoid": {"families": wanted(families)}}, url, _CONFIRM_S + HANDSHAKE_S)


def _check(**settings: Any) -> None:
    """What no station could do is not told to any: an engine looks at this before its keys. Raises CliError."""
    import pqc_mav_tunnel

    try:
        # A station may have plaintext beyond its own machine; it says so itself if not.
        general = {"role": "gcs", "keys": "/nowhere", "drones": ["none"], "plain_allow_remote": True}
        pqc_mav_tunnel.Engine({**general, **settings})
    except pqc_mav_tunnel.TunnelError as error:
        if error.code in ("config_invalid", "suite_unknown"):
            raise CliError(str(error), ExitCode.USAGE) from None


@fleet_app.command(name="list")
def list_entries(url: Url = "", root: Root = DEFAULT_ROOT) -> None:
    """At the operator's: what the registry says, and what each station has confirmed of it."""
    from pqc_mav_cli.fleet.desk import confirmations

    book = _book(root)
    stations = book.stations()
    said = asyncio.run(confirmations(book, needed(url)))
    for name, each in sorted(book.entries.items()):
        at = "; ".join(f"{gcs_id}: {said.get((gcs_id, name), 'not confirmed')}" for gcs_id in stations)
        gone = "gone; " if each.get("settings", {}) is None else ""
        print(f"{name.removeprefix('drone.')}  {gone}{at}")


@fleet_app.command()
def status(url: Url = "", root: Root = DEFAULT_ROOT) -> None:
    """At the operator's: where each drone is connected. The exit code is 1 if one is not, or a station is silent."""
    from pqc_mav_cli.fleet.desk import views
    from pqc_mav_cli.fleet.heard import Heard, table

    book = _book(root)
    heard, time_s, clock_s = Heard(), time.time(), time.monotonic()
    for gcs_id, view in asyncio.run(views(book, needed(url))).items():
        heard.take(gcs_id, view, time_s, clock_s)
    found, wrong = table(heard.picture(book.stations(), book.drones(), book.gone(), time_s, clock_s))
    console().print(found)
    for sentence in wrong:
        note(sentence)
    if wrong:
        raise typer.Exit(ExitCode.FAILED)


@fleet_app.command()
def flights(
    drone: Annotated[str, typer.Option(help="Only those with this drone.")] = "",
    since: Annotated[
        datetime | None,
        typer.Option(metavar="TIME", help="Only those that ended after this: 2026-11-29T14:30:00."),
    ] = None,
    until: Annotated[
        datetime | None, typer.Option(metavar="TIME", help="Only those that began before this: 2026-11-30.")
    ] = None,
    get: Annotated[Path | None, typer.Option(help="Fetch them into this folder; what is there already stays.")] = None,
    url: Url = "",
    root: Root = DEFAULT_ROOT,
) -> None:
    """At the operator's: list recordings that the stations have sent, by time, or fetch them."""
    from pqc_mav_cli.fleet.desk import fetched, flights_of

    book = _book(root)
    begin_s, end_s = since.timestamp() if since else 0.0, until.timestamp() if until else 1e12
    found, strange = asyncio.run(flights_of(book, needed(url)))
    wanted = [
        (flight, box) for flight, box in found
        if flight.end_s >= begin_s and flight.begin_s <= end_s and (not drone or drone in flight.drones)
    ]  # fmt: skip
    for flight, _ in wanted:
        at = datetime.fromtimestamp(flight.begin_s).strftime("%Y-%m-%d %H:%M")
        minutes = (flight.end_s - flight.begin_s) / 60
        print(f"{at}  {minutes:5.1f} min  {flight.size / 1e6:6.1f} MB  {flight.name}  {', '.join(flight.drones)}")
    if not wanted:
        note("The registry has no such flights.")
    if strange:
        note(f"Left out {strange} that no station of this fleet has sent.")
    if get is not None:
        get.mkdir(parents=True, exist_ok=True)
        asyncio.run(fetched(wanted, needed(url), get, note))


@fleet_app.command()
def follow(
    operator: Annotated[Path, typer.Argument(help="The operator's public key, 'operator.pub'.")],
    url: Url = "",
    state: State = DEFAULT_STATE,
    gcs_keys: Annotated[
        Path | None, typer.Option(help="Where the ground station reads its keys. With the Debian package: its own.")
    ] = None,
    flights: Annotated[
        Path | None, typer.Option(help="Send recordings that are completed in this folder, for 'pqcmav fleet flights'.")
    ] = None,
    socket: Annotated[str, typer.Option(help="Control socket of the engine, if not in its usual folder.")] = "",
) -> None:
    """At a station: do what the registry says, beside the ground station that runs here, until it is interrupted.

    If the registry is away all goes on as it is.
    """
    from pqc_mav_cli.fleet.follower import Follower
    from pqc_mav_cli.fleet.following import follow_registry, name_of
    from pqc_mav_cli.fleet.hands import Hands
    from pqc_mav_cli.fleet.identity import Station, operator_public
    from pqc_mav_cli.fleet.sender import Sender
    from pqc_mav_cli.joining.packaged import packaged

    package = packaged("gcs")
    keys = gcs_keys.expanduser() if gcs_keys else package.keys if package else None
    if keys is None or not keys.is_dir():
        raise CliError("Say by --gcs-keys where the ground station reads its keys.", ExitCode.USAGE)
    place = state.expanduser()
    own, public = Station.read(place / "station.pem"), operator_public(operator)
    hands = Hands(keys, socket)
    gcs_id = name_of(hands, _say)
    follower = Follower(gcs_id, own, public, place / "done.json", _say)
    sender = Sender(gcs_id, flights.expanduser(), place / "flights.json", _say) if flights else None
    asyncio.run(follow_registry(follower, hands, sender, needed(url), _say))


def _tell(
    book: Any, decided: Callable[[], Mapping[str, Mapping[str, Any]]], url: str, confirm_s: float = _CONFIRM_S
) -> None:
    """Publishes, and prints what each station says. Raises CliError if one has not confirmed in time."""
    from pqc_mav_cli.fleet.desk import told

    begin = time.monotonic()

    def heard(gcs_id: str, name: str, outcome: str) -> None:
        drone = name.removeprefix("drone.") + " " if name != "avoid" else ""
        _say(f"{gcs_id}: {drone}{outcome} ({time.monotonic() - begin:.2f} s)")

    missing, refused = asyncio.run(told(book, decided, needed(url), confirm_s, heard))
    if missing:
        raise CliError(
            f"Not confirmed within {confirm_s:g} s: {', '.join(missing)}. The registry keeps it for them; "
            "'pqcmav fleet list' shows who has it."
        )
    if refused:
        raise CliError("Not every station did it: see above.")


def _standing(book: Any) -> dict[str, Any]:
    """All that a new station is told."""
    return {
        name: {key: value for key, value in each.items() if key != "revision"} for name, each in book.standing().items()
    }


def _book(root: Path) -> Any:
    from pqc_mav_cli.fleet.book import Book

    return Book(root.expanduser())


def needed(url: str) -> str:
    """Where the registry is. Raises CliError for nothing."""
    if not url:
        raise CliError("Say by --registry or PQCMAV_REGISTRY where the registry is: nats://HOST:4222.", ExitCode.USAGE)
    return url


def _say(line: str) -> None:
    print(line, flush=True)
