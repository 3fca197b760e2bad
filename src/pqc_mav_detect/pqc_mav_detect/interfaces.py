# SPDX-License-Identifier: Apache-2.0
"""Which network interfaces count a packet that another one has counted: a port of a bridge, a VLAN on its line."""

from collections.abc import Collection
from pathlib import Path

FOLDER = Path("/sys/class/net")
_BELOW = "lower_"  # before the name of an interface, in the folder of one that lies on it


def counted_twice(names: Collection[str], folder: Path = FOLDER) -> frozenset[str]:
    """Of these, the ports of bridges and bonds, and what lies on an interface that is counted."""
    kept = {name for name in names if not (folder / name / "master").exists()}
    return frozenset({*names} - {name for name in kept if not _below(name, folder) & kept})


def _below(name: str, folder: Path) -> set[str]:
    """All interfaces on which this one lies."""
    found: set[str] = set()
    new = {name}
    while new:
        links = (link.name for each in new for link in (folder / each).glob(f"{_BELOW}*"))
        new = {link.removeprefix(_BELOW) for link in links} - found
        found |= new
    return found
