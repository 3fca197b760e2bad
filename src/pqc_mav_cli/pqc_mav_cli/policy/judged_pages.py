# SPDX-License-Identifier: Apache-2.0
"""What the commands share that judge strategies on simulated missions: the missions' names, and where the page goes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pqc_mav_cli.errors import CliError, ExitCode


def missions_of(given: Sequence[str] | None, names: Sequence[str]) -> Sequence[str]:
    """Those of `names` that were named, or all. Raises CliError for one that does not exist."""
    unknown = [name for name in given or () if name not in names]
    if unknown:
        raise CliError(f"'{unknown[0]}' is not a mission; the missions are {', '.join(names)}.", ExitCode.USAGE)
    return given or names


def publish(name: str, page: str, content: Mapping[str, Any], output: Path | None) -> None:
    """Prints the page, or writes it with its figures into a folder. Raises CliError where that fails."""
    from pqc_mav_common.atomic_file import atomic_write
    from pqc_mav_policy_lab.compare.rows_json import as_json

    if output is None:
        print(page)
        return
    try:
        output.mkdir(parents=True, exist_ok=True)
        atomic_write(output / f"{name}.md", page)
        atomic_write(output / f"{name}.json", as_json(content))
    except OSError as error:
        raise CliError(f"Cannot write to {output}: {error.strerror}.") from None
    print(f"Written to {output}: {name}.md, {name}.json")
