# SPDX-License-Identifier: Apache-2.0
"""How suites and counts are written for people. Machine formats (--json) have the long ids and plain numbers."""


def short_code(suite: str) -> str:
    """As sentences call a suite; what this version does not know stays as it is."""
    import pqc_mav_tunnel  # not before it is needed: other commands start sooner

    return pqc_mav_tunnel.short_code(suite)


def both_names(suite: str) -> str:
    """Short code and id: ML-768-AG-MD-65 (cs-mlkem768-aesgcm-mldsa65)."""
    code = short_code(suite)
    return suite if code == suite else f"{code} ({suite})"


def outcome(suite: str, epoch: int, rekey_ms: float, pin_for_s: float = 0.0) -> str:
    """Of a rekey that worked, and for how long its suite stays."""
    done = f"{both_names(suite)}, epoch {epoch}, after {rekey_ms:.1f} ms"
    if pin_for_s <= 0:
        return done
    return (
        f"{done}\nA policy on the drone keeps this suite for {pin_for_s:.0f} s; in mode manual it goes back to the "
        f"suite that is pinned there. For longer: --pin-for SECONDS; for good: 'suite: {short_code(suite)}' in the "
        "drone's configuration."
    )


def counted(number: int, one: str, many: str = "") -> str:
    """A number with its noun: 1 drone, 2 drones; `many` where an s is not enough."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"
