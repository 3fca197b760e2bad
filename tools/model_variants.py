# SPDX-License-Identifier: Apache-2.0
"""The symbolic models of the protocol, made from the templates docs/model/*.vp.in.

    python3 tools/model_variants.py FOLDER     writes them; 'make verify-model' does it

Verifpal has no includes, and a dozen copies kept by hand would drift apart. A line of a template that ends in
`//? flag !other` is in a model only when its variant has every flag that is named and none that is negated.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

MODEL = Path(__file__).resolve().parent.parent / "docs" / "model"
PROVEN = "handshake.pv.in"  # for ProVerif: unbounded sessions
HANDSHAKE, REJECT, REKEY = "handshake.vp.in", "reject.vp.in", "rekey.vp.in"
DRONES, RESTART, PATH, RATCHET = "drones.vp.in", "restart.vp.in", "path.vp.in", "ratchet.vp.in"
CONDITION = "//?"


class TemplateError(Exception):
    """A variant has a flag that no line of the template asks for."""


@dataclass(frozen=True)
class Variant:
    """One model. `expect` has a digit per query, 0 for holds and 1 for an attack; for Verifpal a letter before each."""

    name: str
    says: str
    flags: frozenset[str]
    expect: str = "c0c0a0a0a0a0"
    template: str = HANDSHAKE


def _variant(name: str, flags: str, says: str, expect: str = "c0c0a0a0a0a0", template: str = HANDSHAKE) -> Variant:
    return Variant(name, says, frozenset(flags.split()), expect, template)


VARIANTS: tuple[Variant, ...] = (
    _variant(
        "hybrid",
        "hybrid fresh",
        "Hybrid mode, the default: nothing of an earlier handshake is taken, though M0 is a constant.",
        "c0c0a0a0a0a0f0f0f0f0",
    ),
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
        "psk_stolen_unsigned",
        "hybrid signed unrequired psk_stolen",
        "The PSK was stolen, the drone signs, and the gcs does not insist on it: as if it did not sign.",
        "c0c1a1a0a1a0",
    ),
    _variant(
        "psk_and_drone_key_stolen",
        "hybrid signed psk_stolen drone_sk_stolen",
        "PSK and signing key of the drone were stolen before the handshake: the thief can play the drone, not the gcs.",
        "c0c1a1a0a1a0",
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
    _variant("reject", "", "A refusal is the gcs' own, for this very hello.", "a0a0f0", REJECT),
    _variant(
        "reject_psk_stolen",
        "psk_stolen",
        "The PSK was stolen: the thief can refuse in the name of the gcs. Therefore no refusal lowers a level.",
        "a1a1f0",
        REJECT,
    ),
    _variant("rekey", "", "A rekey; what is secret leaks afterwards.", "c0c0a0a0a0a0a0f0f0", REKEY),
    _variant(
        "rekey_psk_and_gcs_key_stolen",
        "psk_stolen sk_stolen",
        "PSK and signing key of the gcs were stolen: outside the session nobody begins, ends or reads a rekey.",
        "c0c0a0a0a0a0a0f0f0",
        REKEY,
    ),
    _variant(
        "rekey_session_stolen",
        "ck_stolen",
        "The secrets of the running session were stolen: a rekey shakes the thief off.",
        "c0c0a0a0",
        REKEY,
    ),
    _variant(
        "rekey_kem_broken_session_kept",
        "kem_weak ck_kept",
        "The KEM is broken and the PSK leaks afterwards, but not the session's chain.",
        "c0c0a0a0a0a0a0f0f0",
        REKEY,
    ),
    _variant(
        "rekey_kem_broken",
        "kem_weak",
        "The KEM is broken, and PSK and chain leak afterwards: what was recorded opens.",
        "c1c1a0a0a0a0a0f0f0",
        REKEY,
    ),
    _variant("insider", "", "One drone's PSK is the attacker's: the other drone's session is not.", template=DRONES),
    _variant("restart", "", "The restart token.", "c0c0a0a0a0", RESTART),
    _variant(
        "restart_key_stolen",
        "restart_key_stolen",
        "The restart key was stolen: tokens can be forged, which costs a handshake and no secret.",
        "c0c0a0a1a0",
        RESTART,
    ),
    _variant(
        "ratchet",
        "fresh",
        "A ratchet with fresh shares; PSK, old and new chain leak afterwards.",
        "c0c0a0a0a0a0f0f0",
        RATCHET,
    ),
    _variant(
        "ratchet_plain",
        "ck_wiped",
        "A ratchet without fresh shares; PSK and the new chain leak afterwards, the old one was wiped.",
        "c0c0a0a0a0a0f0f0",
        RATCHET,
    ),
    _variant(
        "ratchet_plain_unwiped",
        "",
        "The same if the old chain leaks as well: therefore it is wiped.",
        "c1c1a0a0a0a0f0f0",
        RATCHET,
    ),
    _variant(
        "ratchet_session_stolen",
        "fresh ck_stolen",
        "Fresh shares; the session was stolen before, the PSK leaks afterwards: the thief is shaken off.",
        "c0c0a0a0",
        RATCHET,
    ),
    _variant(
        "ratchet_listened",
        "fresh passive ck_stolen psk_stolen",
        "Fresh shares; session and PSK were stolen before by a thief who only listens: he is shaken off.",
        "c0c0",
        RATCHET,
    ),
    _variant(
        "ratchet_plain_session_stolen",
        "ck_stolen psk_kept",
        "Without fresh shares; the secrets of the session were stolen before, the PSK never: it alone shakes him off.",
        "c0c0a0a0",
        RATCHET,
    ),
    _variant(
        "ratchet_plain_listened",
        "passive ck_stolen psk_stolen psk_kept",
        "Without fresh shares; session and PSK were stolen before: a listener goes on listening.",
        "c1c1",
        RATCHET,
    ),
    _variant(
        "ratchet_session_and_psk_stolen",
        "fresh ck_stolen psk_stolen",
        "Fresh shares; session and PSK were stolen before by a thief in the path: only a full rekey ends that.",
        "c1c1a1a1",
        RATCHET,
    ),
    _variant("path", "", "Challenge and response of a path, with the PSK stolen.", "c0a0a0f0", PATH),
)

# ProVerif's queries: confidentiality of telemetry and command; agreement of the drone, then of the gcs, with the other
# end on identities, suite, session and keys; telemetry and command taken as sent; and both are taken at all: 11.
_OUTCOMES = {
    "psk_stolen": "01011011",
    "psk_stolen_unsigned": "01011011",
    "psk_and_drone_key_stolen": "01011011",
    "psk_and_gcs_key_stolen": "11111111",
    "both_broken": "11000011",
}
VARIANTS += tuple(
    Variant(f"proven_{each.name}", each.says, each.flags - {"fresh"}, _OUTCOMES.get(each.name, "00000011"), PROVEN)
    for each in VARIANTS
    if each.template == HANDSHAKE and each.name != "offer_travels"  # there the attacker chooses the suite always
)


def file_name(variant: Variant) -> str:
    """Return the name of a variant's model: Verifpal reads .vp, ProVerif .pv."""
    return variant.name + Path(variant.template).with_suffix("").suffix


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
        raise TemplateError(f"{variant.name}: no line of {variant.template} asks for {', '.join(sorted(unknown))}")
    head = [
        variant.says,
        f"Made by tools/model_variants.py from {variant.template}: change those.",
        f"expect: {variant.expect}",
    ]
    remark = "(* {} *)" if variant.template.endswith(".pv.in") else "// {}"
    return "\n".join([*(remark.format(line) for line in head), *lines, ""])


def models(folder: Path = MODEL) -> dict[str, str]:
    """Return every model's text by its file name. Raise TemplateError."""
    templates = {path.name: path.read_text(encoding="utf-8") for path in folder.glob("*.in")}
    return {file_name(variant): model(templates[variant.template], variant) for variant in VARIANTS}


def main() -> None:
    """Write every model into the folder named as argument, and nothing else."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for left in folder.glob("*.[vp][pv]"):
        left.unlink()
    for name, text in models().items():
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
