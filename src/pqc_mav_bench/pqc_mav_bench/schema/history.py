# SPDX-License-Identifier: Apache-2.0
"""The schema's versions: what makes a metrics document of each of them one of the next, up to today's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pqc_mav_bench.schema import version1, version2, version7
from pqc_mav_bench.schema.additions import ADDITIONS, Addition

SCHEMA_VERSION = "8.0"

Step = Callable[[Mapping[str, Any]], dict[str, Any]]

#: By version: what it said wrong, put right before what it lacks is explained.
_CORRECTED: Mapping[str, Step] = {version7.VERSION: version7.without_unmeasured}


def _completed(lacks: Addition) -> Step:
    corrected = _CORRECTED.get(lacks.version, dict)
    return lambda document: lacks.explained(corrected(document))


#: The version that is read, and what becomes of its documents in the next one.
_STEPS: tuple[tuple[str, Step], ...] = (
    (version1.VERSION, version1.renamed),
    (version2.VERSION, version2.without_removed),
    *((each.version, _completed(each)) for each in ADDITIONS),
)

#: All versions that can be read, the oldest first.
VERSIONS = (*(version for version, _ in _STEPS), SCHEMA_VERSION)


def as_today(document: Mapping[str, Any]) -> Mapping[str, Any]:
    """A metrics document of any version that can be read as one of today's; another one as it is."""
    for (version, step), following in zip(_STEPS, VERSIONS[1:], strict=True):
        if document.get("schema_version") == version:
            document = {**step(document), "schema_version": following}
    return document
