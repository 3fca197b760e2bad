# SPDX-License-Identifier: Apache-2.0
"""`status --once` and `rekey` for engines of this machine, without typer: an engine answers sooner than that loads.

Whatever is not understood here goes the usual way, which has the same options, answers and exit codes.
"""

import os
from collections.abc import Mapping, Sequence
from typing import Any

from pqc_mav_cli.errors import CliError

# Options with a value have a text or a number as their default, flags have False.
_STATUS: Mapping[str, Any] = {"once": False, "json": False, "socket": ""}
_REKEY: Mapping[str, Any] = {
    **dict.fromkeys(("on", "suite", "drone", "socket", "pin-for"), ""),
    "reason": "requested on the command line",
    "timeout": 60.0,
}
OPTIONS = {"status": _STATUS, "rekey": _REKEY}


def parse(defaults: Mapping[str, Any], arguments: Sequence[str]) -> dict[str, Any] | None:
    """The values of all options; None where one is unknown, lacks its value, or is none of its kind."""
    values = dict(defaults)
    rest = list(arguments)
    while rest:
        argument = rest.pop(0)
        name, equals, value = argument.removeprefix("--").partition("=")
        if not argument.startswith("--") or name not in values:
            return None
        if defaults[name] is False:
            if equals:
                return None
            values[name] = True
            continue
        if not equals:
            if not rest or rest[0].startswith("-"):
                return None
            value = rest.pop(0)
        try:
            values[name] = type(defaults[name])(value)
        except ValueError:
            return None
    return values


def run(arguments: Sequence[str]) -> int | None:
    """The exit code; None where the usual way has to do it. Raises CliError."""
    if not arguments or arguments[0] not in OPTIONS:
        return None
    values = parse(OPTIONS[arguments[0]], arguments[1:])
    if values is None:
        return None
    return status(values) if arguments[0] == "status" else rekey(values)


def status(values: Mapping[str, Any]) -> int | None:
    """What the engines of this machine say, once."""
    if not (values["once"] or values["json"]):
        return None
    from pqc_mav_cli.socket_session import here
    from pqc_mav_cli.status_once import show

    with here(values["socket"]) as watcher:
        return None if watcher is None else show(watcher, as_json=values["json"])


def rekey(values: Mapping[str, Any]) -> int | None:
    """Asks the engine that is meant, where it is on this machine."""
    if values["on"] not in ("", "drone", "gcs"):
        return None
    try:
        pin = {"pin_for_s": float(values["pin-for"])} if values["pin-for"] else {}
    except ValueError:
        return None
    from pqc_mav_cli.wording import outcome
    from pqc_mav_common.local_socket import chosen

    # The engine gives up first, and says why.
    with chosen(
        os.environ, path=values["socket"], role=values["on"], drone=values["drone"], answer_s=values["timeout"] + 2.0
    ) as control:
        if control is None:
            return None
        asked = {name: values[name] for name in ("suite", "reason", "drone", "kind") if name in values}
        try:
            answer = control.ask("rekey", **asked, **pin, timeout_s=values["timeout"])
        except OSError as error:
            raise CliError(f"No answer from {control.place.path}: {error}") from None
    print(outcome(answer["suite"], answer["epoch"], answer["rekey_ms"], answer.get("pin_for_s", 0.0)))
    return 0
