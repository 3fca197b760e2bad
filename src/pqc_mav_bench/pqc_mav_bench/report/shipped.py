# SPDX-License-Identifier: Apache-2.0
"""Files shipped with the report: style, script, reading guide, drawings, what is behind figures."""

from functools import cache
from importlib.resources import files


@cache
def asset(name: str) -> str:
    """A shipped text file."""
    return (files(__package__) / "assets" / name).read_text(encoding="utf-8")
