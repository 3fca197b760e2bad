# SPDX-License-Identifier: Apache-2.0
"""A session of the tunnel's own handshake, for one invitation: this process has an engine and talks through it.

The drone of an invitation is called `join`, and so is its ground station. The line's secret is its PSK, and the line's
public key is that by which it knows the ground station. SPHINCS+ signs, as its public keys are short enough for a line;
it rests on a hash function alone, and the secret would have to be known besides. Key exchange and cipher are the
default suite's.

The engine wants key files, so there are some while it runs, in memory (/dev/shm) and for this user alone. Between
engine and program are two loopback sockets that know each other; others cannot send to either of them.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import tempfile
import time
from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from pqc_mav_cli.errors import engine_errors
from pqc_mav_cli.joining.line import Line

ID = "join"
SUITE = "cs-mlkem768-aesgcm-sphincs192s"
LARGEST = 1200  # bytes of a message; fits what mobile networks carry
_SIG = "sphincs192s"
_PREFIX = "pqcmav-join-"
_QUIET: Mapping[str, Any] = {"control_socket": "off", "log_level": "error"}


class Channel:
    """One end of the session. A message may be lost; none is altered, and none is a stranger's."""

    def __init__(self, config: Mapping[str, Any], endpoint_key: str = "plain_endpoints") -> None:
        """Starts the engine. Raises CliError with its sentence, as for a port that is taken."""
        import pqc_mav_tunnel

        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        try:
            self._socket.bind(("127.0.0.1", 0))
            endpoint = f"udp:127.0.0.1:{self._socket.getsockname()[1]}"
            with engine_errors():
                self.engine = pqc_mav_tunnel.Engine({**_QUIET, **config, endpoint_key: [endpoint]})
                self.engine.start()
        except BaseException:
            self._socket.close()
            raise
        # "sends from port N"
        state = self.engine.stats()[0]["endpoints"][0]["state"]
        self._other = ("127.0.0.1", int(state.rsplit(" ", 1)[1]))

    def __enter__(self) -> Channel:
        return self

    def __exit__(self, *_: object) -> None:
        self.engine.stop()
        self._socket.close()

    def status(self) -> Mapping[str, Any]:
        """What the engine says of the session."""
        return self.engine.status()[0]

    def send(self, message: bytes) -> None:
        """On its way, or lost."""
        with suppress(OSError):
            self._socket.sendto(message, self._other)

    def receive(self, timeout_s: float) -> bytes | None:
        """The next message; None where none comes in time."""
        until_s = time.monotonic() + timeout_s
        while (left_s := until_s - time.monotonic()) > 0:
            self._socket.settimeout(left_s)
            try:
                message, source = self._socket.recvfrom(LARGEST + 1)
            except TimeoutError:
                return None
            except OSError:  # the engine ended
                continue
            if source == self._other and len(message) <= LARGEST:
                return message
        return None


@contextmanager
def in_memory() -> Iterator[Path]:
    """A `fleeting` folder, in memory where this machine has such a file system."""
    memory = Path("/dev/shm")  # noqa: S108 - the folder in it is made as in any other
    with fleeting(memory if memory.is_dir() else Path(tempfile.gettempdir()), _PREFIX) as folder:
        yield folder


@contextmanager
def fleeting(place: Path, prefix: str) -> Iterator[Path]:
    """A folder of this user alone; gone afterwards. What a killed program left goes with the next one."""
    _sweep(place, prefix)
    with tempfile.TemporaryDirectory(prefix=f"{prefix}{os.getpid()}-", dir=place) as folder:
        yield Path(folder)


def end_in_good_order() -> None:
    """SIGTERM and SIGHUP end this program as Ctrl-C does: no key stays behind. Call it in the main thread."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _end)


def _end(number: int, _frame: object) -> None:
    raise SystemExit(128 + number)


def _sweep(place: Path, prefix: str) -> None:
    for folder in place.glob(f"{prefix}*-*"):
        owner = folder.name.removeprefix(prefix).partition("-")[0]
        with suppress(OSError):
            if owner.isdigit() and folder.lstat().st_uid == os.geteuid() and not Path(f"/proc/{owner}").exists():
                shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def ground(bind: str, port: int, host: str, shown_port: int, until_s: int) -> Iterator[tuple[Channel, Line]]:
    """The ground's end and the line that leads to it, with a secret and a signing key pair that only it knows.

    It listens on `bind` ("" = every IPv4 address) and `port` (0 = a free one); the line names `host` and `shown_port`
    (0 = the port), and `until_s`.
    """
    import pqc_mav_tunnel

    with in_memory() as folder:
        with engine_errors():
            pqc_mav_tunnel.init_keys(str(folder), [ID], sig_tokens=[_SIG], gcs_id=ID)
        secret = _key(folder / "drones" / ID / "psk.key")
        public = _key(folder / "gcs" / "sig" / f"{_SIG}.pub")
        (folder / "drones" / ID / "psk.key").unlink()
        config = {
            "role": "gcs", "keys": str(folder / "gcs"), "gcs_id": ID, "drones": [ID], "bind": bind, "data_port": port,
            "allowed_suites": [SUITE], "allow_pure": False,
        }  # fmt: skip
        with Channel(config, f"drone.{ID}.plain_endpoints") as channel:
            yield channel, Line(host, shown_port or channel.engine.ports()["data"], secret, public, until_s)


@contextmanager
def drone(line: Line) -> Iterator[Channel]:
    """The drone's end of the session to which a line leads."""
    with in_memory() as folder:
        _write_key(folder / "psk.key", "psk", "psk", ID, line.secret)
        _write_key(folder / "gcs" / f"{_SIG}.pub", "sig-public", _SIG, "gcs", line.public)
        config = {
            "role": "drone", "keys": str(folder), "gcs_id": ID, "drone_id": ID, "suite": SUITE, "rekey_interval_s": 0.0,
            "peer": line.host, "data_port": line.port, "local_data_port": 0,
        }  # fmt: skip
        with Channel(config) as channel:
            yield channel


def _key(path: Path) -> bytes:
    """The key in a file, whose form is in the engine's keystore.hpp."""
    return b64decode("".join(path.read_text("ascii").splitlines()[4:]))


def _write_key(path: Path, kind: str, algorithm: str, owner: str, key: bytes) -> None:
    path.parent.mkdir(mode=0o700, exist_ok=True)
    path.touch(mode=0o600)
    path.write_text(
        f"pqcmav-key 1\nkind: {kind}\nalgorithm: {algorithm}\nowner: {owner}\n{b64encode(key).decode()}\n", "ascii"
    )
