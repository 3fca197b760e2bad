# SPDX-License-Identifier: Apache-2.0
"""Storage footprint and handshake complexity classes of suites."""

import math

import pandas as pd

from pqc_mav_bench.analysis.intervals import either, ends

#: Limits between the classes [ms]. The documents print none; their classes span 10.6-15.0, 54.5-101.1 and
#: 524.8-1391.0 ms,
#: and these limits, inside the gaps, reproduce every printed row.
LOW_BELOW_MS = 50.0
HIGH_FROM_MS = 500.0

#: Limits of the storage classes by public key + ciphertext + signature [B]: about six and forty-five Ethernet frames.
SMALL_BELOW_B = 8 * 1024
LARGE_FROM_B = 64 * 1024


def complexity_class(handshake_ms: float) -> str:
    """'Low', 'Medium' or 'High' by handshake time; '' when it is not known."""
    if math.isnan(handshake_ms):
        return ""
    if handshake_ms < LOW_BELOW_MS:
        return "Low"
    return "High" if handshake_ms >= HIGH_FROM_MS else "Medium"


def storage_class(total_bytes: float) -> str:
    """'Small', 'Medium' or 'Large' by the bytes a handshake carries; '' when they are not known."""
    if math.isnan(total_bytes):
        return ""
    if total_bytes < SMALL_BELOW_B:
        return "Small"
    return "Large" if total_bytes >= LARGE_FROM_B else "Medium"


def classes(table: pd.DataFrame) -> pd.DataFrame:
    """The rows with `handshake_bytes` (public key + ciphertext + signature), `storage_class` and `complexity_class`.

    A handshake whose interval reaches into two classes is in "Low or Medium", one without an interval in none; printed
    handshakes are taken as they are.
    """
    carried = table[["public_key_bytes", "ciphertext_bytes", "signature_bytes"]].astype(float).sum(axis=1, skipna=False)
    return table.assign(
        handshake_bytes=carried,
        storage_class=[storage_class(value) for value in carried],
        complexity_class=[either(complexity_class(low), complexity_class(high)) for low, high in ends(table)],
    )
