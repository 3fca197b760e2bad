# SPDX-License-Identifier: Apache-2.0
"""A machine as `pqcmav doctor --security` looks at it: its files, their owners, and the names of users and groups."""

import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class State:
    """Of a file or folder: permission bits, owner, group, and when it was written [s since 1970]."""

    mode: int
    uid: int
    gid: int
    written_s: float
    folder: bool


class Tree:
    """The files below `root`; paths are as on that machine. A copy of /etc, /proc and /sys will do for a test."""

    def __init__(self, root: Path = Path("/")) -> None:
        self.root = root
        self._users = [line.split(":") for line in self.text("/etc/passwd").splitlines() if line.count(":") >= 6]
        self._groups = [line.split(":") for line in self.text("/etc/group").splitlines() if line.count(":") >= 3]

    def at(self, path: str | Path) -> Path:
        """Where it is here."""
        return self.root / str(path).lstrip("/")

    def text(self, path: str | Path) -> str:
        """A file's text, empty when it cannot be read."""
        try:
            return self.at(path).read_text(encoding="utf-8", errors="replace")
        except (OSError, ValueError):
            return ""

    def names(self, folder: str | Path) -> list[str]:
        """What is in a folder, sorted; empty when it cannot be read."""
        try:
            return sorted(entry.name for entry in self.at(folder).iterdir())
        except OSError:
            return []

    def state(self, path: str | Path) -> State:
        """Of what a path leads to. Raises OSError."""
        found = self.at(path).stat()
        return State(
            stat.S_IMODE(found.st_mode), found.st_uid, found.st_gid, found.st_mtime, stat.S_ISDIR(found.st_mode)
        )

    def is_elsewhere(self, root: str) -> bool:
        """Whether a path leads to the root of another system, as a container has; False if this user may not look."""
        try:
            return not self.at(root).samefile(self.root)
        except OSError:
            return False

    def way_to(self, path: str | Path) -> Iterator[str]:
        """The folders above `path`, from the nearest to the root of the machine."""
        at = Path("/") / str(path).lstrip("/")
        yield from (str(folder) for folder in at.parents)

    def user(self, uid: int) -> str:
        """Its name; where it has none, the number."""
        return next((fields[0] for fields in self._users if fields[2] == str(uid)), f"uid {uid}")

    def home(self, uid: int) -> str:
        """Its folder; empty where it has none."""
        return next((fields[5] for fields in self._users if fields[2] == str(uid)), "")

    def group(self, gid: int) -> str:
        """Its name; where it has none, the number."""
        return next((fields[0] for fields in self._groups if fields[2] == str(gid)), f"gid {gid}")

    def members(self, gid: int) -> list[str]:
        """Who is in a group of /etc/group, or has it as their own in /etc/passwd. A directory service is not asked."""
        listed = [name for fields in self._groups if fields[2] == str(gid) for name in fields[3].split(",") if name]
        own = [fields[0] for fields in self._users if fields[3] == str(gid)]
        return sorted({*listed, *own})

    def gid_of(self, name: str) -> int | None:
        """The number of a group, if there is one of that name."""
        return next((int(fields[2]) for fields in self._groups if fields[0] == name and fields[2].isdigit()), None)

    def others_in(self, state: State, trusted: set[int]) -> list[str]:
        """The members of its group other than root and those of `trusted`."""
        known = {self.user(uid) for uid in {0, *trusted}}
        return [name for name in self.members(state.gid) if name not in known]
