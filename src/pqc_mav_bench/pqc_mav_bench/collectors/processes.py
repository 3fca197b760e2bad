# SPDX-License-Identifier: Apache-2.0
"""Finds the process on this machine that runs the engine of a proxy, to know what the tunnel itself costs."""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import psutil

from pqc_mav_common.errors import ProcessError
from pqc_mav_common.local_socket import ATTACH, DAEMON, INSIDE, Control, connect_all, places
from pqc_mav_common.siblings import MARK

DOMAIN = "ROS_DOMAIN_ID"
EXECUTABLE = "pqc_proxy"
ANSWER_S = 1.0
_UNFIT = (OSError, ProcessError, ValueError, LookupError, TypeError, AttributeError)


@dataclass(frozen=True)
class EngineProcess:
    """Where an engine runs: process id, and how that is arranged (inside its node, daemon, attach); 0 and "" = not
    found."""

    pid: int = 0
    arrangement: str = ""


def is_proxy(command: Sequence[str], environment: Mapping[str, str], namespace: str, domain: str) -> bool:
    """Whether a process is the proxy of this namespace in this ROS domain."""
    if not any(part.rpartition("/")[2] == EXECUTABLE for part in command[:3]):
        return False
    return f"__ns:={namespace}" in command and environment.get(DOMAIN, "0") == domain


def proxy_pid(namespace: str, processes: Iterable[psutil.Process] | None = None) -> int:
    """Process id of the proxy in `namespace` ("/drone"); 0 when none of this user's processes is it."""
    domain = os.environ.get(DOMAIN, "0")
    for process in psutil.process_iter() if processes is None else processes:
        try:
            command = process.cmdline()
            if EXECUTABLE in " ".join(command[:3]) and is_proxy(command, process.environ(), namespace, domain):
                return int(process.pid)
        except psutil.Error:
            continue
    return 0


def engine_process(namespace: str, role: str, session_id: str) -> EngineProcess:
    """The process of the engine behind the proxy in `namespace`, the end of that role of that session.

    Control sockets say which sessions an engine has and of which process it is: one of the same name may run here, too.
    Where none has this session it is the proxy's own process.
    """
    node = proxy_pid(namespace)
    try:
        doors = connect_all(places(os.environ), ANSWER_S) if session_id else []
    except ProcessError:
        doors = []
    found = EngineProcess(node, INSIDE if node else "")
    for door in doors:
        with door:
            found = _behind(door, node, role, session_id) or found
    return found


def _behind(door: Control, node: int, role: str, session_id: str) -> EngineProcess | None:
    try:
        status, hello = door.ask_all([{"command": "status"}, {"command": "hello"}])
        if status["role"] != role or all(tunnel["session_id"] != session_id for tunnel in status["tunnels"]):
            return None
        pid = door.process or int(hello["pid"])
        if pid == node:
            return EngineProcess(pid, INSIDE)
        together = bool(hello["nonce"]) and hello["nonce"] == _mark(node)
        return EngineProcess(pid, DAEMON if together else ATTACH)
    except _UNFIT:
        return None  # one of another version, or that hangs


def _mark(pid: int) -> str:
    """Of the system that a process was started with; "" where that cannot be seen."""
    try:
        return str(psutil.Process(pid).environ().get(MARK, "")) if pid else ""
    except psutil.Error:
        return ""
