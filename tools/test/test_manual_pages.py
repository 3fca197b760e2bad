# SPDX-License-Identifier: Apache-2.0
"""tools/manual_pages.py: every command, option and key is in, and man and mandoc have no complaint."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

pytest.importorskip("pqc_mav_tunnel", reason="the engine's Python module is not built")
if shutil.which("pqcmav-tunneld") is None:
    pytest.skip("pqcmav-tunneld is not on the path: run 'make setup' first", allow_module_level=True)

import manual_pages
import pqc_mav_tunnel
from deb_test import ALL

from pqc_mav_cli.app import COMMANDS

ELSEWHERE = {"up", "fleet", "demo", "policy", "detect", "record", "replay", "bench"}  # need ROS 2, or other packages


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    return manual_pages.pages()


def test_every_command_of_the_package_is_named_and_started_in_its_test() -> None:
    assert ", ".join(ALL) == manual_pages.WITHOUT_ROS
    assert {*COMMANDS} == {*ALL, *ELSEWHERE}


def test_every_command_and_option_is_in(pages: dict[str, str]) -> None:
    page = pages["pqcmav.1"]
    found = dict(manual_pages.commands(manual_pages.command_line()))
    assert {"keys init", "status", "drones add", "up drone", "demo"} <= set(found)
    for words, command in found.items():
        _, title, section = page.partition(f'.SS "pqcmav {manual_pages.plain(words)}"\n')
        assert title, words
        section = section.partition(".SS ")[0]
        for parameter in command.params:
            names = parameter.opts if parameter.param_type_name == "option" else [parameter.name.upper()]
            for name in names if not getattr(parameter, "hidden", False) else []:
                assert f"{manual_pages.plain(name)}" in section, f"{words} {name}"


def test_every_option_of_the_daemon_is_in(pages: dict[str, str]) -> None:
    said = subprocess.run(["pqcmav-tunneld", "--help"], capture_output=True, text=True, check=True, timeout=60).stdout
    options = [line.split()[0] for line in said.splitlines() if line.startswith("  --")]
    assert {"--check", "--preflight", "--version"} <= set(options)
    for option in options:
        assert f".TP\n.B {manual_pages.plain(option)}" in pages["pqcmav-tunneld.8"]


def test_every_key_is_in_once_with_its_default(pages: dict[str, str]) -> None:
    page = pages["pqcmav.yaml.5"]
    keys = {entry["key"]: entry for role in ("drone", "gcs") for entry in pqc_mav_tunnel.config_schema(role)}
    keys |= {f"drone.ID.{entry['key']}": entry for entry in pqc_mav_tunnel.per_drone_schema()}
    keys |= {f"path.NAME.{entry['key']}": entry for entry in pqc_mav_tunnel.per_path_schema()}
    assert len(keys) > 40
    for key in keys:
        assert page.count(f".TP\n.B {manual_pages.plain(key)}\n") == 1, key
    assert page.count("Default: ") + page.count("Required.") == len(keys)


@pytest.mark.parametrize("name", ["pqcmav.1", "pqcmav-tunneld.8", "pqcmav.yaml.5"])
@pytest.mark.parametrize(
    "program",
    [["man", "--warnings", "--encoding=UTF-8", "--ditroff", "--local-file"], ["mandoc", "-T", "lint", "-W", "warning"]],
    ids=["man", "mandoc"],
)
def test_they_are_shown_without_a_complaint(
    pages: dict[str, str], name: str, program: list[str], tmp_path: Path
) -> None:
    if shutil.which(program[0]) is None or (program[0] == "man" and shutil.which("groff") is None):
        pytest.skip(f"{program[0]} is not here")
    (tmp_path / name).write_text(pages[name], encoding="utf-8")
    said = subprocess.run([*program, str(tmp_path / name)], capture_output=True, text=True, timeout=60, check=False)
    assert (said.returncode, said.stderr) == (0, "")
    assert program[0] == "man" or said.stdout == ""


def test_text_of_the_schema_cannot_become_a_command() -> None:
    assert manual_pages.plain(".so /etc/passwd\n'x\\fB--") == "\\&.so /etc/passwd\n\\&'x\\efB\\-\\-"
