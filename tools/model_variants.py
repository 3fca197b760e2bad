# SPDX-License-Identifier: Apache-2.0
"""The symbolic models of the handshake, made from one template, docs/model/handshake.vp.in.

    python3 tools/model_variants.py FOLDER     writes them; 'make verify-model' does it

Verifpal has no includes, and a dozen copies kept by hand would drift apart. A line of the template that ends in
`//? flag !other` is in a model only when its variant has every flag that is named and none that is negated.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

MODEL = Path(__file__).resolve().parent.parent / "docs" / "model"
TEMPLATE = "handshake.vp.in"
CONDITION = "//?"


class TemplateError(Exception):
    """A variant has a flag that no line of the template asks for."""


@dataclass(frozen=True)
class Variant:
    """One model. `expect` is Verifpal's result code: a letter per query and 0 for holds, 1 for an attack."""

    name: str
    says: str
    flags: frozenset[str]
    expect: str = "c0c0a0a0a0a0"


def _variant(name: str, flags: str, says: str, expect: str = "c0c0a0a0a0a0") -> Variant:
    return Variant(name, says, frozenset(flags.split()), expect)


VARIANTS = (
    _variant("hybrid", "hybrid", "Hybrid mode, the default."),
    _variant("pure", "", "Pure mode: without X25519."),
    _variant("drone_signature", "hybrid signed", "Hybrid mode with the drone's own signature."),
    _variant(
        "offer_travels",
        "hybrid offer_travels",
        "The offer is the drone's choice of the moment, and the attacker may replace it on its way: no downgrade.",
        "a0c0c0a0a0a0a0",
    ),
    _variant("gcs_key_stolen", "hybrid sk_stolen", "The signing key of the gcs was stolen before the handshake."),
    _variant(
        "psk_stolen",
        "hybrid psk_stolen",
        "The PSK was stolen before the handshake and the drone does not sign: the thief can play the drone.",
        "c0c1a1a0a1a0",
    ),
    _variant(
        "psk_stolen_signed", "hybrid signed psk_stolen", "The PSK was stolen before the handshake and the drone signs."
    ),
    _variant(
        "psk_and_gcs_key_stolen",
        "hybrid psk_stolen sk_stolen",
        "PSK and signing key of the gcs were stolen before the handshake: nothing is left that would hold.",
        "c1c1a1a1a1a1",
    ),
    _variant("kem_broken", "hybrid kem_weak", "The KEM gives its shared secret away; X25519 holds."),
    _variant("x25519_broken", "hybrid x25519_weak", "X25519 gives its secret away (quantum computer); the KEM holds."),
    _variant(
        "both_broken_psk_kept", "hybrid kem_weak x25519_weak psk_kept", "Both are broken, but the PSK never leaks."
    ),
    _variant(
        "both_broken",
        "hybrid kem_weak x25519_weak",
        "Both are broken and the PSK leaks afterwards: what was recorded opens.",
        "c1c1a0a0a0a0",
    ),
)


def model(template: str, variant: Variant) -> str:
    """Return the whole file of a variant. Raise TemplateError."""
    lines, known = [], set()
    for line in template.splitlines():
        content, mark, condition = line.partition(CONDITION)
        terms = condition.split()
        known |= {term.removeprefix("!") for term in terms}
        if all((term in variant.flags) if term[0] != "!" else (term[1:] not in variant.flags) for term in terms):
            lines.append(content.rstrip() if mark else line)
    unknown = variant.flags - known
    if unknown:
        raise TemplateError(f"{variant.name}: no line of {TEMPLATE} asks for {', '.join(sorted(unknown))}")
    head = [f"// {variant.says}", f"// Made by tools/model_variants.py from {TEMPLATE}: change those."]
    return "\n".join([*head, f"// expect: {variant.expect}", *lines, ""])


def models(folder: Path = MODEL) -> dict[str, str]:
    """Return every model's text by its file name. Raise TemplateError."""
    template = (folder / TEMPLATE).read_text(encoding="utf-8")
    return {f"{variant.name}.vp": model(template, variant) for variant in VARIANTS}


def main() -> None:
    """Write every model into the folder named as argument, and nothing else."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for left in folder.glob("*.vp"):
        left.unlink()
    for name, text in models().items():
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
