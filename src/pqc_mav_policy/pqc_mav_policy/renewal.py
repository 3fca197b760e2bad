# SPDX-License-Identifier: Apache-2.0
"""Whether fresh keys of the suite in use come from a full handshake or from a ratchet (docs/rekey.md). Pure.

A ratchet is two small messages without a signature. It shuts out who stole the session's secrets and only listens; who
stole them with the PSK and sits in the path stays until the next full handshake. So it is taken where a full one is
long, with a full one every eighth time, as the tunnel does by itself (docs/protocol.md section 12), and where otherwise
the keys could not be renewed at all. What an alarm asks for is never a ratchet.
"""

from dataclasses import replace

from pqc_mav_policy.decision import Action, Decision, Kind
from pqc_mav_policy.situation import Situation

# Ratchets in a row where a full handshake would do as well; both ends allow one more.
PERIODIC = 7
# The next renewal comes after an interval and a tenth at the latest, where nothing speaks against it.
LATE = 1.1


def possible(it: Situation) -> bool:
    """Whether both ends allow a ratchet now."""
    return it.inputs.session.ratchet_for_s > 0


def regular(it: Situation) -> bool:
    """Whether a ratchet may be taken though a full handshake would do: a full one is not due for a while, and the last
    ratchet did not fail."""
    session = it.inputs.session
    if it.memory.ratchet_failed or session.ratchets >= PERIODIC:
        return False
    return session.ratchet_for_s > LATE * it.interval_s(it.current)


def instead(it: Situation) -> str:
    """Why a ratchet takes the place of a full handshake of the suite in use, one clause; "" where it does not."""
    size = it.ladder.catalogue[it.current].answer_bytes
    if size <= it.parameters.ratchet_above_bytes or not regular(it):
        return ""
    return f"key and signature of a full handshake are {size} bytes"


def by_ratchet(decision: Decision, why: str) -> Decision:
    """The same request with a ratchet, and why; what holds is left as it is."""
    if decision.action is not Action.REKEY:
        return decision
    return replace(decision, kind=Kind.RATCHET, reason=f"{decision.reason.rstrip('.')}; by a ratchet: {why}.")


def eased(it: Situation, decision: Decision) -> Decision:
    """A request for fresh keys, by a ratchet where that takes a full handshake's place."""
    why = instead(it)
    return by_ratchet(decision, why) if why else decision
