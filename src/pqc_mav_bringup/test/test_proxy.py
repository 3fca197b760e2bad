# SPDX-License-Identifier: Apache-2.0
import shutil
import subprocess
from pathlib import Path

import pytest
from programs import install

from pqc_mav_bringup.description import resolve
from pqc_mav_bringup.executables import command, is_daemon
from pqc_mav_bringup.proxy import CPP, NODE, PACKAGES, PY
from pqc_mav_bringup.systems import DEMO, DRONE, GCS


@pytest.fixture
def prefix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("AMENT_PREFIX_PATH", f"/nowhere:{tmp_path}")
    install(tmp_path, PACKAGES[PY], NODE)
    return tmp_path


def packages(system, given: dict[str, str]) -> set[str]:
    return {each.package for each in resolve(system, given) if each.node == "pqc_proxy" and not is_daemon(each)}


@pytest.mark.parametrize("system", [DRONE, GCS, DEMO], ids=lambda system: system.name)
def test_the_one_in_cpp_runs_where_it_is_installed_and_either_on_request(system, prefix: Path) -> None:
    values = {argument.name: argument.default or (argument.choices or "1")[0] for argument in system.arguments}
    assert packages(system, values) == {PACKAGES[PY]}
    install(prefix, PACKAGES[CPP], NODE)
    assert packages(system, values) == {PACKAGES[CPP]}
    for kind, package in PACKAGES.items():
        assert packages(system, {**values, "proxy": kind}) == {package}


@pytest.mark.parametrize(
    ("script", "why"),
    [
        (
            'echo "$0: error while loading shared libraries: librclcpp.so: cannot open it" >&2; exit 127',
            "error while loading shared libraries: librclcpp.so: cannot open it",
        ),
        ("kill -SEGV $$", "signal SIGSEGV"),
        ("exec sleep 60", "no answer within 0.2 s"),
    ],
)
def test_one_in_cpp_that_does_not_load_is_not_taken_and_why_is_said(
    script: str, why: str, prefix: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    if "sleep" in script:
        monkeypatch.setattr("pqc_mav_bringup.proxy.LOOK_S", 0.2)
    program = install(prefix, PACKAGES[CPP], NODE)
    program.write_text(f"#!/bin/sh\n{script}\n")
    assert packages(DRONE, {}) == {PACKAGES[PY]}
    said = f"proxy: the one in C++ does not start here ({why}); the one in Python runs instead.\n"
    assert capfd.readouterr().err == said
    # Who asks for it gets it, and what it says.
    assert packages(DRONE, {"proxy": "cpp"}) == {PACKAGES[CPP]}
    assert capfd.readouterr().err == ""


def test_one_in_cpp_without_its_libraries_as_the_linker_has_it(prefix: Path, capfd: pytest.CaptureFixture[str]) -> None:
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler")
    program = install(prefix, PACKAGES[CPP], NODE)
    library = prefix / "libgone.so"
    subprocess.run([compiler, "-shared", "-xc", "/dev/null", "-o", str(library)], check=True)
    source = prefix / "main.c"
    source.write_text("int main(void) { return 0; }\n")
    forced = f"-Wl,--no-as-needed,-rpath,{prefix}"
    subprocess.run([compiler, str(source), forced, str(library), "-o", str(program)], check=True)
    assert packages(DRONE, {}) == {PACKAGES[CPP]}
    library.unlink()
    assert packages(DRONE, {}) == {PACKAGES[PY]}
    assert "(error while loading shared libraries: " in capfd.readouterr().err


def test_both_get_the_same_command_line(prefix: Path) -> None:
    install(prefix, PACKAGES[CPP], NODE)
    given = {"config": "/c.yaml", "drone_id": "d1", "sensing": "false", "policy": "false", "tunnel": "inside"}
    lines = {kind: command(resolve(DRONE, {**given, "proxy": kind})[0]) for kind in PACKAGES}
    assert {kind: line[0] for kind, line in lines.items()} == {
        kind: str(prefix / "lib" / package / NODE) for kind, package in PACKAGES.items()
    }
    assert lines[PY][1:] == lines[CPP][1:]
