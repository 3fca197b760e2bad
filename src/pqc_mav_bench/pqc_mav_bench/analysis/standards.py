# SPDX-License-Identifier: Apache-2.0
"""Which suites are made of published standards alone, told by their algorithms' names; no clock, no engine."""

import pandas as pd

#: FIPS 203, 204 and 205, SP 800-38D, RFC 8439 and SP 800-232. SECURITY.md says what the other algorithms are.
STANDARDS = ("ML-KEM-", "ML-DSA-", "SLH-DSA-", "AES-256-GCM", "ChaCha20-Poly1305", "Ascon-AEAD128")


def is_standard(suites: pd.DataFrame) -> pd.Series:
    """For each row whether KEM, signature and AEAD are standards, as far as the table names them."""
    named = [suites[part].astype(str) for part in ("kem", "sig", "aead") if part in suites.columns]
    found = pd.Series(True, suites.index)
    for names in named:
        found &= names.str.startswith(STANDARDS)
    return found


def standards_first(suites: pd.DataFrame) -> pd.DataFrame:
    """The rows of standards, or all where there is none."""
    found = suites[is_standard(suites)]
    return found if len(found) else suites
