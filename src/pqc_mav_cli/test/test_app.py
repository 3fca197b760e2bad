# SPDX-License-Identifier: Apache-2.0
import os
import re
import subprocess
import sys

import pytest
import typer
from commands import COMMAND, DEADLINE_S, pqcmav, refused

COMMANDS = ["keys", "suites", "up", "status", "rekey", "doctor", "demo"]


def test_help_lists_the_commands_and_the_exit_codes() -> None:
    ended = pqcmav("--help")
    assert ended.returncode == 0 and ended.stderr == ""
    assert all(command in ended.stdout for command in COMMANDS)
    assert "Exit codes: 0 done, 1 failed, 2" in ended.stdout


def test_every_command_and_option_is_explained() -> None:
    from pqc_mav_cli.app import make_app

    commands = [("pqcmav", typer.main.get_command(make_app()))]
    for name, command in commands:  # it grows meanwhile
        commands += [(f"{name} {word}", each) for word, each in getattr(command, "commands", {}).items()]
        for what, said in [(name, command.help), *((f"{each.name} of {name}", each.help) for each in command.params)]:
            assert said, what
            assert not re.search(r"\[[a-z/]", said), f"{what}: the terminal would take that for markup and leave it out"
    assert len(commands) > 40


@pytest.mark.parametrize("number", ["nan", "inf", "-inf"])
def test_what_is_no_number_to_reckon_with_is_refused(number: str) -> None:
    said = refused(2, "invite", "d1", "--minutes", number)
    assert "is no number to reckon with" in said or "not in the range" in said
    assert "is no number to reckon with" in refused(2, "status", "--once", "--timeout", "nan")


SUGGESTS = not typer.__version__.startswith("0.9.")  # what one may have meant


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["demmo"], "demo" if SUGGESTS else "demmo"),
        (["demo", "--durration", "3"], "--duration"),
        (["demo", "--duration", "0"], "--duration"),
        (["demo", "--duration", "soon"], "--duration"),
        (["suites", "--level", "2"], "1, 3 and 5"),
        (["suites", "--view", "old"], "core"),
        (["keys", "init"], "drones"),
        (["up", "sub"], "sub"),
    ],
)
def test_usage_errors_are_one_line_and_exit_code_2(arguments: list[str], said: str) -> None:
    assert said.lower() in refused(2, *arguments).lower()


@pytest.mark.parametrize(
    ("missing", "arguments"),
    [
        ("pqc_mav_policy_lab", ["policy", "compare"]),
        ("pqc_mav_policy_lab", ["policy", "train", "table.json"]),
        ("pqc_mav_policy_lab", ["replay", "flight.mcap"]),
        ("pqc_mav_dashboard", ["dashboard"]),
        ("pqc_mav_recorder", ["record", "--salvage", "flight.mcap.partial"]),
    ],
)
def test_a_package_that_is_not_installed_is_named_in_one_line(
    missing: str, arguments: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from pqc_mav_cli.app import main

    class Absent:
        def find_spec(self, name: str, *_: object) -> None:
            if name == missing:
                raise ModuleNotFoundError(f"No module named '{name}'", name=name)

    for name in [name for name in sys.modules if name.partition(".")[0] == missing]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(sys, "meta_path", [Absent(), *sys.meta_path])
    assert main(arguments) == 1
    assert f"The package {missing} is not installed" in capsys.readouterr().err


@pytest.mark.parametrize("group", [(), ("keys",), ("up",), ("policy",), ("bench",)], ids=" ".join)
def test_a_group_alone_explains_itself_and_that_is_no_error(group: tuple[str, ...]) -> None:
    ended = pqcmav(*group)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert " ".join(["Usage: pqcmav", *group]) in ended.stdout


def test_the_version() -> None:
    ended = pqcmav("--version")
    assert (ended.returncode, ended.stderr) == (0, "")
    assert re.fullmatch(r"pqcmav \d+\.\d+\.\d+\n", ended.stdout)


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("pqcmav sta", {"status", "station"}),
        ("pqcmav keys r", {"rotate", "revoke"}),
        ("pqcmav up g", {"gcs"}),
        ("pqcmav status --js", {"--json"}),
    ],
)
def test_shells_complete_commands_and_options(line: str, offered: set[str]) -> None:
    """As the function that '--install-completion' gives to bash asks."""
    asked = {"_PQCMAV_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(line.count(" "))}
    ended = subprocess.run(
        COMMAND, env={**os.environ, **asked}, capture_output=True, text=True, timeout=DEADLINE_S, check=False
    )
    assert (ended.returncode, set(ended.stdout.split())) == (0, offered), ended.stderr


@pytest.mark.parametrize(
    "arguments", [("suites", "--view", "extended"), ("suites", "--json"), ("--help",), ("--version",), ("doctor",)]
)
def test_a_reader_that_has_seen_enough_is_no_error(arguments: tuple[str, ...]) -> None:
    """What 'pqcmav suites | head -1' does, without the luck of which program is faster: nothing reads at all."""
    with subprocess.Popen([*COMMAND, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None and running.stderr is not None
        running.stdout.close()
        said = running.stderr.read()
        assert (running.wait(DEADLINE_S), said) == (0, "")


def test_a_help_breaks_lines_where_the_terminal_does_not_the_source(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "240")
    said = pqcmav("demo", "--help").stdout
    assert (
        "fresh keys in a temporary folder, free ports of this machine and a ROS domain of their own, so a real" in said
    )
