#!/usr/bin/env python3
"""Writes docs/suites.md out of the engine's suite registry (see generated_doc.py)."""

from __future__ import annotations

import sys
from typing import Any

import pqc_mav_tunnel
from generated_doc import DOCS, main, table

PAGE = DOCS / "suites.md"

_HEAD = """\
# Cipher suites

<!-- Made by tools/suites_doc.py from src/pqc_mav_tunnel/src/suites_table.cpp: change that table instead. -->

A suite is one key encapsulation mechanism (KEM), one AEAD cipher for the packets and one signature algorithm of the
ground station; KEM and signature have the same NIST level. Wherever a suite is named, its id and its short code are
both taken, in any case. X25519 is added to every suite unless `hybrid` is off. `pqcmav suites` lists them too, with
filters and with what the liboqs of the machine at hand lacks. Which one to take: see the
[README](../README.md#choosing-a-suite).

* **core**: the {core} main suites. **extended**: with FrodoKEM and the fast variants of SPHINCS+, {extended} in all.
  **2025**: the {campaign} suites measured in October 2025.
* Sizes are bytes over TCP, once per handshake: the public key and the signature come from the gcs, the ciphertext goes
  to it; hybrid mode adds 32 each way, a signing drone adds one signature of the same kind. Falcon's signatures vary in
  length; the greatest is shown. Data packets carry 38 bytes of overhead whatever the suite.
"""


def _row(suite: dict[str, Any]) -> list[str]:
    sets = ["core" if suite["core"] else "extended", *(["2025"] if suite["campaign_2025"] else [])]
    sizes = [f"{suite[key]:,}" for key in ("public_key_bytes", "ciphertext_bytes", "signature_bytes")]
    return [
        f"`{suite['id']}`",
        f"`{suite['short_code']}`",
        suite["kem"],
        suite["sig"],
        suite["aead"],
        *sizes,
        ", ".join(sets),
    ]


def text() -> str:
    """The whole page."""
    suites = [suite.as_dict() for suite in pqc_mav_tunnel.suites(view="extended")]
    counts = {
        "core": sum(suite["core"] for suite in suites),
        "extended": len(suites),
        "campaign": sum(suite["campaign_2025"] for suite in suites),
    }
    titles = ("id", "short code", "KEM", "signature", "AEAD", "public key", "ciphertext", "signature bytes", "sets")
    lines = [_HEAD.format(**counts)]
    for level in sorted({suite["level"] for suite in suites}):
        rows = [_row(suite) for suite in suites if suite["level"] == level]
        lines += [f"## NIST level {level}: {len(rows)} suites", "", *table(titles, rows), ""]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main(PAGE, text))
