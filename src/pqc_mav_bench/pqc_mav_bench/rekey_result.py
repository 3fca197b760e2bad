# SPDX-License-Identifier: Apache-2.0
"""How a suite change of a running tunnel ended, as the drone's end tells a campaign."""

from dataclasses import dataclass


@dataclass(frozen=True)
class RekeyResult:
    """How a suite change ended."""

    ok: bool
    rekey_ms: float
    message: str
