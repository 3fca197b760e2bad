# SPDX-License-Identifier: Apache-2.0
"""A station does what a registry says: key files, the configuration file and one reload, or all is as it was."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path

import typer

from pqc_mav_cli import drones_file
from pqc_mav_cli.avoid_command import leave
from pqc_mav_cli.drones_command import ground_station, naming, saving_to
from pqc_mav_cli.errors import CliError, engine_errors
from pqc_mav_cli.fleet.entry import Order
from pqc_mav_cli.fleet.view import EVENTS, View, event_of, row_of
from pqc_mav_cli.fleet.warning import Warned
from pqc_mav_cli.joining.channel import in_memory
from pqc_mav_cli.joining.ground_keys import hand_over, read_by, read_elsewhere, write_key
from pqc_mav_common.local_socket import ANSWER_S, Control, ControlError

_PSK = "psk.key"
Outcome = str | Callable[[], str]
_LATER = "state"  # what the engine says while its tunnel is paused, or is just being opened or closed


class Hands:
    """The ground station of this machine, by its control socket, and its folder of keys."""

    def __init__(self, keys: Path, socket: str = "") -> None:
        self.keys = keys
        self.socket = socket
        self._renewed: set[str] = set()  # drones whose key was replaced, and whose session may still be of the old one

    def gcs_id(self) -> str:
        """What the running ground station is called. Raises CliError."""
        with ground_station(self.socket) as control:
            return str(control.ask("status").get("gcs_id", "gcs"))

    def alarm(self) -> Warned:
        """What the detector of this station says. Raises CliError or ControlError."""
        with ground_station(self.socket) as control:
            said = control.ask(
                "alarm", level=None
            )  # not left out: an older engine would take it as the end of an alarm
            return Warned(int(said["level"]), str(said["kind"]))

    def warn(self, station: str, what: Warned) -> None:
        """Tells this station's drones what another station's detector says. Raises CliError or ControlError."""
        with ground_station(self.socket) as control:
            control.ask("alarm", level=what.level, kind=what.kind, **{"from": station})

    def look(self, before: View | None, at_ms: int) -> View:
        """What the running ground station says now, and its events after those of `before`. Raises CliError."""
        with ground_station(self.socket) as control:
            commands = ("status", "stats", "link", "hello")
            status, stats, link, hello = control.ask_all([{"command": command} for command in commands])
            counted, quality = ({one["drone_id"]: one for one in each["tunnels"]} for each in (stats, link))
            rows = [row_of(one, counted.get(one["drone_id"], {}), quality.get(one["drone_id"], {}))
                    for one in status["tunnels"]]  # fmt: skip
            boot, newest = hello["boot"], hello["next"] - 1
            events = [*before.events] if before and before.boot == boot else []
            since = events[-1][0] + 1 if events else 0
            if since <= newest:
                control.ask("subscribe", since=max(since, newest + 1 - EVENTS), boot=boot)
                for event in control.events(ANSWER_S):
                    events.append((event["number"], event_of(event)))
                    if event["number"] >= newest:
                        break
            return View(at_ms, rows, boot, events[-EVENTS:])

    def do(self, orders: Sequence[Order]) -> list[Outcome]:
        """Does them, and returns for each what came of it, as a sentence for the operator.

        Of families to avoid, the ground station and its file have been told; then come the drones' new keys, for which
        a silent drone lets one wait for a minute, and a function that sees to them and returns the sentence.

        Raises CliError for what may be otherwise in a while, such as a ground station that does not run: then nothing
        has been done, or what has been done may be done again.
        """
        try:
            with ground_station(self.socket) as control:
                file, elsewhere = naming(control), read_elsewhere(read_by(control), self.keys)
                said = {each.name: f"refused: {elsewhere}" for each in orders if elsewhere and each.files}
                going = [each for each in orders if each.drone_id and each.settings is None]
                coming = [each for each in orders if each.settings is not None and each.name not in said]
                last = _last(control, going) if coming else ""
                if others := [each.drone_id for each in going if each.drone_id != last]:
                    said |= self._removed(control, file, others, elsewhere)
                said |= zip([order.name for order in coming], self._added(control, coming), strict=True)
                if last:
                    said |= self._removed(control, file, [last], elsewhere)
                return [said[each.name] if each.name in said else _avoid(control, file, each) for each in orders]
        except ControlError as error:
            raise CliError(str(error)) from None

    def _added(self, control: Control, orders: Sequence[Order]) -> list[str]:
        """In one go; if that is refused each by itself, so that one drone's order costs no other one."""
        if not orders:
            return []
        coming = {order.drone_id: order.settings or {} for order in orders}
        try:
            if (file := saving_to(control)) is None:
                raise CliError("The ground station has no configuration file of its own (--config) to save a drone in.")
            bad = {order.drone_id: why for order in orders if (why := self._keys(order))}
            with drones_file.saved(file, {name: coming[name] for name in coming if name not in bad}):
                done = control.ask("reload")
                if {*coming} - {*bad} - {*_drones(control)}:
                    raise ControlError(_not_of(file))
                self._renewed |= {order.drone_id for order in orders if order.begun} | {*done["renewed"]}
                for drone in self._renewed & {*coming}:  # whoever has the old key is out
                    control.ask("drones", action="end", drone=drone)
                    self._renewed.discard(drone)
        except (CliError, ControlError) as error:
            if isinstance(error, ControlError) and error.code == _LATER:
                raise
            if len(orders) > 1:
                return [self._added(control, [order])[0] for order in orders]
            return [f"refused: {error}"]
        return [bad.get(order.drone_id) or "there" for order in orders]

    def _removed(self, control: Control, file: Path | None, drones: Sequence[str], elsewhere: str) -> dict[str, str]:
        """Outcomes by names of entries. Sessions end first, whatever is wrong with a disk or another drone's key."""
        here, wrong = _drones(control), dict[str, str]()
        for drone in drones:
            try:
                if here == [drone]:
                    raise CliError(f"'{drone}' is the only drone here, and a ground station has to name one.")
                if there := drone in here:
                    control.ask("drones", action="remove", drone=drone)
                    here.remove(drone)
                if not (file and drones_file.save(file, drone, None)) and there:
                    raise CliError(_not_of(file))
            except CliError as error:
                wrong[drone] = str(error)
        wrong |= {drone: _not_of(file) for drone in _coming_back(control, drones) if drone not in wrong}
        said = {}
        for drone in drones:
            try:
                if why := wrong.get(drone) or elsewhere:
                    raise CliError(why)
                self._forget(drone)
                said[f"drone.{drone}"] = "removed"
            except CliError as error:
                said[f"drone.{drone}"] = self._shut_out(control, drone, str(error), elsewhere)
        return said

    def _shut_out(self, control: Control, drone: str, why: str, elsewhere: str) -> str:
        try:
            self._lock_out(control, drone, elsewhere)
        except (CliError, ControlError) as error:
            out = "" if drone in _drones(control) else ", but it is out until the ground station starts again"
            return f"refused{out}: {why}" + (f" {error}" if str(error) != why else "")
        return f"refused, but its key is worth nothing any more: {why}"

    def _forget(self, drone: str) -> None:
        try:
            (self.keys / "psk" / f"{drone}.key").unlink(missing_ok=True)
        except OSError as error:
            raise CliError(f"The key of {drone} cannot be removed: {error.strerror}.") from None
        shutil.rmtree(self.keys / "drones" / drone, ignore_errors=True)

    def _lock_out(self, control: Control, drone: str, elsewhere: str) -> None:
        """Of a drone that a file goes on naming, such as the only one: it gets a key that nobody else has."""
        import pqc_mav_tunnel

        if elsewhere:
            raise CliError(elsewhere)
        gcs_id = control.ask("status").get("gcs_id", "gcs")
        with in_memory() as folder:
            with engine_errors():
                pqc_mav_tunnel.init_keys(str(folder), [drone], sig_tokens=["mldsa44"], gcs_id=gcs_id)
            key = f"psk/{drone}.key"
            try:
                write_key(self.keys, Path(key), (folder / "gcs" / key).read_text("ascii"))
            except OSError as error:
                with suppress(CliError):
                    self._forget(drone)
                raise CliError(f"The key of {drone} cannot be replaced: {error.strerror}.") from None
            finally:  # a full disk keeps nobody in
                if drone in _drones(control):
                    control.ask("drones", action="end", drone=drone)

    def _keys(self, order: Order) -> str:
        """Puts a drone's keys in their place. Returns what is wrong with them, if anything is."""
        import pqc_mav_tunnel

        if _PSK not in order.files:
            return "refused: there is no PSK among its keys"
        with in_memory() as folder:
            for part in ("psk", "sig", f"drones/{order.drone_id}"):
                (folder / part).mkdir(mode=0o700, parents=True)
            for name, text in order.files.items():
                where = (
                    Path("psk") / f"{order.drone_id}.key" if name == _PSK else Path("drones") / order.drone_id / name
                )
                (folder / where).touch(mode=0o600)
                (folder / where).write_text(text)
            with engine_errors():
                entries = pqc_mav_tunnel.list_keys(str(folder))
            wrong = [each["problem"] or f"a key is of {each['owner']}" for each in entries
                     if each["problem"] or each["owner"] != order.drone_id]  # fmt: skip
            if wrong or len(entries) != len(order.files):
                return f"refused: {wrong[0] if wrong else 'a key cannot be read'}"
            try:
                there = self.keys / "psk" / f"{order.drone_id}.key"
                if there.exists() and there.read_bytes() != order.files[_PSK].encode():
                    self._renewed.add(order.drone_id)
                hand_over(folder, self.keys, order.drone_id)
            except OSError as error:
                raise CliError(f"The keys of {order.drone_id} cannot be replaced: {error}.") from None
        return ""


def _drones(control: Control) -> list[str]:
    return [each["drone_id"] for each in control.ask("drones")["drones"]]


def _coming_back(control: Control, drones: Sequence[str]) -> set[str]:
    """With the next reload: the command line names them, too. Not known if the key of another drone is bad."""
    with suppress(ControlError):
        return {*drones} & {*control.ask("reload", dry_run=True).get("drones", {}).get("added", [])}
    return set()


def _last(control: Control, going: Sequence[Order]) -> str:
    """Which of these has to wait for one that comes, for a ground station has one drone at least; "" if none has."""
    here = _drones(control)
    return here[-1] if {*here} <= {each.drone_id for each in going} else ""


def _not_of(file: Path | None) -> str:
    of = f"from {file}" if file else "from a configuration file"
    return (
        f"The ground station does not take its drones {of}: its command line names them, or they were added without "
        "the file."
    )


def _avoid(control: Control, file: Path | None, order: Order) -> Outcome:
    """Drones that cannot leave are named to the operator; nothing is tried again for them."""
    lines, said = leave(control, order.families, file), list[str]()

    def go_on(most: int | None = None) -> str:
        try:
            for line in islice(lines, most):
                said.append(line)
        except typer.Exit:  # said already: the file cannot be written
            return f"refused in part: {'; '.join(said)}"
        except (CliError, ControlError) as error:
            if isinstance(error, ControlError) and error.code == _LATER:
                raise
            # What is wrong first: a long outcome is cut.
            return "; ".join([f"refused in part: {error}" if said else f"refused: {error}", *said])
        return "; ".join(said) if most is None else ""

    return go_on(1) or go_on
