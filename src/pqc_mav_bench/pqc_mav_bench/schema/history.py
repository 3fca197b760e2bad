# SPDX-License-Identifier: Apache-2.0
"""The schema's versions: today's, and the one before, whose campaigns are read as if they were of today's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pqc_mav_bench.schema import version7

SCHEMA_VERSION = "8.0"

#: All versions that can be read, the oldest first.
VERSIONS = (version7.VERSION, SCHEMA_VERSION)


def as_today(document: Mapping[str, Any]) -> Mapping[str, Any]:
    """A metrics document of any version that can be read as one of today's; another one as it is."""
    if document.get("schema_version") == version7.VERSION:
        return {**version7.as_following(document), "schema_version": SCHEMA_VERSION}
    return document
