# SPDX-License-Identifier: Apache-2.0
"""`pqcmav doctor`: is everything here that the tunnel needs?"""

import os
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from pqc_mav_cli.console import console, print_json
from pqc_mav_cli.doctor.finding import Finding, Level
from pqc_mav_cli.errors import ExitCode
from pqc_mav_cli.keys_command import DEFAULT_ROOT
from pqc_mav_cli.wording import counted

_MARKS = {Level.OK: (" ok ", "green"), Level.WARN: ("WARN", "yellow"), Level.FAIL: ("FAIL", "bold red")}


def doctor(
    keys: Annotated[Path, typer.Option(help="Key folder to check.")] = DEFAULT_ROOT,
    security: Annotated[
        bool, typer.Option("--security", help="Check instead what protects the keys here. As root it sees most.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")] = False,
) -> int:
    """Check software, crypto libraries, keys, the policy's senses, processor, kernel, memory, ports, clock, randomness.

    With --security: modes and ages of keys, users who can read them, change configurations or steer an end, open ports,
    priorities, swap, core dumps and the kernel's settings.

    The exit code is 0 if the tunnel can run here, with or without warnings, and 1 if something must be put right first.
    """
    if security:
        from pqc_mav_cli.doctor import security as of_security
        from pqc_mav_cli.doctor.tree import Tree

        findings = of_security.checks(Tree(), keys.expanduser().absolute(), os.environ)
    else:
        from pqc_mav_cli.doctor import machine, software

        findings = software.checks(keys.expanduser(), os.environ)
        findings += machine.checks(software.wanted_ports())
    if as_json:
        print_json([{**asdict(finding), "level": finding.level.value} for finding in findings])
    else:
        _print(findings)
    return ExitCode.FAILED if any(finding.level is Level.FAIL for finding in findings) else ExitCode.OK


def _print(findings: list[Finding]) -> None:
    from rich.table import Table
    from rich.text import Text

    grid = Table.grid(padding=(0, 2))
    grid.add_column(no_wrap=True)
    grid.add_column(no_wrap=True, style="bold")
    grid.add_column(overflow="fold")
    for finding in findings:
        remedy = f"\n-> {finding.remedy}" if finding.remedy else ""
        grid.add_row(Text(*_MARKS[finding.level]), finding.name, Text(finding.text).append(remedy, "dim"))
    out = console()
    out.print(grid)
    count = {level: sum(1 for finding in findings if finding.level is level) for level in Level}
    bad = counted(count[Level.WARN], "warning"), counted(count[Level.FAIL], "failure")
    out.print(f"\n{count[Level.OK]} ok, {', '.join(bad)}")
