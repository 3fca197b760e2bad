# SPDX-License-Identifier: Apache-2.0
"""The page docs/suites.md, made from the engine's suite registry (see docs.py)."""

from __future__ import annotations

from typing import Any

import pqc_mav_tunnel
from markdown_table import table

_CIPHERS = {"aesgcm": "AG", "chacha20poly1305": "CP", "ascon128a": "AS"}
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
* A line is three suites, one for each cipher in the place of `*`: `AG` and `aesgcm` are AES-256-GCM, `CP` and
  `chacha20poly1305` ChaCha20-Poly1305, `AS` and `ascon128a` Ascon-128a.
* Sizes are bytes of the messages, once per handshake. The gcs sends the public key and the signature; the drone sends
  the ciphertext. Hybrid mode adds 32 bytes each way, and a signing drone adds one signature of the same kind. Falcon's
  signatures vary in length; the longest is shown. Data packets have 38 bytes of overhead, whatever the suite.
"""


def _cipher(suite: dict[str, Any]) -> str:
    """The part of the short code that names the cipher."""
    return _CIPHERS[suite["aead_token"]]


def _row(ciphers: list[dict[str, Any]]) -> list[str]:
    """One line for a KEM and a signature, which three suites share."""
    first = ciphers[0]
    sets = "core" if first["core"] else "extended"
    measured = [_cipher(suite) for suite in ciphers if suite["campaign_2025"]]
    sizes = [f"{first[key]:,}" for key in ("public_key_bytes", "ciphertext_bytes", "signature_bytes")]
    return [
        f"`{first['short_code'].replace(f'-{_cipher(first)}-', '-*-', 1)}`",
        f"`{first['id'].replace(first['aead_token'], '*', 1)}`",
        *sizes,
        sets + (f"; 2025 with {', '.join(measured)}" if measured else ""),
    ]


def text() -> str:
    """Return the whole page."""
    suites = [suite.as_dict() for suite in pqc_mav_tunnel.suites(view="extended")]
    counts = {
        "core": sum(suite["core"] for suite in suites),
        "extended": len(suites),
        "campaign": sum(suite["campaign_2025"] for suite in suites),
    }
    titles = ("suite", "id", "public key", "ciphertext", "signature bytes", "sets")
    pairs: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for suite in suites:
        pairs.setdefault((suite["kem"], suite["sig"]), []).append(suite)
    lines = [_HEAD.format(**counts)]
    for level in sorted({suite["level"] for suite in suites}):
        of_level = [ciphers for ciphers in pairs.values() if ciphers[0]["level"] == level]
        lines += [f"## NIST level {level}: {sum(map(len, of_level))} suites", ""]
        lines += [*table(titles, map(_row, of_level)), ""]
    return "\n".join(lines)
