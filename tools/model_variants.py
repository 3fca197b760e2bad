#!/usr/bin/env python3
"""Writes the variants of the symbolic model in docs/model/ out of its base, hybrid.vp.

Verifpal has no includes, and ten copies kept by hand would drift apart. A variant is a list of edits of the base, each of
which must match exactly once, so a changed base either reaches every variant or fails here.

    tools/model_variants.py           writes the variants
    tools/model_variants.py --check   exit code 1 when one on disk is another
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

MODEL = Path(__file__).resolve().parent.parent / "docs" / "model"
BASE = "hybrid.vp"

Edit = tuple[str, str]


class StaleEditError(Exception):
    """The base has changed under an edit."""


@dataclass(frozen=True)
class Variant:
    """A model that differs from the base by `edits`; `expect` is Verifpal's result code, a 1 being an attack."""

    name: str
    says: str
    expect: str
    edits: tuple[Edit, ...]


HOLDS = "c0c0a0a0a0a0"
_HEAD_END = "attacker[active]\n"
_PHASE_1 = "\tleaks psk, sk\n"

PURE: tuple[Edit, ...] = (
    ("session_id, server_nonce, kem_secret, x_gcs\n", "session_id, server_nonce, kem_secret\n"),
    ("\tx_gcs_public = PUBKEY(x_gcs)\n", ""),
    (
        "m2_unsigned_g = CONCAT(session_id, server_nonce, kem_public, x_gcs_public)",
        "m2_unsigned_g = CONCAT(session_id, server_nonce, kem_public)",
    ),
    (
        "Gcs -> Drone: session_id, server_nonce, kem_public, x_gcs_public, signature",
        "Gcs -> Drone: session_id, server_nonce, kem_public, signature",
    ),
    (
        "m2_unsigned = CONCAT(session_id, server_nonce, kem_public, x_gcs_public)",
        "m2_unsigned = CONCAT(session_id, server_nonce, kem_public)",
    ),
    ("generates seed, x_drone\n", "generates seed\n"),
    ("\tx_drone_public = PUBKEY(x_drone)\n\tss_x25519 = DH_KEX(x_gcs_public, x_drone)\n", ""),
    ("h3 = HASH(h2, ciphertext, x_drone_public)", "h3 = HASH(h2, ciphertext)"),
    ("CONCAT(ss_kem, ss_x25519, h3)", "CONCAT(ss_kem, h3)"),
    ("Drone -> Gcs: ciphertext, x_drone_public, confirm_c", "Drone -> Gcs: ciphertext, confirm_c"),
    ("\tss_x25519_g = DH_KEX(x_drone_public, x_gcs)\n", ""),
    ("h3_g = HASH(h2_g, ciphertext, x_drone_public)", "h3_g = HASH(h2_g, ciphertext)"),
    ("CONCAT(ss_kem_g, ss_x25519_g, h3_g)", "CONCAT(ss_kem_g, h3_g)"),
)
SIGNED: tuple[Edit, ...] = (
    (
        "principal Drone[\n\tknows private psk\n]\n",
        "principal Drone[\n\tknows private psk, drone_sk\n\tdrone_pk = PUBKEY(drone_sk)\n]\n",
    ),
    (
        "// The drone holds the public half: carried out of band.\nGcs -> Drone: [pk]\n",
        "// Each holds the other's public half: carried out of band.\nGcs -> Drone: [pk]\nDrone -> Gcs: [drone_pk]\n",
    ),
    (
        "offer, l_gate, l_server_hello, l_keys\n\tgenerates client_nonce",
        "offer, l_gate, l_server_hello, l_client_finish, l_keys\n\tgenerates client_nonce",
    ),
    (
        "offer, l_gate, l_server_hello, l_keys\n\tm1_unsealed_g",
        "offer, l_gate, l_server_hello, l_client_finish, l_keys\n\tm1_unsealed_g",
    ),
    (
        "\tconfirm_c = MAC(k_cc, h3)\n",
        "\tdrone_signature = SIGN(drone_sk, CONCAT(l_client_finish, h3))\n\tt3 = HASH(h3, drone_signature)\n\tconfirm_c = MAC(k_cc, t3)\n",
    ),
    ("x_drone_public, confirm_c\n\n// M4", "x_drone_public, drone_signature, confirm_c\n\n// M4"),
    (
        "\t_ = ASSERT(MAC(k_cc_g, h3_g), confirm_c)?\n\tconfirm_s = MAC(k_cs_g, HASH(h3_g, confirm_c))\n",
        "\t_ = SIGNVERIF(drone_pk, CONCAT(l_client_finish, h3_g), drone_signature)?\n\tt3_g = HASH(h3_g, drone_signature)\n\t_ = ASSERT(MAC(k_cc_g, t3_g), confirm_c)?\n\tconfirm_s = MAC(k_cs_g, HASH(t3_g, confirm_c))\n",
    ),
    ("MAC(k_cs, HASH(h3, confirm_c))", "MAC(k_cs, HASH(t3, confirm_c))"),
)
PSK_LEAKS_FIRST: Edit = ("\tpk = PUBKEY(sk)\n", "\tpk = PUBKEY(sk)\n\tleaks psk\n")
SK_LEAKS_FIRST: Edit = ("\tpk = PUBKEY(sk)\n", "\tpk = PUBKEY(sk)\n\tleaks sk\n")
KEM_WEAK: Edit = ("KEM_ENCAP(kem_public, seed)", "KEM_ENCAP[weak](kem_public, seed)")
X25519_WEAK: tuple[Edit, ...] = (
    ("x_gcs_public = PUBKEY(x_gcs)", "x_gcs_public = PUBKEY[weak](x_gcs)"),
    ("x_drone_public = PUBKEY(x_drone)", "x_drone_public = PUBKEY[weak](x_drone)"),
)
# The offer travels, differs from session to session, and the attacker may put another one in its place.
OFFER_TRAVELS: tuple[Edit, ...] = (
    (
        "\tknows public offer, l_gate, l_server_hello, l_keys\n\tgenerates client_nonce\n",
        "\tknows public l_gate, l_server_hello, l_keys\n\tgenerates offer, client_nonce\n",
    ),
    ("Drone -> Gcs: client_nonce, gate", "Drone -> Gcs: offer, client_nonce, gate"),
    (
        "\tknows public offer, l_gate, l_server_hello, l_keys\n\tm1_unsealed_g",
        "\tknows public l_gate, l_server_hello, l_keys\n\tm1_unsealed_g",
    ),
    ("\tconfidentiality? telemetry\n", "\tauthentication? Drone -> Gcs: offer\n\tconfidentiality? telemetry\n"),
)

VARIANTS = (
    Variant("pure", "Without X25519.", HOLDS, PURE),
    Variant(
        "drone_signature",
        "With the drone's own signature (flag bit 1). Its key leaks afterwards, too.",
        HOLDS,
        (*SIGNED, (_PHASE_1, "\tleaks psk, sk\n]\nprincipal Drone[\n\tleaks drone_sk\n")),
    ),
    Variant(
        "offer_travels",
        "The offer is the drone's choice of the moment and the attacker may replace it on its way: no downgrade.",
        "a0" + HOLDS,
        OFFER_TRAVELS,
    ),
    Variant(
        "gcs_key_stolen",
        "The signing key of the gcs was stolen before; the PSK leaks afterwards.",
        HOLDS,
        (SK_LEAKS_FIRST, (_PHASE_1, "\tleaks psk\n")),
    ),
    Variant(
        "psk_stolen",
        "The PSK was stolen before, and the drone does not sign: whoever has it can play the drone.",
        "c0c1a1a0a1a0",
        (PSK_LEAKS_FIRST, (_PHASE_1, "\tleaks sk\n")),
    ),
    Variant(
        "psk_stolen_signed",
        "The PSK was stolen before, and the drone signs.",
        HOLDS,
        (*SIGNED, PSK_LEAKS_FIRST, (_PHASE_1, "\tleaks sk\n]\nprincipal Drone[\n\tleaks drone_sk\n")),
    ),
    Variant("kem_broken", "The KEM gives its shared secret away; X25519 stands.", HOLDS, (KEM_WEAK,)),
    Variant("x25519_broken", "X25519 is broken (a quantum computer); the KEM stands.", HOLDS, X25519_WEAK),
    Variant(
        "both_broken_psk_kept",
        "KEM and X25519 are both broken; the PSK never leaks.",
        HOLDS,
        (KEM_WEAK, *X25519_WEAK, (_PHASE_1, "\tleaks sk\n")),
    ),
    Variant(
        "both_broken",
        "KEM and X25519 are both broken, and the PSK leaks afterwards: what was recorded opens.",
        "c1c1a0a0a0a0",
        (KEM_WEAK, *X25519_WEAK),
    ),
)


def text(base: str, variant: Variant) -> str:
    """The whole file of a variant. Raises StaleEditError."""
    start = base.index(_HEAD_END)
    body = base[start:]
    for old, new in variant.edits:
        if body.count(old) != 1:
            raise StaleEditError(f"{variant.name}: {old!r} is {body.count(old)} times in {BASE}, not once")
        body = body.replace(old, new)
    head = f"// {variant.says}\n// Made from {BASE} by tools/model_variants.py: change those.\n// expect: {variant.expect}\n"
    return head + body


def main(arguments: Sequence[str] | None = None) -> int:
    """Writes or checks the variants. Returns the exit code."""
    parser = argparse.ArgumentParser(description="Writes the variants of the symbolic model.")
    parser.add_argument("--check", action="store_true", help="only compare; exit code 1 when one is out of date")
    check = parser.parse_args(arguments).check
    base = (MODEL / BASE).read_text(encoding="utf-8")
    stale = []
    for variant in VARIANTS:
        path, wanted = MODEL / f"{variant.name}.vp", text(base, variant)
        if check:
            if not path.is_file() or path.read_text(encoding="utf-8") != wanted:
                stale.append(path.name)
        else:
            path.write_text(wanted, encoding="utf-8")
    if stale:
        print(
            f"error: out of date in docs/model: {', '.join(stale)}; 'tools/model_variants.py' renews them",
            file=sys.stderr,
        )
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
