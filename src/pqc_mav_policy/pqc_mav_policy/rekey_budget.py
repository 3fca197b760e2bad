"""What renewing keys costs a flight: the share of time ([pqcmav-paper] Eq. 6) and of energy ([rpi5-report] 24)."""

from __future__ import annotations


def overhead(handshake_s: float, interval_s: float) -> float:
    """Phi(R) = T_hs / (R + T_hs), the fraction of time spent in handshakes; 0 for an interval of 0 (never)."""
    return handshake_s / (interval_s + handshake_s) if interval_s > 0 else 0.0


def rekeys(flight_s: float, interval_s: float) -> int:
    """Whole intervals in a flight; 0 for an interval of 0 (never)."""
    return int(flight_s // interval_s) if interval_s > 0 else 0


def rekey_energy_j(handshake_s: float, power_w: float) -> float:
    """Energy of one handshake at the mean power [J]: the documents' method, an upper bound, for the power is drawn
    anyway."""
    return power_w * handshake_s


def flight_energy_j(handshake_s: float, power_w: float, flight_s: float, interval_s: float) -> float:
    """Energy of all rekeys of a flight [J]."""
    return rekeys(flight_s, interval_s) * rekey_energy_j(handshake_s, power_w)
