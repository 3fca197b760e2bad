# SPDX-License-Identifier: Apache-2.0
"""Mission-phase bands: which suites are fit for a phase of flight and how often keys are renewed in it, as data.

[pqcmav-paper] (VI-B: SPHINCS+ and McEliece-8192128 stay on the ground) and [endurance-paper] (6.2: high security in
static phases, light suites in high-load manoeuvres). A band only takes away: it never raises a suite in flight, and
where nothing would be left, everything is allowed.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from pqc_mav_policy.suites import Suite
from pqc_mav_policy.telemetry.inputs import Phase

_ALL = frozenset({"ML-KEM", "HQC", "Classic-McEliece", "FrodoKEM"})
_LATTICE = frozenset({"ML-KEM", "FrodoKEM"})
_LIGHT_SIGNATURES = frozenset({"ML-DSA", "Falcon"})
_EVERY_SIGNATURE = _LIGHT_SIGNATURES | {"SPHINCS+", "SLH-DSA"}
_TOO_LONG_IN_FLIGHT = frozenset({"classicmceliece8192128"})


@dataclass(frozen=True)
class Band:
    """What a phase allows. `rekey_factor` stretches the family's rekey interval; None = no periodic rekey in it."""

    kem_families: frozenset[str]
    sig_families: frozenset[str]
    kems_excluded: frozenset[str]
    rekey_factor: float | None
    why: str

    def allows(self, suite: Suite) -> bool:
        """Whether the suite is fit for this phase."""
        return (
            suite.kem_family in self.kem_families
            and suite.sig_family in self.sig_families
            and suite.kem_token not in self.kems_excluded
        )


_MANOEUVRE = "a manoeuvre under load: only suites whose handshake takes a few ms, and no rekey unless necessary"
_TRANSIT = Band(
    _ALL - {"Classic-McEliece"},
    _LIGHT_SIGNATURES,
    frozenset(),
    1.0,
    "moving, so the link changes: no public key of half a megabyte, no signature that takes a second",
)

BANDS: Mapping[Phase, Band] = {
    Phase.DISARMED: Band(_ALL, _EVERY_SIGNATURE, frozenset(), 1.0, "on the ground: everything, even for tests"),
    Phase.TAKEOFF: Band(_LATTICE, _LIGHT_SIGNATURES, frozenset(), None, _MANOEUVRE),
    Phase.CRUISE: _TRANSIT,
    Phase.HOVER: Band(
        _ALL,
        _LIGHT_SIGNATURES,
        _TOO_LONG_IN_FLIGHT,
        1.0,
        "static: even McEliece up to level 3, whose handshake is slow",
    ),
    Phase.LANDING: Band(_LATTICE, _LIGHT_SIGNATURES, frozenset(), None, _MANOEUVRE),
    Phase.UNKNOWN: _TRANSIT,
}
EVERYTHING = BANDS[Phase.DISARMED]
