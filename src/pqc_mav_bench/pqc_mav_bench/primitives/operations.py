# SPDX-License-Identifier: Apache-2.0
"""The operations that are timed: KEM, SIG and AEAD of the engine, each as a loop of a given length.

KEM and signatures call a library through the engine's bindings; their cost is far above that of a call from Python.
AEAD seals and opens whole packets as the data plane does (header, nonce, cipher with a context that is keyed once,
tag, and on opening the replay window), so the figure is what a packet costs, plus one call from Python, which is
reported too.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pqc_mav_tunnel

PAYLOADS = (64, 256, 1024, 1400)  # bytes; 64 as published, 256 as the bulk workload, 1400 near the path's limit
MESSAGE_BYTES = 64  # what a handshake signs is a hash of about this size
_MAKE_NO_CALL = "binding call"


@dataclass(frozen=True)
class Operation:
    """One thing to time. `prepare(count)` returns a function that does it `count` times."""

    kind: str  # KEM, SIG, AEAD, overhead
    algorithm: str
    token: str
    name: str
    payload_bytes: int | None
    prepare: Callable[[int], Callable[[], None]]

    @property
    def label(self) -> str:
        """Unique."""
        size = f" {self.payload_bytes} B" if self.payload_bytes is not None else ""
        return f"{self.algorithm} {self.name}{size}"


def _repeat(call: Callable[[], object]) -> Callable[[int], Callable[[], None]]:
    def prepare(count: int) -> Callable[[], None]:
        def loop() -> None:
            for _ in range(count):
                call()

        return loop

    return prepare


def kem_operations(token: str, algorithm: str, provider: str = "") -> list[Operation]:
    """keygen, encaps, decaps; by the library that the engine prefers, or by the one named."""
    public, secret = pqc_mav_tunnel.kem_keypair(token, provider)
    ciphertext, _ = pqc_mav_tunnel.kem_encapsulate(token, public, provider)
    calls: dict[str, Callable[[], object]] = {
        "keygen": lambda: pqc_mav_tunnel.kem_keypair(token, provider),
        "encaps": lambda: pqc_mav_tunnel.kem_encapsulate(token, public, provider),
        "decaps": lambda: pqc_mav_tunnel.kem_decapsulate(token, secret, ciphertext, provider),
    }
    return [Operation("KEM", algorithm, token, name, None, _repeat(call)) for name, call in calls.items()]


def sig_operations(token: str, algorithm: str, provider: str = "") -> list[Operation]:
    """keygen, sign, verify, of a message of MESSAGE_BYTES; `provider` as above."""
    public, secret = pqc_mav_tunnel.sig_keypair(token, provider)
    message = bytes(range(MESSAGE_BYTES))
    signature = pqc_mav_tunnel.sig_sign(token, secret, message, provider)
    calls: dict[str, Callable[[], object]] = {
        "keygen": lambda: pqc_mav_tunnel.sig_keypair(token, provider),
        "sign": lambda: pqc_mav_tunnel.sig_sign(token, secret, message, provider),
        "verify": lambda: pqc_mav_tunnel.sig_verify(token, public, message, signature, provider),
    }
    return [Operation("SIG", algorithm, token, name, None, _repeat(call)) for name, call in calls.items()]


def aead_operations(token: str, algorithm: str, payload_bytes: int) -> list[Operation]:
    """encrypt and decrypt of one packet."""
    suite = next(suite.id for suite in pqc_mav_tunnel.suites() if suite.aead_token == token)
    keys = pqc_mav_tunnel.SessionKeys(suite, bytes(8), 0, bytes(range(32)), bytes(range(32, 64)))
    payload = bytes(payload_bytes)
    sender = pqc_mav_tunnel.SendKey(keys, "d2g")

    def prepare_open(count: int) -> Callable[[], None]:
        # Each packet opens once: the replay window would refuse it afterwards. Sealing them is not timed.
        fresh = pqc_mav_tunnel.SendKey(keys, "d2g")
        packets = [fresh.seal(payload) for _ in range(count)]
        receiver = pqc_mav_tunnel.ReceiveKey(keys, "d2g")

        def loop() -> None:
            for packet in packets:
                receiver.open(packet)

        return loop

    return [
        Operation("AEAD", algorithm, token, "encrypt", payload_bytes, _repeat(lambda: sender.seal(payload))),
        Operation("AEAD", algorithm, token, "decrypt", payload_bytes, prepare_open),
    ]


def overhead() -> Operation:
    """A call into the engine that does next to nothing: what is in every figure besides the operation."""
    return Operation("overhead", "none", "none", _MAKE_NO_CALL, None, _repeat(pqc_mav_tunnel.engine_version))


def all_operations(payloads: Sequence[int] = PAYLOADS, view: str = "core", only: Sequence[str] = ()) -> list[Operation]:
    """Operations of every algorithm in a view of the registry that this machine has; `only`: tokens to keep."""
    suites = pqc_mav_tunnel.suites(view=view, only_available=True)
    kems = dict.fromkeys((suite.kem_token, suite.kem) for suite in suites)
    sigs = dict.fromkeys((suite.sig_token, suite.sig) for suite in suites)
    aeads = dict.fromkeys((suite.aead_token, suite.aead) for suite in suites)
    wanted = set(only)
    found = [overhead()]
    for token, name in kems:
        found += kem_operations(token, name) if not wanted or token in wanted else []
    for token, name in sigs:
        found += sig_operations(token, name) if not wanted or token in wanted else []
    for token, name in aeads:
        if not wanted or token in wanted:
            found += [operation for size in payloads for operation in aead_operations(token, name, size)]
    return found
