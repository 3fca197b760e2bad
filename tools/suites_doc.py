# SPDX-License-Identifier: Apache-2.0
"""The page docs/suites.md, made from the engine's suite registry (see docs.py)."""

from __future__ import annotations

from typing import Any

import pqc_mav_tunnel
from markdown_table import table

_HEAD = """\
# Cipher suites

<!-- Made by 'make docs' from the engine's suites_table.cpp: change that table instead. -->

A suite is one key encapsulation mechanism (KEM), one AEAD cipher for the packets and one signature algorithm of the
ground station; KEM and signature have the same NIST level. Wherever a suite is named, its short code and its id are
both accepted, in upper or lower case. X25519 is added to every suite unless `hybrid` is off. `pqcmav suites` lists
them too, with filters, and shows which ones this machine's liboqs lacks. Which one to use:
[choosing-a-suite.md](choosing-a-suite.md).

* **core**: the {core} main suites. **extended**: these plus FrodoKEM and the fast variants of SPHINCS+, {extended}
  in all. **2025**: the {campaign} suites measured in October 2025.
* Sizes are bytes of the messages, once per handshake. The gcs sends the public key and the signature; the drone sends
  the ciphertext. Hybrid mode adds 32 bytes each way, and a signing drone adds one signature of the same kind. Falcon's
  signatures vary in length; the longest is shown. Data packets have 38 bytes of overhead, whatever the suite.
"""


def _row(suite: dict[str, Any]) -> list[str]:
    sets = ["core" if suite["core"] else "extended", *(["2025"] if suite["campaign_2025"] else [])]
    sizes = [f"{suite[key]:,}" for key in ("public_key_bytes", "ciphertext_bytes", "signature_bytes")]
    return [
        f"`{suite['short_code']}`",
        f"`{suite['id']}`",
        suite["kem"],
        suite["sig"],
        suite["aead"],
        *sizes,
        ", ".join(sets),
    ]


def text() -> str:
    """Return the whole page."""
    suites = [suite.as_dict() for suite in pqc_mav_tunnel.suites(view="extended")]
    counts = {
        "core": sum(suite["core"] for suite in suites),
        "extended": len(suites),
        "campaign": sum(suite["campaign_2025"] for suite in suites),
    }
    titles = ("suite", "id", "KEM", "signature", "AEAD", "public key", "ciphertext", "signature bytes", "sets")
    lines = [_HEAD.format(**counts)]
    for level in sorted({suite["level"] for suite in suites}):
        rows = [_row(suite) for suite in suites if suite["level"] == level]
        lines += [f"## NIST level {level}: {len(rows)} suites", "", *table(titles, rows), ""]
    return "\n".join(lines)
