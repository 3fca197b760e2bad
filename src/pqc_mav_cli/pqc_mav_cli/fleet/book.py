# SPDX-License-Identifier: Apache-2.0
"""What the operator has decided, below the root of all keys in `fleet/`. The registry only tells it to the stations."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pqc_mav_cli.errors import CliError, ExitCode
from pqc_mav_cli.fleet import entry
from pqc_mav_cli.fleet.identity import Operator, StationPublic, station_public
from pqc_mav_cli.joining.ground_keys import station_folder
from pqc_mav_common.atomic_file import alone, atomic_write


class Book:
    """The operator's key, the stations' public keys, and each entry's newest revision."""

    def __init__(self, root: Path) -> None:
        """Raises CliError, also where there is no operator yet."""
        self.root = root
        self.folder = root / "fleet"
        self.operator = Operator.read(self.folder / "operator.pem")
        self._file = self.folder / "book.json"
        self.entries: dict[str, dict[str, Any]] = {}
        self._read()

    def _read(self) -> None:
        try:
            self.entries = dict(json.loads(self._file.read_text())["entries"])
        except FileNotFoundError:
            pass
        except (OSError, ValueError, KeyError, TypeError):
            raise CliError(
                f"{self._file} cannot be read; an empty one may take its place if the drones are then added again.",
                ExitCode.USAGE,
            ) from None

    @contextmanager
    def alone(self) -> Iterator[None]:
        """No other command writes meanwhile, and what one has written before is in here."""
        with alone(self.folder):
            self._read()
            yield

    def stations(self) -> dict[str, StationPublic]:
        """To whom entries are sealed, by gcs_id. Raises CliError, also where there is none yet."""
        paths = sorted((self.folder / "stations").glob("*.pub"))
        if not paths:
            raise CliError(
                "No station has a key here yet: 'pqcmav fleet station-key' at the station prints it, 'pqcmav fleet "
                "station ID FILE' takes it.",
                ExitCode.USAGE,
            )
        return {path.stem: station_public(path) for path in paths}

    def standing(self) -> dict[str, dict[str, Any]]:
        """Entries that a new station is told."""
        return {name: each for name, each in self.entries.items() if each.get("settings", {}) is not None}

    def least(self) -> int:
        """The oldest revision by whose key a station may tell of itself. One that was replaced has none so new: all
        entries were made anew for its successor."""
        return min((each["revision"] for each in self.standing().values()), default=0)

    def drones(self) -> list[str]:
        """Those that are to be there."""
        return [entry.drone_of(name) for name, each in self.entries.items() if each.get("settings") is not None]

    def gone(self) -> set[str]:
        """Drones that were removed."""
        return {entry.drone_of(name) for name, each in self.entries.items() if each.get("settings", {}) is None}

    def changed(
        self, stations: Mapping[str, StationPublic], entries: Mapping[str, Mapping[str, Any]]
    ) -> dict[str, bytes]:
        """What says this to these stations from now on; it is in the book when this returns. Raises CliError.

        Only within `alone`.
        """
        # Of a book that was restored from a copy, too, the next revision is higher than any before.
        newest = max((each["revision"] for each in self.entries.values()), default=0)
        made = {}
        for revision, (name, what) in enumerate(entries.items(), max(newest + 1, time.time_ns() // 1_000_000)):
            drone = entry.drone_of(name) if what.get("settings") is not None else ""
            sealed = {gcs_id: (public, self._files(gcs_id, drone)) for gcs_id, public in stations.items()}
            made[name] = entry.make(self.operator, name, revision, what, sealed)
            if len(made[name]) > entry.LARGEST:
                raise CliError(f"{len(stations)} stations are more than an entry has room for.", ExitCode.USAGE)
            self.entries[name] = {"revision": revision, **what}
        try:
            atomic_write(self._file, json.dumps({"entries": self.entries}, indent=1) + "\n")
        except OSError as error:
            raise CliError(f"{self._file} cannot be written: {error.strerror}.") from None
        return made

    def _files(self, gcs_id: str, drone: str) -> dict[str, str]:
        """What this station is to have of a drone. Raises CliError."""
        if not drone:
            return {}
        folder = station_folder(self.root, gcs_id)
        paths = [folder / "psk" / f"{drone}.key", *sorted((folder / "drones" / drone).glob("*.pub"))]
        try:
            return {"psk.key" if path.suffix == ".key" else path.name: path.read_text("ascii") for path in paths}
        except (OSError, UnicodeDecodeError) as error:
            raise CliError(f"The keys of {drone} for {gcs_id} cannot be read: {error}.") from None
