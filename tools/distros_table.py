# SPDX-License-Identifier: Apache-2.0
"""What 'make distros' found in each system, kept in a file for each, and the page made of these files."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from markdown_table import table

RELEASES = {"bookworm": "Debian 12", "trixie": "Debian 13", "noble": "Ubuntu 24.04", "resolute": "Ubuntu 26.04"}
# Packages whose versions the page names: what differs between the systems and has broken something before.
VERSIONS = {
    "g++": "GCC",
    "cmake": "CMake",
    "python3": "Python",
    "libssl-dev": "OpenSSL",
    "libyaml-cpp-dev": "yaml-cpp",
    "googletest": "GoogleTest",
}
NOT_RUN = "not run"


@dataclass
class Result:
    """One system: the steps in their order, and what became of those that ran."""

    release: str
    commit: str
    date: str
    steps: list[str]
    cells: dict[str, str] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)

    def cell(self, step: str) -> str:
        """What became of a step; one that did not run is called so."""
        return self.cells.get(step, NOT_RUN)

    def save(self, folder: Path) -> None:
        """Write it, in place of an older one of this system."""
        new = folder / f"{self.release}.json.new"
        new.write_text(json.dumps(asdict(self), indent=1) + "\n", encoding="utf-8")
        new.replace(new.with_suffix(""))


def load(folder: Path) -> list[Result]:
    """Return the newest result of each system, in the order of RELEASES."""
    files = [folder / f"{release}.json" for release in RELEASES]
    return [Result(**json.loads(file.read_text(encoding="utf-8"))) for file in files if file.exists()]


def versions(listed: str) -> dict[str, str]:
    """Return upstream's version of each package of VERSIONS in what dpkg-query printed ('NAME VERSION' per line)."""
    found = dict(line.split() for line in listed.splitlines() if len(line.split()) == 2)
    return {
        title: found[name].rpartition(":")[2].partition("-")[0].partition("+")[0]
        for name, title in VERSIONS.items()
        if name in found
    }


def machine() -> str:
    """Return what the systems shared, as one phrase."""
    model = next(
        (line.partition(":")[2].strip() for line in _lines("/proc/cpuinfo") if line.startswith("model name")),
        platform.machine(),
    )
    memory = next((int(line.split()[1]) // 1024 for line in _lines("/proc/meminfo") if line.startswith("MemTotal")), 0)
    return f"{os.cpu_count()} processors ({model}), {memory} MiB, Linux {platform.release()}"


def _lines(path: str) -> Sequence[str]:
    return Path(path).read_text(encoding="utf-8", errors="replace").splitlines()


def page(results: Sequence[Result], selections: Mapping[str, str]) -> str:
    """Return the page; `selections` says in words what a release's `make test` runs."""
    rows = [[name, *(getattr(each, name) for each in results)] for name in ("date", "commit")]
    rows += [[title, *(each.versions.get(title, "?") for each in results)] for title in VERSIONS.values()]
    steps = list(dict.fromkeys(step for each in results for step in each.steps))
    rows += [[step, *(each.cell(step) for each in results)] for step in steps]
    tested = [f"* {RELEASES[each.release]}: {selections[each.release]}" for each in results]
    return "\n".join(
        [
            "# In bare systems",
            "",
            "Written by `make distros`. Each system is bootstrapped from its own archive, gets make, git and",
            "certificates, a user and a clone of this commit, and then what the rows say, in this order; a step that",
            f"fails ends those of its user, and the others are called '{NOT_RUN}'. The commands are README.md's,",
            "word by word. No warning of the compiler, CMake or Python in any build is let pass. How long a step took",
            "says nothing of a quiet machine: others used this one, and compiled files came from a cache where it",
            "had them.",
            "",
            f"Machine: {machine()}.",
            "",
            *table(["", *(RELEASES[each.release] for each in results)], rows),
            "",
            "`make test` ran there:",
            "",
            *tested,
            "",
        ]
    )


def text(results: Sequence[Result]) -> str:
    """Return the steps as columns for a terminal."""
    steps = list(dict.fromkeys(step for each in results for step in each.steps))
    lines = [["", *(RELEASES[each.release] for each in results)]]
    lines += [[step, *(each.cell(step) for each in results)] for step in steps]
    widths = [max(len(line[index]) for line in lines) for index in range(len(lines[0]))]
    pad = [[cell.ljust(width) for cell, width in zip(line, widths, strict=True)] for line in lines]
    return "\n".join("  ".join(line).rstrip() for line in pad)
