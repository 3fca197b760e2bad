# SPDX-License-Identifier: Apache-2.0
"""Asks engines of this machine through their control sockets (docs/control-socket.md). No ROS, and quick to import."""

from __future__ import annotations

import grp
import json
import os
import pwd
import socket
import struct
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import Any

from pqc_mav_common.errors import ExitCode, ProcessError

# As in the engine (console/local_socket.hpp).
FOLDER_VARIABLE = "PQCMAV_RUN_DIR"
SYSTEM_FOLDER = Path("/run/pqcmav")
VERSION = 1
# Where the engine of a proxy node runs: in it, in a pqcmav-tunneld that was started with it, in one that runs already.
INSIDE, DAEMON, ATTACH = TUNNELS = ("inside", "daemon", "attach")
ANSWER_S = 5.0
CONNECT_S = 1.0
LARGEST = 64 * 1024 * 1024  # bytes of an answer: a thousand drones need about one
_USAGE = ("bad_request", "suite_", "unknown_drone", "which_drone")


class ControlError(ProcessError):
    """What an engine refuses, or why none is asked. `code` is the socket's own where the engine spoke, else empty."""

    def __init__(self, sentence: str, exit_code: ExitCode = ExitCode.FAILED, code: str = "") -> None:
        super().__init__(sentence, exit_code)
        self.code = code


class ForbiddenError(ControlError):
    """This user may not use a socket."""


@dataclass(frozen=True)
class Place:
    """A socket by its name: `drone-<id>.sock`, `gcs.sock` or `gcs-<id>.sock`, or with `@<group>` before its ending."""

    path: Path

    @property
    def name(self) -> str:
        """What status calls this end."""
        return self.path.name.removesuffix(".sock")

    @property
    def role(self) -> str:
        """'drone', 'gcs', or something else for a path that a user chose."""
        return self._end.partition("-")[0]

    @property
    def drone_id(self) -> str:
        """Of a drone's socket."""
        return self._end.partition("-")[2] if self.role == "drone" else ""

    @property
    def _end(self) -> str:
        return self.name.partition("@")[0]


def folders(environment: Mapping[str, str]) -> list[Path]:
    """Where engines put their sockets by themselves."""
    if named := environment.get(FOLDER_VARIABLE):
        return [Path(named)]
    own = environment.get("XDG_RUNTIME_DIR", "")
    return [SYSTEM_FOLDER, *([Path(own) / "pqcmav"] if own.startswith("/") else [])]


def socket_name(config: Mapping[str, Any]) -> str:
    """What the engine of a configuration calls its socket there."""
    if config.get("role", "drone") == "drone":
        return f"drone-{config.get('drone_id', '')}.sock"
    name = config.get("gcs_id", "gcs")
    return "gcs.sock" if name == "gcs" else f"gcs-{name}.sock"


def doors_of(config: Mapping[str, Any], environment: Mapping[str, str], group: str = "") -> list[Path]:
    """Where the engine of a configuration may have its socket, the first choice first; in a group of launch files with
    the group's name, as two groups may hold ends of one name.

    Raises ControlError where it is to have none.
    """
    named = str(config.get("control_socket", "auto"))
    if named == "off":
        raise ControlError("A tunnel in another process is asked at its door: 'control_socket' must not be 'off'.")
    if named != "auto":
        return [Path(named).expanduser().absolute()]
    name = Path(socket_name(config))
    if group:
        name = name.with_stem(f"{name.stem}@{group.replace('/', '.')}")
    return [folder / name for folder in folders(environment)]


def places(environment: Mapping[str, str]) -> list[Place]:
    """The sockets there are, in a stable order; those of dead processes among them.

    Raises ForbiddenError where there is none but a folder that this user may not look into.
    """
    found: list[Place] = []
    refused: ForbiddenError | None = None
    for folder in folders(environment):
        try:
            found += [Place(path) for path in sorted(folder.iterdir()) if path.suffix == ".sock" and path.is_socket()]
        except PermissionError:
            refused = forbidden(folder)
        except OSError:
            continue
    if refused is not None and not found:
        raise refused
    return found


def names_of(found: Sequence[Place]) -> list[str]:
    """The name of each socket's file, without its suffix; its whole path where a folder before has the same name."""
    names: list[str] = []
    for place in found:
        names.append(place.name if place.name not in names else str(place.path))
    return names


def nothing_here(environment: Mapping[str, str]) -> ControlError:
    """No engine of this machine answers; where else to look."""
    where = " or ".join(str(folder) for folder in folders(environment))
    ros = ", --ros asks a proxy that ROS reaches" if find_spec("rclpy") is not None else ""
    return ControlError(
        f"No such engine has a control socket in {where}; is it running on this machine? "
        f"--socket names a socket elsewhere{ros}."
    )


def forbidden(path: Path) -> ForbiddenError:
    """Why this user may not use a socket or its folder, and what would help."""
    with suppress(OSError):
        state = path.stat()
        owner, group = _name(pwd.getpwuid, state.st_uid), _name(grp.getgrgid, state.st_gid)
        if state.st_mode & 0o070 and state.st_gid != 0:  # nobody should become a member of root's group
            me = _name(pwd.getpwuid, os.geteuid())
            return ForbiddenError(
                f"{path} is for members of the group '{group}', and this user ({me}) is none: "
                f"'sudo usermod -aG {group} {me}', then log in again."
            )
        return ForbiddenError(
            f"{path} is for the user '{owner}' alone; 'control_socket_group' of the end opens it to a group."
        )
    return ForbiddenError(f"This user may not use {path}.")


def _name(look_up: Any, number: int) -> str:
    try:
        return str(look_up(number)[0])
    except KeyError:
        return str(number)


def result_of(line: str | bytes) -> dict[str, Any]:
    """The result in an engine's answer. Raises ControlError for what it refuses."""
    answer = json.loads(line)
    if answer["ok"]:
        return dict(answer["result"])
    code, text = answer["error"]["code"], answer["error"]["text"]
    raise ControlError(text, ExitCode.CONFIG if code.startswith(_USAGE) else ExitCode.FAILED, code)


class Control:
    """A connection to one engine. Raises OSError where nobody listens, ControlError for what the engine refuses.

    All that is asked in one go is answered within `answer_s` [s], however slowly it comes, or TimeoutError is raised.
    """

    def __init__(self, place: Place, answer_s: float = ANSWER_S) -> None:
        self.place = place
        self._answer_s = answer_s
        self._until_s: float | None = None
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._rest = b""
        try:
            self._socket.settimeout(CONNECT_S)
            self._socket.connect(str(place.path))
        except PermissionError:
            self._socket.close()
            raise forbidden(place.path) from None
        except OSError:
            self._socket.close()
            raise

    def __enter__(self) -> Control:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def process(self) -> int:
        """The one at the other end, as the kernel says; 0 for one that this process cannot see."""
        credentials = self._socket.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
        return int(struct.unpack("3i", credentials)[0])

    def close(self) -> None:
        """Ends the connection."""
        self._socket.close()

    def ask(self, command: str, **arguments: Any) -> dict[str, Any]:
        """The result of one command."""
        return self.ask_all([{"command": command, **arguments}])[0]

    def ask_all(self, requests: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """The results of several, in one go."""
        self._until_s = time.monotonic() + self._answer_s
        self._socket.settimeout(self._answer_s)
        self._socket.sendall(b"".join(json.dumps({"v": VERSION, **each}).encode() + b"\n" for each in requests))
        return [self._result() for _ in requests]

    def events(self, within_s: float | None = None) -> Iterator[dict[str, Any]]:
        """What a subscription brings, until the engine ends; with a limit [s] TimeoutError is raised after that."""
        self._until_s = None if within_s is None else time.monotonic() + within_s
        self._socket.settimeout(None)
        with suppress(ConnectionError):
            while True:
                yield json.loads(self._line())

    def _result(self) -> dict[str, Any]:
        return result_of(self._line())

    def _line(self) -> bytes:
        parts = [self._rest]
        size = len(self._rest)
        while b"\n" not in parts[-1]:
            if self._until_s is not None:
                left_s = self._until_s - time.monotonic()
                if left_s <= 0:
                    raise TimeoutError(f"{self.place.path} took longer than {self._answer_s:g} s.")
                self._socket.settimeout(left_s)
            part = self._socket.recv(1 << 18)
            size += len(part)
            if not part or size > LARGEST:
                raise ConnectionError(f"{self.place.path} was closed.")
            parts.append(part)
        line, _, self._rest = b"".join(parts).partition(b"\n")
        return line


def connect_all(found: Sequence[Place], answer_s: float = ANSWER_S) -> list[Control]:
    """A connection to each that answers; raises ForbiddenError where some do, and this user may use none of them."""
    connections: list[Control] = []
    refused: ForbiddenError | None = None
    for place in found:
        try:
            connections.append(Control(place, answer_s))
        except ForbiddenError as error:
            refused = error
        except OSError:
            continue
    if refused is not None and not connections:
        raise refused
    return connections


@contextmanager
def chosen(
    environment: Mapping[str, str], *, path: str = "", role: str = "", drone: str = "", answer_s: float = ANSWER_S
) -> Iterator[Control | None]:
    """The one engine that is meant; None where none of this machine is. Raises ControlError where it is not clear."""
    if path:
        try:
            connection = Control(Place(Path(path)), answer_s)
        except OSError as error:
            raise ControlError(f"Nobody answers at {path}: {error.strerror or error}; is the engine running?") from None
        with connection:
            yield connection
        return
    connections = connect_all(places(environment), answer_s)
    try:
        yield _meant(connections, role, drone)
    finally:
        for each in connections:
            each.close()


def _meant(connections: Sequence[Control], role: str, drone: str) -> Control | None:
    """Without a role the drone's end goes first: it is the one that acts."""
    for wanted in [role] if role else ["drone", "gcs"]:
        fitting = [each for each in connections if each.place.role == wanted]
        if drone and wanted == "drone":
            fitting = [each for each in fitting if each.place.drone_id == drone]
        if len(fitting) == 1:
            return fitting[0]
        if fitting:
            names = ", ".join(each.place.name for each in fitting)
            how = "--drone or --socket" if wanted == "drone" else "--socket"
            raise ControlError(f"This machine runs several ({names}): choose one with {how}.", ExitCode.CONFIG)
    return None
