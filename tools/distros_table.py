# SPDX-License-Identifier: Apache-2.0
"""What 'make distros' found in each system, kept in a file for each, and the page made of these files."""

import json
import os
import platform
import textwrap
from collections.abc import Iterator, Mapping, Sequence
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
ABOUT = f"""Written by `make distros ARGS=--record`. Each system is bootstrapped from its own archive and gets
make, git, certificates, a user and a clone. Each part begins in a fresh system; a step that fails ends its
part. A step called '{NOT_RUN}' was not tried, or its part had ended before. The commands are README.md's, word
by word. No warning of the compiler, CMake or Python is let pass. The times are no measurements: others used the
machine, and a cache had some of the compiled files."""


@dataclass
class Part:
    """One user's steps in a fresh system: when and of which commit, and what became of those that ran."""

    date: str
    commit: str
    steps: list[str]
    cells: dict[str, str] = field(default_factory=dict)


@dataclass
class Result:
    """One system: its parts, each as it ran last."""

    release: str
    bootstrap: str = NOT_RUN
    versions: dict[str, str] = field(default_factory=dict)
    parts: dict[str, Part] = field(default_factory=dict)

    def save(self, folder: Path) -> None:
        """Write it, in place of an older one of this system."""
        new = folder / f"{self.release}.json.new"
        new.write_text(json.dumps(asdict(self), indent=1) + "\n", encoding="utf-8")
        new.replace(new.with_suffix(""))

    def cell(self, part: str, step: str) -> str:
        """What became of a step; of the empty one: when the part ran and of which commit."""
        if part not in self.parts:
            return NOT_RUN
        found = self.parts[part]
        return found.cells.get(step, NOT_RUN) if step else f"{found.date}, {found.commit}"


def load(folder: Path, release: str) -> Result:
    """Return what is kept of a system, or an empty result."""
    file = folder / f"{release}.json"
    if not file.exists():
        return Result(release)
    kept = json.loads(file.read_text(encoding="utf-8"))
    return Result(**{**kept, "parts": {name: Part(**part) for name, part in kept["parts"].items()}})


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

    def lines(path: str) -> Sequence[str]:
        return Path(path).read_text(encoding="utf-8", errors="replace").splitlines()

    models = [line.partition(":")[2].strip() for line in lines("/proc/cpuinfo") if line.startswith("model name")]
    memory = [int(line.split()[1]) // 1024 for line in lines("/proc/meminfo") if line.startswith("MemTotal")]
    model = models[0] if models else platform.machine()
    return f"{os.cpu_count()} processors ({model}), {memory[0] if memory else 0} MiB, Linux {platform.release()}"


def rows(results: Sequence[Result], titles: Mapping[str, str]) -> Iterator[list[str]]:
    """Yield a row per step below one per part; a part has the steps that any system's run of it had."""
    yield ["bootstrap", *(each.bootstrap for each in results)]
    for part, title in titles.items():
        steps = [step for each in results if part in each.parts for step in each.parts[part].steps]
        yield [title, *(each.cell(part, "") for each in results)]
        for step in dict.fromkeys(steps):
            yield [step, *(each.cell(part, step) for each in results)]


def text(results: Sequence[Result], titles: Mapping[str, str]) -> str:
    """Return the steps as columns for a terminal."""
    lines = [["", *(RELEASES[each.release] for each in results)], *rows(results, titles)]
    widths = [max(len(line[index]) for line in lines) for index in range(len(lines[0]))]
    pad = [[cell.ljust(width) for cell, width in zip(line, widths, strict=True)] for line in lines]
    return "\n".join("  ".join(line).rstrip() for line in pad)


def page(results: Sequence[Result], titles: Mapping[str, str], tests: Mapping[str, str]) -> str:
    """Return the page; `titles` names the parts, `tests` says what tests a release runs."""
    bold = {part: f"**{title}**" for part, title in titles.items()}
    cells = [[title, *(each.versions.get(title, "?") for each in results)] for title in VERSIONS.values()]
    return "\n".join(
        [
            "# In bare systems",
            "",
            *textwrap.wrap(ABOUT, 120),
            "",
            f"Machine: {machine()}.",
            "",
            *table(["", *(RELEASES[each.release] for each in results)], [*cells, *rows(results, bold)]),
            "",
            *(
                f"Tests of {RELEASES[each.release]}: {tests[each.release]}.\n"
                for each in results
                if "tests" in each.parts
            ),
        ]
    )
