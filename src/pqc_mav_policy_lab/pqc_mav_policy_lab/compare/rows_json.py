# SPDX-License-Identifier: Apache-2.0
"""A result with its `rows` as JSON text."""

import json
from collections.abc import Mapping
from typing import Any


def as_json(content: Mapping[str, Any]) -> str:
    """One row a line, so that a change of one row is a change of one line."""
    head = json.dumps({key: value for key, value in content.items() if key != "rows"}, indent=1, sort_keys=True)[:-2]
    lines = ",\n".join(f"  {json.dumps(row, sort_keys=True)}" for row in content["rows"])
    return f'{head},\n "rows": [\n{lines}\n ]\n}}\n'
