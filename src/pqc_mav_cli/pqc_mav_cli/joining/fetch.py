# SPDX-License-Identifier: Apache-2.0
"""The drone's side of an invitation: reaches the ground, asks, and says in a sentence why it got nothing."""

import errno
import hashlib
import json
import secrets
import socket
import time
from base64 import b64encode
from collections.abc import Mapping
from typing import Any, Protocol

from pqc_mav_cli.errors import CliError
from pqc_mav_cli.joining.desk import PART, plain
from pqc_mav_cli.joining.line import Line
from pqc_mav_cli.joining.share import LARGEST

REACH_S = 20.0
LOOK_S = 3.0  # so often; a port where nobody listens is not waited for
ANSWER_S = 30.0
_AGAIN_S = (0.1, 0.5)  # three round trips, within these


class Session(Protocol):
    """What a Channel has of this."""

    def send(self, message: bytes) -> None:
        """On its way, or lost."""

    def receive(self, timeout_s: float) -> bytes | None:
        """The next message; None where none comes in time."""

    def status(self) -> Mapping[str, Any]:
        """What the engine says of the session."""


class Caller:
    """Asks the ground, again and again until it answers."""

    def __init__(self, session: Session, answer_s: float = ANSWER_S) -> None:
        self._session = session
        self._answer_s = answer_s
        self._run = secrets.token_hex(16)
        self._number = 0
        self._again_s = _AGAIN_S[1]

    def ask(self, ask: str, **about: Any) -> tuple[dict[str, Any], bytes]:
        """The answer's fields and the bytes behind them. Raises CliError for a refusal, or silence."""
        self._number += 1
        message = json.dumps({"run": self._run, "ask": ask, "id": self._number, **about}).encode()
        began_s = time.monotonic()
        sent = 0
        while time.monotonic() < began_s + self._answer_s:
            self._session.send(message)
            sent += 1
            again_s = time.monotonic() + self._again_s
            while (left_s := again_s - time.monotonic()) > 0:
                answer = self._session.receive(left_s)
                if answer is None:
                    break
                found = self._read(answer)
                if found is not None:
                    if sent == 1:  # else nobody knows which one was answered
                        round_trip_s = time.monotonic() - began_s
                        self._again_s = min(max(3 * round_trip_s, _AGAIN_S[0]), _AGAIN_S[1])
                    return found
        raise CliError(
            f"The ground station fell silent for {self._answer_s:g} s while this drone was joining; nothing was "
            "changed here unless said above. Ask for a new line with 'pqcmav invite' and try again."
        )

    def share(self, parts: int, size: int, digest: str) -> bytes:
        """All parts, one after the other. Raises CliError unless they are what was announced."""
        if not (isinstance(parts, int) and isinstance(size, int) and 0 < size <= LARGEST):
            raise CliError("The ground station announced a share that cannot be; give both ends the same release.")
        if parts != -(-size // PART):
            raise CliError("The ground station announced parts that cannot be; give both ends the same release.")
        whole = b"".join(self.ask("part", part=number)[1] for number in range(parts))
        if len(whole) != size or hashlib.sha256(whole).hexdigest() != digest:
            raise CliError("What came is not what the ground station announced; ask for a new line and try again.")
        return whole

    def give(self, files: Mapping[str, str]) -> None:
        """The public keys that this drone made."""
        whole = json.dumps(dict(files)).encode()
        step = PART // 2  # base64 and the fields around it stay below a message
        pieces = [whole[at : at + step] for at in range(0, len(whole), step)]
        for number, piece in enumerate(pieces):
            self.ask("give", part=number, of=len(pieces), data=b64encode(piece).decode())

    def _read(self, answer: bytes) -> tuple[dict[str, Any], bytes] | None:
        """None for the answer to an earlier question."""
        head, _, body = answer.partition(b"\n")
        try:
            header = dict(json.loads(head))
        except (ValueError, TypeError, RecursionError):
            return None
        if header.get("id") != self._number:
            return None
        if "refused" in header:
            raise CliError(f"The ground station says: {plain(header.get('text'), 300)}")
        return header, body


def reach(session: Session, line: Line, reach_s: float = REACH_S) -> None:
    """Waits for the session. Raises CliError that says what stands in the way."""
    began_s = time.monotonic()
    network, look_s = "", min(reach_s, LOOK_S)
    while (waited_s := time.monotonic() - began_s) < reach_s and network != "refused":
        if session.status()["state"] == "UP":
            return
        if waited_s > look_s:
            network, look_s = probe(line.host, line.port), look_s + LOOK_S
        time.sleep(0.05)
    network = network or probe(line.host, line.port)
    raise CliError(why_not(line, str(session.status()["last_error"]), network, time.time()))


def why_not(line: Line, engine: str, network: str, clock_s: float) -> str:
    """Why nobody answered, by what the engine says, what the network says (`probe`), and this machine's clock. Pure."""
    where = f"{line.host}:{line.port}"
    new = "ask for a new line with 'pqcmav invite'"
    if network == "name":
        return f"The name {line.host} in the line has no address here: check this drone's network and its name server."
    if network == "route":
        return (
            f"This drone has no route to {where}: join the network of the ground station first, or have it name an "
            "address that is reached from here ('pqcmav invite --address')."
        )
    late_s = clock_s - line.until_s
    clock = time.strftime("%H:%M:%S UTC", time.gmtime(clock_s))
    if network == "refused":
        over = f" By this drone's clock ({clock}) its time is over." if late_s > 0 else ""
        return (
            f"Nobody waits at {where} any more: this line was used, its time is over, or 'pqcmav invite' was ended; "
            f"{new}.{over}"
        )
    if late_s > 0:
        return (
            f"{where} does not answer, and by this drone's clock ({clock}) the time of this line was over "
            f"{_ago(late_s)} ago: {new}. If the clock is wrong, that does not matter: the ground counts the time."
        )
    if "signature does not verify" in engine:
        return (
            f"Somebody at {where} has the secret of this line, but is not the ground station that printed it. "
            "Nothing was taken from there. Have the line withdrawn, and find out who saw it."
        )
    if engine and not ("did not answer" in engine or engine.startswith("No answer")):
        return f"{where} did not let this drone in: {engine}"
    return (
        f"No answer from {where}. Either 'pqcmav invite' does not wait there any more, or this line is of an earlier "
        f"invitation ({new}); or a firewall or a NAT does not let UDP port {line.port} through to it (docs/joining.md)."
    )


def probe(host: str, port: int) -> str:
    """What the network says of a UDP port: 'name', 'route', 'refused', or "" for nothing."""
    try:
        family, kind, number, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_DGRAM)[0]
    except OSError:
        return "name"
    try:
        with socket.socket(family, kind, number) as knock:
            knock.settimeout(1.0)
            knock.connect(address)
            knock.send(b"\0")
            knock.recv(1)
    except ConnectionRefusedError:
        return "refused"
    except OSError as error:
        return "route" if error.errno in (errno.ENETUNREACH, errno.EHOSTUNREACH, errno.EADDRNOTAVAIL) else ""
    return ""


def _ago(seconds: float) -> str:
    minutes = int(seconds // 60)
    return f"{minutes} min" if 0 < minutes < 120 else f"{int(seconds)} s" if minutes == 0 else f"{minutes // 60} h"
