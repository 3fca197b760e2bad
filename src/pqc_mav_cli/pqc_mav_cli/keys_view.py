# SPDX-License-Identifier: Apache-2.0
"""How key folders look on a terminal. Pure: what the engine lists goes in, tables come out."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.table import Table
from rich.text import Text

from pqc_mav_cli.wording import counted

Entry = Mapping[str, Any]  # as list_keys returns them
_BROKEN = "red"


def every_file(entries: Sequence[Entry], folder: Path) -> Table:
    """A row per file."""
    made = _table("kind", "algorithm", "owner", "fingerprint", "file")
    for entry in entries:
        last = Text(entry["problem"], _BROKEN) if entry["problem"] else Text(str(_below(folder, entry)))
        made.add_row(entry["kind"], entry["algorithm"], entry["owner"], entry["fingerprint"], last)
    return made


def summary(entries: Sequence[Entry], folder: Path) -> Table:
    """A row per end: what it holds, and the PSK's fingerprint where it has one."""
    made = _table("end", "holds")
    made.add_column("PSK", no_wrap=True)
    for end, its in _by_end(entries, folder).items():
        good = [entry for entry in its if not entry["problem"]]
        own = [entry["fingerprint"] for entry in good if Path(entry["path"]).name == "psk.key"]
        made.add_row(end, _holds(good, len(its) - len(good)), own[0] if own else "")
    return made


def problems(entries: Sequence[Entry]) -> list[Text]:
    """One line per key that cannot be used."""
    return [Text(entry["problem"], _BROKEN) for entry in entries if entry["problem"]]


def drones(entries: Sequence[Entry], known: Sequence[str], root: Path, grounds: Sequence[Path]) -> list[dict[str, Any]]:
    """What each ground station (its folder below the root) holds of each drone, and whether its own share is here.

    A PSK that a ground station lacks is "".
    """
    found = []
    for drone in known:
        psks = {ground.name: root / ground / "psk" / f"{drone}.key" for ground in grounds}
        own = root / "drones" / drone
        folders = {own, *(root / ground / "drones" / drone for ground in grounds)}
        its = [entry for entry in entries if Path(entry["path"]) in psks.values() or folders & set(_folders(entry))]
        prints = {Path(entry["path"]): entry["fingerprint"] for entry in its}
        first = root / grounds[0] / "drones" / drone
        signs = [entry["algorithm"] for entry in its if first in _folders(entry) and not entry["problem"]]
        found.append(
            {
                "drone_id": drone,
                "psk": {name: prints.get(path, "") for name, path in psks.items()},
                "signs": signs,
                "share_here": own.is_dir(),
                "problems": [entry["problem"] for entry in its if entry["problem"]],
            }
        )
    return found


def drones_table(found: Sequence[Mapping[str, Any]]) -> Table:
    """A row per drone."""
    several = any(len(drone["psk"]) > 1 for drone in found)
    made = _table("drone", "PSK at the ground stations" if several else "PSK at the gcs", "signs", "share here")
    for drone in found:
        psk = Text("\n").join(_psk(name if several else "", value) for name, value in drone["psk"].items())
        if drone["problems"]:
            psk = Text("cannot be used", _BROKEN)
        signs = counted(len(drone["signs"]), "algorithm") if drone["signs"] else "no"
        made.add_row(drone["drone_id"], psk, signs, "yes" if drone["share_here"] else "no")
    return made


def _psk(ground: str, fingerprint: str) -> Text:
    text = Text(fingerprint) if fingerprint else Text(f"none: {ground or 'the gcs'} refuses it", "yellow")
    return Text(f"{ground}: ").append_text(text) if ground else text


def _table(*titles: str) -> Table:
    made = Table(box=None, pad_edge=False, header_style="bold")
    for title in titles:
        made.add_column(title, overflow="fold")
    return made


def _below(folder: Path, entry: Entry) -> Path:
    path = Path(entry["path"])
    return path.relative_to(folder) if path.is_relative_to(folder) else path


def _folders(entry: Entry) -> tuple[Path, ...]:
    return tuple(Path(entry["path"]).parents)


def _by_end(entries: Sequence[Entry], folder: Path) -> dict[str, list[Entry]]:
    """The ground station first; a folder that is itself an end's is one."""
    tops = [_below(folder, entry).parts[:2] for entry in entries]
    is_root = any(top == ("gcs", "psk") or top[0] == "stations" for top in tops)
    ends: dict[str, list[Entry]] = {}
    for entry in entries:
        parts = _below(folder, entry).parts
        end = folder.name if not is_root else "/".join(parts[: 2 if parts[0] in ("drones", "stations") else 1])
        ends.setdefault(end, []).append(entry)
    return dict(sorted(ends.items(), key=lambda item: (item[0].startswith("drones/"), item[0])))


def _holds(entries: Sequence[Entry], broken: int) -> str:
    kinds = Counter(entry["kind"] for entry in entries)
    pairs = kinds["sig-secret"]
    counts = {
        "PSK": kinds["psk"],
        "key pair": pairs,
        "public key": kinds["sig-public"] - pairs,
        "key for restarts": kinds["restart"],
        "unusable": broken,
    }
    plural = {"key for restarts": "keys for restarts", "unusable": "unusable"}
    return ", ".join(counted(count, name, plural.get(name, "")) for name, count in counts.items() if count)
