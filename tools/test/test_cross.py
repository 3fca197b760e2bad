# SPDX-License-Identifier: Apache-2.0
"""tools/cross.sh on machines that lack something, and the order of its steps; nothing is compiled here."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from bare_machine import Fake, Run, assert_one_error, without

ROOT = Path(__file__).resolve().parents[2]
VECTORS, CORE_SUITES = r"Vector(s|File)?\.", r"CoreSuites?\."
LEFT_OUT = ROOT / "tools" / "cross_left_out.txt"


@pytest.fixture
def machine(workspace: Path, fake: Fake, tmp_path: Path) -> Path:
    """A machine with everything but a compiler that works. Returns the file that lists the calls of the tools."""
    calls = tmp_path / "calls"
    fake("uname", "echo x86_64")
    fake("aarch64-linux-gnu-g++", "exit 0")
    fake("qemu-aarch64-static", "echo 'qemu-aarch64 version 7.2'")
    fake("cmake", f'echo "cmake $*" >>{calls}')
    fake(
        "ctest", f'echo "ctest $* armcap=$OPENSSL_armcap" >>{calls}; echo "100% tests passed, 0 tests failed out of 3"'
    )
    fake("python", f'echo "python $*" >>{calls}; echo "a sentence about the pair"')
    for script in ("tools/cross_sysroot.sh", "src/liboqs_vendor/scripts/build_liboqs.sh"):
        (workspace / script).write_text(f'#!/bin/bash\necho "{Path(script).name} $*" >>{calls}\n')
    return calls


@pytest.mark.usefixtures("machine")
def test_no_cross_compilation_on_arm64_itself(run: Run, fake: Fake) -> None:
    fake("uname", "echo aarch64")
    assert_one_error(run("tools/cross.sh", "arm64"), "on this machine (aarch64)", "make test")


@pytest.mark.usefixtures("machine")
@pytest.mark.parametrize(
    ("missing", "package"),
    [("aarch64-linux-gnu-g++", "g++-aarch64-linux-gnu"), ("qemu-aarch64-static", "qemu-user-static")],
)
def test_missing_tools_are_named_to_who_cannot_install_them(
    run: Run, fake: Fake, tmp_path: Path, missing: str, package: str
) -> None:
    without(tmp_path, missing)
    fake("id", "echo 1000")
    fake("apt-get", "exit 1")
    assert_one_error(run("tools/cross.sh", "arm64"), f"run 'sudo apt-get install {package}'")


def test_every_step_runs_once_and_is_listed_with_its_time(run: Run, machine: Path) -> None:
    result = run("tools/cross.sh", "arm64")
    assert result.returncode == 0, result.stderr
    calls = machine.read_text()
    tests = re.findall(r"--tests-regex (\S+) --exclude-regex (\S+) armcap=(\d*)", calls)
    assert [(which, cap) for which, _, cap in tests] == [
        (VECTORS, ""),
        (VECTORS, "1"),
        (CORE_SUITES, ""),
        (".", ""),
    ]
    assert tests[-1][1].endswith(f"|{VECTORS}|{CORE_SUITES}"), "the last run has what the others left"
    pairs = re.findall(r"cross_pair.py --gcs (.*) --drone (.*)", calls)
    assert [[("qemu" in end, "build-arm64" in end) for end in pair] for pair in pairs] == [
        [(False, False), (True, True)],
        [(True, True), (False, False)],
    ]
    assert len(re.findall(r"^ *\d+ s  ", result.stdout, re.MULTILINE)) == 10
    assert "cortex-a76" in result.stdout
    assert "no board" in result.stdout


@pytest.mark.parametrize(("arch", "triplet"), [("armhf", "arm-linux-gnueabihf"), ("riscv64", "riscv64-linux-gnu")])
def test_other_architectures_have_their_own_tools_and_folders(
    run: Run, fake: Fake, machine: Path, arch: str, triplet: str
) -> None:
    fake(f"{triplet}-g++", "exit 0")
    fake({"armhf": "qemu-arm-static", "riscv64": "qemu-riscv64-static"}[arch], "echo 'qemu version 7.2'")
    result = run("tools/cross.sh", arch)
    assert result.returncode == 0, result.stderr
    calls = machine.read_text()
    assert f"cross_sysroot.sh {arch}" in calls and f"-B build-{arch} " in calls
    assert "arm64" not in calls and "aarch64" not in calls and "armcap=1" not in calls
    assert len(re.findall(rf"cross_pair.py --gcs .*build-{arch}|--drone .*build-{arch}", calls)) == 2


def test_an_architecture_that_is_none(run: Run) -> None:
    for words in ([], ["sparc"]):
        assert_one_error(run("tools/cross.sh", *words), "it must be arm64, armhf or riscv64")


def test_tests_that_fail_fail_the_run(run: Run, machine: Path, fake: Fake) -> None:
    fake("ctest", f'echo "ctest $*" >>{machine}; echo "DataVectors.EveryDatagram failed"; exit 8')
    result = run("tools/cross.sh", "arm64")
    assert_one_error(result, "all test vectors")
    assert "DataVectors.EveryDatagram failed" in result.stdout
    assert "cross_pair" not in machine.read_text()


def engine_tests() -> list[str]:
    """The names that CTest gives the engine's tests, as far as the sources tell: each parameter as 2."""
    names = []
    for source in sorted((ROOT / "src/pqc_mav_tunnel/test").glob("test_*.cpp")):
        for kind, suite, case in re.findall(r"^TEST(_F|_P)?\((\w+), (\w+)\)", source.read_text("utf-8"), re.MULTILINE):
            test = f"All/{suite}.{case}/2" if kind == "_P" else f"{suite}.{case}"
            names += [test, f"two-threads:{test}"]
    return names


def test_what_is_left_out_exists_and_has_a_reason() -> None:
    lines = [line for line in LEFT_OUT.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    names, found = engine_tests(), set()
    for line in lines:
        test, _, reason = line.partition(" ")
        which = re.compile(re.sub(r"^\^\w+/", "^All/", test))
        left_out = {name for name in names if which.search(name)}
        assert left_out, f"there is no test {test}"
        assert len(reason) > 5, f"no reason to leave out {test}"
        found |= {name for name in left_out if not name.startswith("two-threads:")}
    assert len(found) < len(names) / 20, "what is left out is little"
