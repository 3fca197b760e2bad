# SPDX-License-Identifier: Apache-2.0
"""The page docs/suites.md, made from the engine's suite registry (see docs.py)."""

from collections.abc import Iterable
from typing import Any

import pqc_mav_tunnel
from markdown_table import table

_HEAD = """\
# Cipher suites

<!-- Made by 'make docs' from the engine's table of suites: change that instead. -->

A suite is one key encapsulation mechanism (KEM), one AEAD cipher for the packets and one signature algorithm of the
ground station: any of the same NIST level, but nothing superseded with anything later. Its short code and its id are
both accepted everywhere, in upper or lower case: `ML-768-AG-MD-65` is `cs-mlkem768-aesgcm-mldsa65`. X25519 is added to
every suite unless `hybrid` is off. `pqcmav suites` lists all, with filters, and says which ones this machine lacks.
Which one to use: [choosing-a-suite.md](choosing-a-suite.md).

* **core**: the {core} main suites. **extended**: the {extended} published in 2025, those with a part that the tables
  call so as well. **all**: {all}, with **later** editions of **superseded** algorithms. `pqcmav suites --standard`
  lists the {standard} whose parts are all standards, `--view 2025` the {campaign} measured in October 2025.
* Sizes are bytes per handshake. The gcs sends the public key and the signature; the drone sends the ciphertext.
  Hybrid mode adds 32 bytes each way, and a signing drone one signature. The longest is shown.
"""


def _codes(suite: dict[str, Any]) -> tuple[str, str, str]:
    """The parts of a short code: KEM, cipher, signature."""
    words = suite["short_code"].split("-")
    return "-".join(words[:2]), words[2], "-".join(words[3:])


def _set_of(suites: list[dict[str, Any]]) -> str:
    """Of the algorithm that these suites have in common."""
    if not any(each["published"] for each in suites):
        return "later"
    name = "core" if any(each["core"] for each in suites) else "extended"
    return name + (", superseded" if all(each["published"] for each in suites) else "")


def _kinds(suites: list[dict[str, Any]], code: int, kind: str, sizes: Iterable[str]) -> list[str]:
    """A table of the KEMs, ciphers or signatures."""
    rows: dict[str, list[str]] = {}
    levels = kind != "aead"
    for suite in suites:
        name = _codes(suite)[code]
        if name not in rows:
            row = [f"`{name}`", f"`{suite[f'{kind}_token']}`", suite[kind], *(f"{suite[size]:,}" for size in sizes)]
            set_of = _set_of([each for each in suites if _codes(each)[code] == name])
            rows[name] = [*row, *([str(suite["level"])] if levels else []), set_of]
    titles = [
        "short code",
        "in the id",
        "algorithm",
        *(size.removesuffix("_bytes").replace("_", " ") for size in sizes),
    ]
    return [*table([*titles, *(["NIST level"] if levels else []), "set"], rows.values()), ""]


def text() -> str:
    """Return the whole page."""
    suites = [suite.as_dict() for suite in pqc_mav_tunnel.suites(view="all")]
    head = _HEAD.format(
        core=sum(suite["core"] for suite in suites),
        extended=sum(suite["published"] for suite in suites),
        all=len(suites),
        standard=sum(suite["standard"] for suite in suites),
        campaign=sum(suite["campaign_2025"] for suite in suites),
    )
    return "\n".join(
        [
            head,
            *_kinds(suites, 0, "kem", ("public_key_bytes", "ciphertext_bytes")),
            *_kinds(suites, 1, "aead", ()),
            *_kinds(suites, 2, "sig", ("signature_bytes",)),
        ]
    )
