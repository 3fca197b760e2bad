# SPDX-License-Identifier: Apache-2.0
"""`pqcmav up --check`: everything that can be known of an end before it starts."""

import socket
from collections.abc import Iterator, Mapping
from typing import Any

from pqc_mav_cli.errors import CliError, ExitCode

UDP, TCP = "UDP", "TCP"
LISTENING = {"udp-listen": UDP, "tcp-listen": TCP}  # kinds of plain_endpoints


def check_end(name: str, given: Mapping[str, str]) -> ExitCode:
    """Says what would run and where it would listen. Raises CliError for the first thing that is wrong."""
    from pqc_mav_bringup import composed
    from pqc_mav_bringup.configuration import engine_of
    from pqc_mav_bringup.description import BringupError, resolve
    from pqc_mav_bringup.prepare import prepare
    from pqc_mav_bringup.systems import SYSTEMS

    try:
        composed.refuse(given)
        processes = resolve(SYSTEMS[name], given)
        prepare(processes)  # looks at files, programs and keys; it starts nothing
    except BringupError as error:
        raise CliError(str(error), ExitCode.USAGE) from None
    for process in processes:
        config = engine_of(process)
        for line in proxy_lines(process, config) if config else [f"{process.label}: program and files are here"]:
            print(line)
    return ExitCode.OK


def proxy_lines(process: Any, config: Mapping[str, Any]) -> list[str]:
    """What is good of a proxy, in words. Raises CliError for a port that is taken."""
    lines = [f"{process.label}: {process.config} and the keys in {config['keys']} are good"]
    for what, protocol, host, port in _sockets(config):
        where = f"{what}: {protocol} port {port} on {host or 'every address'}"
        if why := taken(protocol, host, port):
            raise CliError(f"{where}: {why}.")
        lines.append(f"{process.label}: {where} is free")
    return lines


def taken(protocol: str, host: str, port: int) -> str:
    """Why a socket cannot have this address; empty if it can."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM if protocol == TCP else socket.SOCK_DGRAM) as tried:
        if protocol == TCP:  # as the engine does: connections that have ended keep nobody out
            tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            tried.bind((host, port))
        except OSError as error:
            return error.strerror or str(error)
    return ""


def _sockets(config: Mapping[str, Any]) -> list[tuple[str, str, str, int]]:
    """(purpose, protocol, address, port) of what an end binds; ports that the system chooses are always free."""
    drone = config["role"] == "drone"
    bind = str(config["bind"])
    found = [("to the other end", UDP, bind, int(config["local_data_port" if drone else "data_port"]))]
    found.append(("to other drones", UDP, bind, int(config.get("relay_port", 0))))
    for endpoint in _plain(config):
        kind, _, address = endpoint.partition(":")
        if kind in LISTENING:
            host, _, port = address.rpartition(":")
            found.append(("MAVLink", LISTENING[kind], host.strip("[]"), int(port)))
    return [each for each in found if each[-1]]


def _plain(config: Mapping[str, Any]) -> Iterator[str]:
    """The endpoints of the plaintext; where there are any, plain_bind does not count."""
    for key, value in config.items():
        name = key.rpartition(".")[2]
        of = key.removesuffix(name)
        if name == "plain_endpoints":
            yield from value
        elif name == "plain":
            yield value
        elif name == "plain_bind" and not (config.get(f"{of}plain") or config.get(f"{of}plain_endpoints")):
            yield f"udp-listen:{value}"
