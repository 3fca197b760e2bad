# SPDX-License-Identifier: Apache-2.0
"""`pqcmav up`: run an end of the tunnel, or the demo system, under supervision until Ctrl-C.

Its commands and options are the systems and arguments that `ros2 launch` knows, too.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from inspect import Parameter, Signature
from pathlib import PurePath
from typing import Any

import typer

from pqc_mav_bringup import composed
from pqc_mav_bringup.description import Argument, BringupError, SystemDescription
from pqc_mav_bringup.share import config_file
from pqc_mav_bringup.systems import DEMO, SYSTEMS
from pqc_mav_cli.console import PROGRAM
from pqc_mav_cli.errors import CliError, ExitCode, engine_errors, refuse_without_ros

up_app = typer.Typer(
    no_args_is_help=True,
    help="Run one end of the tunnel under supervision until Ctrl-C, like 'ros2 launch pqc_mav_bringup ...'.",
)


def option(name: str) -> str:
    """An argument's name as that of an option."""
    return f"--{name.replace('_', '-')}"


def spoken(text: str, names: Mapping[str, Argument]) -> str:
    """What a launch file says of its arguments, in the form of a command line."""
    text = re.sub(r"(\w+):=(\w+)", lambda match: f"{option(match[1])} {match[2]}", text)
    return re.sub(r"\b[a-z]+(_[a-z]+)+\b", lambda match: option(match[0]) if match[0] in names else match[0], text)


def explained(argument: Argument, names: Mapping[str, Argument]) -> str:
    """The help of an option: meaning, values, default."""
    said = spoken(argument.description, names)
    if argument.choices:
        values = (f"{value} (default)" if value == argument.default else value for value in argument.choices)
        return f"{said} One of: {', '.join(values)}."
    if not argument.default:
        return said
    installed = argument.default == str(config_file(PurePath(argument.default).name))
    return f"{said} Default: {'the installed one' if installed else argument.default}."


def _parameters(system: SystemDescription) -> Iterator[Parameter]:
    names = {argument.name: argument for argument in system.arguments if argument is not composed.ARGUMENT}
    options: dict[str, tuple[Any, Any]] = {
        name: (str | None, typer.Option(None, option(name), help=explained(argument, names), show_default=False))
        for name, argument in names.items()
    }
    options["verbose"] = bool, typer.Option(False, "--verbose", "-v", help="The same as --log-level debug.")
    if system is not DEMO:
        said = "Start nothing, but say whether configuration, keys, programs and ports are good."
        options["check"] = bool, typer.Option(False, "--check", help=said)
    for name, (kind, default) in options.items():
        yield Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=kind)


def command(system: SystemDescription) -> Callable[..., int]:
    """The command that runs a system, with an option for each of its arguments."""

    def run(*, verbose: bool, check: bool = False, **values: str | None) -> int:
        refuse_without_ros(f"pqcmav up {system.name}")
        given = {"log_level": "debug"} if verbose else {}
        given |= {name: value for name, value in values.items() if value is not None}
        if check:
            from pqc_mav_cli.up_check import check_end

            return check_end(system.name, given)
        if system is DEMO:
            return run_demo(given)
        from pqc_mav_bringup.supervise import replace_process

        return replace_process(PROGRAM, system.name, given)

    # What typer makes the options of.
    run.__signature__ = Signature(list(_parameters(system)))  # type: ignore[attr-defined]
    return run


def run_demo(given: Mapping[str, str]) -> int:
    """Runs the demo system in this process, which removes the keys at the end."""
    from pqc_mav_bringup.demo_session import DemoSession
    from pqc_mav_bringup.supervise import supervise

    try:
        with engine_errors(), DemoSession(given) as session:
            try:
                return ExitCode(supervise(DEMO.name, session.values))
            except BringupError as error:
                raise CliError(str(error), ExitCode.USAGE) from None
    except BringupError as error:
        raise CliError(str(error)) from None


for _system in SYSTEMS.values():
    up_app.command(_system.name, help=_system.description)(command(_system))
