# SPDX-License-Identifier: Apache-2.0
"""The `pqcmav` command line: the commands, and what becomes of a wrong one."""

import math
import sys
from collections.abc import Callable, Sequence
from copy import copy
from functools import partial
from importlib import import_module
from typing import Annotated, Any

import typer

from pqc_mav_cli import older_typer
from pqc_mav_cli.console import PROGRAM
from pqc_mav_cli.ending import INTERRUPTED, ended, interrupts_raise
from pqc_mav_cli.errors import CliError, ExitCode, missing_package

_HELP = """A post-quantum tunnel for MAVLink.

First steps: 'pqcmav doctor' checks this machine, 'pqcmav demo' shows the tunnel at work, 'pqcmav keys init drone1'
makes keys, 'pqcmav up gcs' and 'pqcmav up drone' start the two ends, 'pqcmav status' watches them.
'pqcmav --install-completion' has the shell complete all of this.

Exit codes: 0 done, 1 failed, 2 called or configured wrongly.
"""

# In the order of the help: the module of each command or group and its name there.
COMMANDS = {
    "keys": "keys_command:keys_app",
    "invite": "invite_command:invite",
    "join": "join_command:join",
    "suites": "suites_command:suites",
    "up": "up_command:up_app",
    "status": "status_command:status",
    "rekey": "rekey_command:rekey",
    "reload": "reload_command:reload",
    "pause": "pause_command:pause",
    "resume": "pause_command:resume",
    "drones": "drones_command:drones_app",
    "fleet": "fleet.command:fleet_app",
    "station": "station_command:station",
    "path": "path_command:path",
    "avoid": "avoid_command:avoid",
    "dashboard": "dashboard_command:dashboard",
    "logs": "logs_command:logs",
    "metrics": "metrics.command:metrics",
    "doctor": "doctor.command:doctor",
    "demo": "demo.command:demo",
    "policy": "policy.command:policy_app",
    "detect": "detect_command:detect_app",
    "record": "record_command:record",
    "replay": "replay_command:replay",
    "bench": "bench.command:bench_app",
}


def make_app(only: str = "") -> typer.Typer:
    """The command line; with `only` one of its commands, so that the others need not be imported."""
    older_typer.prepare()
    made = typer.Typer(
        name=PROGRAM,
        help=_HELP,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    made.callback()(_root)
    for name in [only] if only else COMMANDS:
        module, _, attribute = COMMANDS[name].partition(":")
        found = getattr(import_module(f"pqc_mav_cli.{module}"), attribute)
        if isinstance(found, typer.Typer):
            made.add_typer(found, name=name)
        else:
            made.command(name)(found)
    return made


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        print(f"{PROGRAM} {version('pqc_mav_cli')}")
        raise typer.Exit


def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show name and version and exit.")
    ] = False,
) -> None:
    # The options of pqcmav itself; the help is that of the app.
    pass


def _finite(convert: Callable[..., Any], value: Any, parameter: Any, context: Any) -> Any:
    number = convert(value, parameter, context)
    if not math.isfinite(number):  # which passes every bound
        parameter.type.fail(f"{value} is no number to reckon with.", parameter, context)
    return number


def reflow(command: Any) -> None:
    """Joins the lines of each paragraph of a help, which typer would break where the source does, and takes finite
    numbers alone."""
    if command.help:
        command.help = "\n\n".join(" ".join(paragraph.split()) for paragraph in command.help.split("\n\n"))
    for parameter in command.params:
        if parameter.type.name.startswith("float"):
            parameter.type = copy(parameter.type)
            parameter.type.convert = partial(_finite, parameter.type.convert)
    for inner in getattr(command, "commands", {}).values():
        reflow(inner)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command. Returns its exit code; every error is one line on stderr."""
    return ended(lambda: command(sys.argv[1:] if arguments is None else arguments))


def command(arguments: Sequence[str]) -> int:
    """Runs one command. Raises what `ended` makes an exit code of."""
    try:
        made = typer.main.get_command(make_app(arguments[0] if arguments and arguments[0] in COMMANDS else ""))
        reflow(made)
        interrupts_raise()
        result = made.main(args=list(arguments), prog_name=PROGRAM, standalone_mode=False)
    except typer.Abort:
        return INTERRUPTED
    except ModuleNotFoundError as error:
        # With a dot in its name it would be a module that a package of ours lacks: a fault, not a missing package.
        if not (error.name or "").startswith("pqc_mav_") or "." in str(error.name):
            raise
        raise CliError(missing_package(str(error.name))) from None
    except Exception as error:
        # Errors of the command line itself; typer brings its own copy of click or uses the installed one.
        if not hasattr(error, "format_message"):
            raise
        message = error.format_message()
        if type(error).__name__ == "NoArgsIsHelpError":  # `pqcmav` or a group alone
            print(message, end="")  # empty where rich has printed the help already
            return ExitCode.OK
        raise CliError(f"{message} ('{PROGRAM} --help' explains the commands.)", ExitCode.USAGE) from None
    return result if isinstance(result, int) else ExitCode.OK
