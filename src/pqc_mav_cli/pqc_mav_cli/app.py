# SPDX-License-Identifier: Apache-2.0
"""The `pqcmav` command line: the commands, and how an error becomes one line and an exit code."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from pqc_mav_bringup.printer import discard
from pqc_mav_cli import older_typer
from pqc_mav_cli.bench.command import bench_app
from pqc_mav_cli.console import PROGRAM, print_error
from pqc_mav_cli.demo.command import demo
from pqc_mav_cli.detect_command import detect_app
from pqc_mav_cli.doctor.command import doctor
from pqc_mav_cli.errors import CliError, ExitCode
from pqc_mav_cli.keys_command import keys_app
from pqc_mav_cli.policy.command import policy_app
from pqc_mav_cli.record_command import record
from pqc_mav_cli.rekey_command import rekey
from pqc_mav_cli.replay_command import replay
from pqc_mav_cli.status_command import status
from pqc_mav_cli.suites_command import suites
from pqc_mav_cli.up_command import up_app

_HELP = """A post-quantum tunnel for MAVLink.

First steps: 'pqcmav doctor' checks this machine, 'pqcmav demo' shows the tunnel at work, 'pqcmav keys init' makes keys,
'pqcmav up gcs' and 'pqcmav up drone' start the two ends, 'pqcmav status' watches them.

Exit codes: 0 done, 1 failed, 2 called or configured wrongly.
"""

older_typer.prepare()
app = typer.Typer(
    name=PROGRAM,
    help=_HELP,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(keys_app, name="keys")
app.command()(suites)
app.add_typer(up_app, name="up")
app.command()(status)
app.command()(rekey)
app.command()(doctor)
app.command()(demo)
app.add_typer(policy_app, name="policy")
app.add_typer(detect_app, name="detect")
app.command()(record)
app.command()(replay)
app.add_typer(bench_app, name="bench")


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        print(f"{PROGRAM} {version('pqc_mav_cli')}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show name and version and exit.")
    ] = False,
) -> None:
    # The options of pqcmav itself; the help is that of the app.
    pass


def _reflow(command: Any) -> None:
    """Joins the lines of each paragraph of a help: typer would break them where the source does."""
    if command.help:
        command.help = "\n\n".join(" ".join(paragraph.split()) for paragraph in command.help.split("\n\n"))
    for inner in getattr(command, "commands", {}).values():
        _reflow(inner)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command. Returns its exit code; every error is one line on stderr."""
    command = typer.main.get_command(app)
    _reflow(command)
    try:
        result = command.main(
            args=None if arguments is None else list(arguments), prog_name=PROGRAM, standalone_mode=False
        )
    except CliError as error:
        print_error(error)
        return error.exit_code
    except typer.Abort:
        return 128 + 2
    except KeyboardInterrupt:
        return 128 + 2
    except ModuleNotFoundError as error:
        # With a dot in its name it would be a module that a package of ours lacks: a fault, not a missing package.
        if not (error.name or "").startswith("pqc_mav_") or "." in str(error.name):
            raise
        print_error(f"The package {error.name} is not installed; 'make setup' builds every package.")
        return ExitCode.FAILED
    except (BrokenPipeError, SystemExit) as error:
        # rich turns the one into the other. A reader that has seen enough is no failure.
        if not isinstance(error, BrokenPipeError) and not isinstance(error.__context__, BrokenPipeError):
            raise
        discard(sys.stdout)
        return ExitCode.OK
    except Exception as error:
        # Errors of the command line itself; typer brings its own copy of click or uses the installed one.
        if not hasattr(error, "format_message"):
            raise
        message = error.format_message()
        if type(error).__name__ == "NoArgsIsHelpError":  # `pqcmav` or a group alone
            print(message, end="")  # empty where rich has printed the help already
            return ExitCode.OK
        print_error(f"{message} ('{PROGRAM} --help' explains the commands.)")
        return ExitCode.USAGE
    return result if isinstance(result, int) else ExitCode.OK


def run() -> None:
    """Console script."""
    code = main()
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        discard(sys.stdout)
    sys.exit(code)
