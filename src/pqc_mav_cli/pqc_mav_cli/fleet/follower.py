# SPDX-License-Identifier: Apache-2.0
"""What a station takes from a registry: each entry once, and none that is not the operator's.

What is done is in a file, which is written before it is confirmed. It also keeps what was refused, by its reason.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

from pqc_mav_cli.errors import CliError, ExitCode
from pqc_mav_cli.fleet import entry
from pqc_mav_cli.fleet.entry import EntryError, Order
from pqc_mav_cli.fleet.identity import OperatorPublic, Station
from pqc_mav_cli.fleet.view import Key, View, sealed
from pqc_mav_cli.joining.desk import plain
from pqc_mav_common.atomic_file import atomic_write

_NAMES = 100_000  # of entries that are remembered: more than any fleet has


class Does(Protocol):
    """Where orders go: `hands.Hands`, or a test's own."""

    def do(self, orders: Sequence[Order]) -> Sequence[str | Callable[[], str]]:
        """As `Hands.do`."""
        ...


class Follower:
    """One station's side of a registry, without the network."""

    def __init__(
        self, gcs_id: str, station: Station, operator: OperatorPublic, state: Path, say: Callable[[str], None]
    ) -> None:
        self.gcs_id, self._station, self._operator, self._say = gcs_id, station, operator, say
        self._file = state
        self._done, self.refused, self._begun = _read(state, operator.fingerprint)
        self._seen: dict[str, int] = {}
        self._waiting: dict[str, Order] = {}
        self._under_way: dict[str, int] = {}  # the revision of what `finish` is still to be told of
        self.receipts: list[tuple[str, bytes]] = []  # names and values that the store is still to have
        self.key: Key | None = None  # of the newest entry, as the next one
        self.warning_key = b""
        self._written = ""

    @property
    def waiting(self) -> bool:
        """Is there something that could not be done yet?"""
        return bool(self._waiting)

    def take(self, name: str, value: bytes) -> None:
        """An entry as it stands in the store. One that is to be done waits for `work`; those refused are counted."""
        if self._seen.get(name) == hash(value):
            return  # as after each new connection
        if len(self._seen) < _NAMES:
            self._seen[name] = hash(value)
        done, outcome = self._done.get(name, (-1, ""))
        newest = self._waiting[name].revision if name in self._waiting else done
        try:
            order = entry.read(value, name, self.gcs_id, self._station, self._operator, newest)
        except EntryError as error:
            count = self.refused[error.refusal.name] = self.refused.get(error.refusal.name, 0) + 1
            if count & (count - 1) == 0:  # whoever floods the store does not flood the log
                self._say(f"refused {plain(name, 60)}: {error} ({count} so far)")
                with suppress(CliError):  # a mere count: a later write has it
                    self._write(self._done, self._begun)
            return
        if self.key is None or order.revision > self.key.revision:
            self.key = Key(order.name, order.revision, order.receipt)
            self.warning_key = order.warning
        if order.revision == done:  # as after a start; the operator may not have heard of it
            self._confirm(order, outcome)
        else:
            self._waiting[name] = order

    def work(self, hands: Does) -> list[tuple[Order, Callable[[], str]]]:
        """Does what waits, and returns what takes long: its outcome is for `finish`.

        Raises CliError if it has to wait longer.
        """
        orders = [order for name, order in self._waiting.items() if self._under_way.get(name) != order.revision]
        if not orders:
            return []
        orders = [replace(order, begun=order.name in self._begun) for order in orders]
        try:  # for the next process; of this one the hands know it themselves
            self._write(self._done, self._begun | {order.name for order in orders})
        except CliError:  # a full disk keeps nobody in
            if going := [order for order in orders if order.drone_id and order.settings is None]:
                hands.do(going)
            raise
        outcomes = list(zip(orders, hands.do(orders), strict=True))
        long = [(order, outcome) for order, outcome in outcomes if not isinstance(outcome, str)]
        self._finished([(order, outcome) for order, outcome in outcomes if isinstance(outcome, str)])
        self._under_way |= {order.name: order.revision for order, _ in long}
        return long

    def finish(self, order: Order, outcome: str) -> None:
        """What came of something long; with "" it is done once more. Raises CliError as `work` does."""
        if self._under_way.get(order.name) == order.revision:
            del self._under_way[order.name]
        waits = self._waiting.get(order.name)
        if outcome and waits and waits.revision == order.revision:  # or a newer one has overtaken it
            self._finished([(order, outcome)])

    def _finished(self, outcomes: Sequence[tuple[Order, str]]) -> None:
        names = {order.name for order, _ in outcomes}
        done = self._done | {order.name: (order.revision, said) for order, said in outcomes}
        self._write(done, self._begun - names)  # what is confirmed is known after a restart, too
        self._done, self._begun = done, self._begun - names
        for order, outcome in outcomes:
            self._say(f"{order.name}, revision {order.revision}: {outcome}")
            del self._waiting[order.name]
            self._confirm(order, outcome)

    def told(self, view: View) -> tuple[str, bytes] | None:
        """What the operator is told of this station's drones, under its name; None before the first entry."""
        return (f"view.{self.gcs_id}", sealed(self.key, self.gcs_id, view)) if self.key else None

    def _confirm(self, order: Order, outcome: str) -> None:
        self.receipts.append((f"receipt.{self.gcs_id}.{order.name}", entry.receipt(order, outcome)))

    def _write(self, done: Mapping[str, tuple[int, str]], begun: Collection[str]) -> None:
        state = {"operator": self._operator.fingerprint, "done": done, "refused": self.refused, "begun": sorted(begun)}
        text = json.dumps(state, indent=1) + "\n"
        if text == self._written:
            return  # as in each try while the ground station does not run
        try:
            atomic_write(self._file, text)
            self._written = text
        except OSError as error:
            raise CliError(f"{self._file} cannot be written: {error.strerror}.") from None


def _read(path: Path, operator: str) -> tuple[dict[str, tuple[int, str]], dict[str, int], set[str]]:
    """What was done, what was refused, and what was begun. Raises CliError for a file that is not good."""
    try:
        state: dict[str, Any] = json.loads(path.read_text())
        done = {str(name): (int(revision), str(said)) for name, (revision, said) in state["done"].items()}
        refused = {str(name): int(count) for name, count in state["refused"].items()}
        begun = {str(name) for name in state["begun"]}
    except FileNotFoundError:
        return {}, {}, set()
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        raise CliError(
            f"{path} cannot be read. It says which entries this station has done: with an empty one in its place it "
            "takes whatever the registry shows first.",
            ExitCode.USAGE,
        ) from None
    if state.get("operator") != operator:
        raise CliError(
            f"{path} is of another operator ({state.get('operator')}, now {operator}); use another --state folder.",
            ExitCode.USAGE,
        )
    return done, refused, begun
