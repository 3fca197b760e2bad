# SPDX-License-Identifier: Apache-2.0
"""A call with wrong arguments must not show the secrets among them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable

import pqc_mav_tunnel as tunnel
import pytest
from pqc_mav_tunnel import _testing
from tunnel_support import LIGHT

SECRET = b"SixteenBytesOfIt" * 2
PIECE = "SixteenBytes"
SESSION = bytes(range(8))


def session_keys() -> tunnel.SessionKeys:
    return tunnel.SessionKeys(LIGHT, SESSION, 0, SECRET, SECRET)


def initiator(**more: object) -> _testing.Initiator:
    return _testing.Initiator(LIGHT, "uav1", **{"psk": SECRET, "gcs_public_key": bytes(1312), **more})


# Every call that takes a secret, or may get one by mistake, with something else wrong.
CALLS: dict[str, Callable[[], object]] = {
    "Initiator: psk as text": lambda: initiator(psk=SECRET.decode()),
    "Initiator: psk as bytearray": lambda: initiator(psk=bytearray(SECRET)),
    "Initiator: epoch out of range": lambda: initiator(epoch=256),
    "Initiator: secret as list": lambda: initiator(own_secret=list(SECRET)),
    "Initiator: unknown argument": lambda: initiator(key=SECRET),
    "Initiator: nothing fits": lambda: _testing.Initiator(SECRET),  # type: ignore[call-arg, arg-type]
    "Responder: psks as a list": lambda: _testing.Responder([("uav1", SECRET)], {}),  # type: ignore[arg-type]
    "Responder: psk as text": lambda: _testing.Responder({"uav1": SECRET.decode()}, {}),  # type: ignore[dict-item]
    "Responder: secrets by number": lambda: _testing.Responder({"uav1": SECRET}, {1: SECRET}),  # type: ignore[dict-item]
    "Initiator.on_data": lambda: initiator().on_data(SECRET.decode()),  # type: ignore[arg-type]
    "Responder.on_data": lambda: _testing.Responder({}, {}).on_data([SECRET]),  # type: ignore[arg-type]
    "SessionKeys: text": lambda: tunnel.SessionKeys(LIGHT, SESSION, 0, SECRET.decode(), SECRET),  # type: ignore[arg-type]
    "SendKey: key for session keys": lambda: tunnel.SendKey(SECRET, "d2g"),  # type: ignore[arg-type]
    "SendKey: direction": lambda: tunnel.SendKey(session_keys(), 1),  # type: ignore[arg-type]
    "SendKey.seal": lambda: tunnel.SendKey(session_keys(), "d2g").seal(SECRET.decode()),  # type: ignore[arg-type]
    "ReceiveKey": lambda: tunnel.ReceiveKey(SECRET, "d2g", 1024),  # type: ignore[arg-type]
    "ReceiveKey.open": lambda: tunnel.ReceiveKey(session_keys(), "d2g").open(SECRET.decode()),  # type: ignore[arg-type]
    "aead_seal": lambda: _testing.aead_seal("aesgcm", SECRET, 0, -1, b"", SECRET),
    "aead_open": lambda: _testing.aead_open("aesgcm", SECRET.decode(), 0, 0, b"", b""),  # type: ignore[arg-type]
    "kem_decapsulate": lambda: tunnel.kem_decapsulate("mlkem512", SECRET, "text"),  # type: ignore[arg-type]
    "sig_sign": lambda: tunnel.sig_sign("mldsa44", SECRET, None),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("name", CALLS)
def test_a_type_error_names_types_alone(name: str) -> None:
    with pytest.raises(TypeError) as refusal:
        CALLS[name]()
    text = str(refusal.value)
    assert PIECE not in text
    assert "Invoked with" not in text
    assert "help() shows its signature" in text
    assert text.startswith(name.split(":")[0].split(".")[-1] + "()")


def test_the_types_are_named() -> None:
    with pytest.raises(TypeError, match=r"Initiator\(\) does not take \(str, str, gcs_public_key=bytes, psk=str\)"):
        _testing.Initiator(LIGHT, "uav1", gcs_public_key=b"", psk="")  # type: ignore[arg-type]


def test_a_wrong_length_is_said_without_the_value() -> None:
    for call in (lambda: initiator(psk=SECRET[:-1]), lambda: tunnel.SessionKeys(LIGHT, SESSION, 0, SECRET[1:], SECRET)):
        with pytest.raises(tunnel.TunnelError, match="31 bytes") as refusal:
            call()
        assert PIECE not in str(refusal.value)


def test_a_process_may_forbid_its_core_dumps() -> None:
    code = (
        "import resource, pqc_mav_tunnel as t; print([t.forbid_core_dumps(), resource.getrlimit(resource.RLIMIT_CORE)])"
    )
    said = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60,
        env={key: value for key, value in os.environ.items() if key != "PQCMAV_CORE_DUMPS"},
    )  # fmt: skip
    assert said.stdout.strip() == "['', (0, 0)]"
