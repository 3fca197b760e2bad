# SPDX-License-Identifier: Apache-2.0
"""How `pqcmav policy compare` and `judge` give their results."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pqc_mav_cli.errors import CliError
from pqc_mav_common.atomic_file import atomic_write


def publish(name: str, page: str, content: Mapping[str, Any], output: Path | None) -> None:
    """The page, or with a folder there as page and JSON."""
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
