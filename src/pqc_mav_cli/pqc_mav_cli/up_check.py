# SPDX-License-Identifier: Apache-2.0
"""`pqcmav up --check`: everything that can be known of an end before it starts."""

import socket
from collections.abc import Mapping
from typing import Any

from pqc_mav_cli.errors import CliError, ExitCode


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
    for what, host, port in _sockets(config):
        refuse_taken(what, host, port)
        lines.append(f"{process.label}: {what}: UDP port {port} on {host or 'every address'} is free")
    return lines


def refuse_taken(what: str, host: str, port: int) -> None:
    """Raises CliError when a socket cannot have its address."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as tried:
        try:
            tried.bind((host, port))
        except OSError as error:
            raise CliError(f"{what}: UDP port {port} on {host or 'every address'}: {error.strerror}.") from None


def _sockets(config: Mapping[str, Any]) -> list[tuple[str, str, int]]:
    """(purpose, address, port) of what an end binds; ports that the system chooses are always free."""
    drone = config["role"] == "drone"
    found = [("to the other end", str(config["bind"]), int(config["local_data_port" if drone else "data_port"]))]
    plain = [str(value) for key, value in config.items() if key.rpartition(".")[2] == "plain_bind"]
    for address in plain:
        host, _, port = address.rpartition(":")
        found.append(("MAVLink", host.strip("[]"), int(port)))
    return [(what, host, port) for what, host, port in found if port]
