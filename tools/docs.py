#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Write every generated file of the repository, or check that each is current.

    make docs                  write them
    make docs ARGS=--check     write nothing; exit code 1, naming each file that is out of date

Pages and commented configuration files are made from tables in the code. They are committed so that they can be read
without building anything; this program keeps them in step.
"""

import argparse
import sys
from collections.abc import Mapping, Sequence
from difflib import unified_diff
from itertools import islice
from pathlib import Path

import configuration_doc
import quality_doc
import suites_doc

from pqc_mav_bench.schema import document as metrics
from pqc_mav_bringup import config_template, security_policy
from pqc_mav_sensing import config_template as sensing_template

ROOT = Path(__file__).resolve().parent.parent
CONFIG = "src/pqc_mav_bringup/config"
SHOWN_LINES = 20


def generated() -> dict[str, str]:
    """Return the text of every generated file by its path in the repository."""
    return {
        "docs/configuration.md": configuration_doc.text(),
        "docs/suites.md": suites_doc.text(),
        "docs/metrics.md": metrics.page(),
        **{f"{CONFIG}/{name}.yaml": config_template.render(name) for name in ("drone", "gcs", "demo", "policy")},
        f"{CONFIG}/sensing.yaml": sensing_template.render(),
        **{f"{CONFIG}/{name}": text for name, text in security_policy.files().items()},
        **quality_doc.files(),
    }


def read(path: Path) -> str:
    """Return the text of a file; empty when there is none."""
    return path.read_text(encoding="utf-8") if path.is_file() else ""


def difference(present: str, wanted: str) -> list[str]:
    """Return the first lines of the difference between a file's text and the text it should have."""
    lines = unified_diff(present.splitlines(), wanted.splitlines(), "on disk", "as it should be", lineterm="")
    return list(islice(lines, SHOWN_LINES))


def check(wanted: Mapping[str, str], root: Path = ROOT) -> int:
    """Print what differs and name each stale file. Return the exit code."""
    stale = []
    for path, text in wanted.items():
        lines = difference(read(root / path), text)
        if lines:
            print("\n".join(lines))
            stale.append(path)
    for path in stale:
        print(f"error: {path} is out of date; run 'make docs'", file=sys.stderr)
    return 1 if stale else 0


def write(wanted: Mapping[str, str], root: Path = ROOT) -> None:
    """Write what differs and name each file touched."""
    for path, text in wanted.items():
        if read(root / path) != text:
            (root / path).write_text(text, encoding="utf-8")
            print(f"wrote {path}")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what the command line asks for. Return the exit code."""
    parser = argparse.ArgumentParser(description="Write every generated file of the repository.")
    parser.add_argument("--check", action="store_true", help="only compare; exit code 1 if a file is out of date")
    if parser.parse_args(arguments).check:
        return check(generated())
    write(generated())
    return 0


if __name__ == "__main__":
    sys.exit(main())
