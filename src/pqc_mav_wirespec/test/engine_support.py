# SPDX-License-Identifier: Apache-2.0
"""The engine under the same names as this package's own parties; importing this skips where the engine is not built."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from support import DRONE_ID, PSK, key_pair

from pqc_mav_wirespec.dataplane import Outcome
from pqc_mav_wirespec.keyschedule import SessionKeys
from pqc_mav_wirespec.suites import Suite, find_suite

_REASON = "the engine's Python modules are not built: nothing to interoperate with"
_engine, _testing = (
    pytest.importorskip(name, reason=_REASON) for name in ("pqc_mav_tunnel", "pqc_mav_tunnel._testing")
)
engine = SimpleNamespace(**{name: getattr(_engine, name) for name in _engine.__all__}, **vars(_testing))

OUTCOMES = {"data": Outcome.DELIVERED, "bundle": Outcome.DELIVERED, "control": Outcome.CONTROL} | {
    outcome.value.removeprefix("drop_"): outcome for outcome in Outcome if outcome.value.startswith("drop_")
}


class EngineParty:
    """One end of a handshake run by the engine, with the interface of `Initiator` and `Responder`."""

    def __init__(self, party: object) -> None:
        self._party = party
        self.status = "working"
        self.keys: SessionKeys | None = None

    def start(self) -> bytes:
        return self._party.start()

    def feed(self, data: bytes) -> bytes:
        self.status, reply = self._party.on_data(data)
        self.retry_ms = getattr(self._party, "busy_ms", None)
        if self.status == "done":
            self.native_keys = self._party.take_keys()
            self.keys = own_keys(self.native_keys)
        return reply

    @property
    def finished(self) -> bool:
        return self.status != "working"

    @property
    def error(self) -> str:
        return self._party.error

    @property
    def reject_code(self) -> int:
        return self._party.reject_code

    @property
    def keygens(self) -> int:
        return self._party.gated_keygens


def own_keys(keys: object) -> SessionKeys:
    """The engine's session keys as this package's."""
    suite = find_suite(keys.suite)
    directions = (keys.k_d2g, keys.k_g2d)
    return SessionKeys(suite, keys.session_id, keys.epoch, *directions, keys.chain, keys.hybrid, keys.drone_signed)


def engine_keys(keys: SessionKeys) -> object:
    """This package's session keys as the engine's."""
    return engine.SessionKeys(keys.suite.id, keys.session_id, keys.epoch, keys.k_d2g, keys.k_g2d, keys.ck or bytes(32))


def engine_initiator(suite: Suite, *, signed: bool = False, **changes: object) -> EngineParty:
    """The engine's drone that belongs to `policy_for`; keyword arguments override."""
    token = suite.sig.token
    arguments: dict[str, object] = {
        "suite": suite.id,
        "drone_id": DRONE_ID,
        "psk": PSK,
        "gcs_public_key": key_pair(token)[0],
        "own_secret": key_pair(token, DRONE_ID)[1] if signed else None,
    }
    return EngineParty(engine.Initiator(**(arguments | changes)))


def engine_responder(suite: Suite, **changes: object) -> EngineParty:
    """The engine's gcs that belongs to `initiator_for`; keyword arguments override."""
    token = suite.sig.token
    arguments: dict[str, object] = {
        "psks": {DRONE_ID: PSK},
        "gcs_secrets": {token: key_pair(token)[1]},
        "drone_publics": {(DRONE_ID, token): key_pair(token, DRONE_ID)[0]},
    }
    return EngineParty(engine.Responder(**(arguments | changes)))
