# SPDX-License-Identifier: Apache-2.0
"""What 'make deb' puts into packages agrees with the rest of the repository; nothing is packed here."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from bare_machine import Fake, Run, assert_one_error
from deb_test import directives

ROOT = Path(__file__).resolve().parents[2]
PACKAGING = ROOT / "packaging"
UNIT = PACKAGING / "pqcmav-tunneld@.service"
METRICS_UNIT = PACKAGING / "pqcmav-metrics.service"
PACK = (ROOT / "tools" / "deb_pack.sh").read_text(encoding="utf-8")
SCRIPTS = sorted(path for path in PACKAGING.iterdir() if path.suffix in {".postinst", ".prerm", ".postrm"})


def test_every_file_that_is_packed_exists() -> None:
    sources = re.findall(r"^ *(?:text|install -D -m 0755) (\S+) ", PACK, re.MULTILINE)
    assert len(sources) >= 6
    for source in sources:
        if "$" not in source:
            assert (ROOT / source).is_file(), source
    for name in re.findall(r"for name in (pqc_mav_\w+(?: pqc_mav_\w+)*)", PACK)[0].split():
        assert (ROOT / "src" / name / name / "__init__.py").is_file(), name


def test_the_version_is_that_of_every_package_xml() -> None:
    assert "@VERSION@" in (PACKAGING / "tunneld.control").read_text(encoding="utf-8")
    manifests = ROOT.glob("src/*/package.xml")
    versions = {re.search(r"<version>(.*)</version>", path.read_text(encoding="utf-8"))[1] for path in manifests}  # type: ignore[index]
    assert len(versions) == 1, versions
    cli = (PACKAGING / "cli.control").read_text(encoding="utf-8")
    assert "pqcmav-tunneld (= @VERSION@)" in cli, "its liboqs is in the other package"


@pytest.mark.parametrize("kind", ["tunneld", "cli", "pqcmav"])
def test_control_files(kind: str) -> None:
    text = (PACKAGING / f"{kind}.control").read_text(encoding="utf-8")
    fields = dict(line.split(": ", 1) for line in text.splitlines() if not line.startswith(" "))
    assert fields["Package"] == ("pqcmav" if kind == "pqcmav" else f"pqcmav-{kind}")
    for field in ("Version", "Architecture", "Maintainer", "Installed-Size", "Depends", "Description"):
        assert fields[field]
    assert f"new_package {fields['Package']}\n" in PACK
    placeholders = set(re.findall(r"@\w+@", text))
    assert placeholders <= set(re.findall(r"@\w+@", PACK))
    for line in text.splitlines():
        assert len(line) <= 80 or not line.startswith(" "), line


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_maintainer_scripts_are_posix_shell_and_stop_at_errors(script: Path) -> None:
    text = script.read_text(encoding="utf-8")
    assert text.startswith("#!/bin/sh\nset -e\n")
    subprocess.run(["/bin/sh", "-n", str(script)], check=True)


@pytest.mark.parametrize(
    ("before", "after"), [(4194303, "--prefix=/net/core/rmem_max 00-pqcmav.conf\n"), (4194304, "")]
)
def test_no_limit_of_socket_buffers_is_lowered(fake: Fake, tmp_path: Path, before: int, after: str) -> None:
    for name, value in (("rmem_max", before), ("wmem_max", 2**31 - 1)):
        limit = tmp_path / "proc/sys/net/core" / name
        limit.parent.mkdir(parents=True, exist_ok=True)
        limit.write_text(f"{value}\n")
    for name in ("getent", "install", "systemctl"):
        fake(name, ":")
    fake("sysctl", f'echo "$@" >>{tmp_path}/applied')
    script = (PACKAGING / "tunneld.postinst").read_text(encoding="utf-8")
    for path, instead in (("/run/systemd/system", ""), ("/proc", "/proc"), ("/lib/systemd/systemd-", "/bin/")):
        assert path in script
        script = script.replace(path, f"{tmp_path}{instead}")
    done = subprocess.run(
        ["/bin/sh", "-c", script, "postinst", "configure", ""],
        env={"PATH": str(tmp_path / "bin")}, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    applied = tmp_path / "applied"
    applied.touch()
    assert (done.returncode, done.stderr, applied.read_text()) == (0, "", after)
    assert " usr/lib/sysctl.d/00-pqcmav.conf" in PACK, "a file of any other name comes later, and may allow more"


def test_the_unit_is_notified_and_watched() -> None:
    unit = directives(UNIT)
    assert unit["Type"] == "notify"
    assert unit["NotifyAccess"] == "main"
    assert 2 <= int(unit["WatchdogSec"]) <= 5, "longer than the data thread's second, shorter than most failsafes"
    assert unit["ExecStart"] == "/usr/bin/pqcmav-tunneld /etc/pqcmav/tunneld/%i.yaml"
    assert "usr/bin/pqcmav-tunneld" in PACK
    for role in ("drone", "gcs"):
        assert f"etc/pqcmav/tunneld/{role}.yaml" in PACK


def test_the_unit_is_as_hard_as_those_of_the_suite() -> None:
    """What both units of the suite set, this one sets alike; it needs no ROS and no device."""
    units = [ROOT / f"src/pqc_mav_bringup/systemd/pqcmav-{role}.service" for role in ("drone", "gcs")]
    lines = [
        {line for line in unit.read_text(encoding="utf-8").splitlines() if "=" in line and not line.startswith("#")}
        for unit in units
    ]
    own = set(UNIT.read_text(encoding="utf-8").splitlines())
    ros_only = ("Type=", "Environment", "LogsDirectory=", "StateDirectory=", "KillMode=", "ExecStartPre=")
    lacking = {line for line in lines[0] & lines[1] if not line.startswith(ros_only)} - own
    assert not lacking


def test_the_exporter_has_a_user_of_its_own_and_serves_this_machine() -> None:
    unit = directives(METRICS_UNIT)
    assert unit["DynamicUser"] == "yes" and unit["SupplementaryGroups"] == directives(UNIT)["Group"]
    assert unit["ExecStart"] == "/usr/bin/pqcmav metrics --allow @pqcmav" and "packaging/pqcmav-metrics.service" in PACK
    assert (unit["IPAddressDeny"], unit["IPAddressAllow"]) == ("any", "localhost")
    of_the_tunnel = set(UNIT.read_text(encoding="utf-8").splitlines())
    hardening = {line for line in of_the_tunnel if line.startswith(("Protect", "Private", "Restrict", "NoNew", "Lock"))}
    hardening = {line for line in hardening if not line.startswith(("RestartPrevent", "RestrictAddressFamilies"))}
    assert len(hardening) > 12 and hardening <= set(METRICS_UNIT.read_text(encoding="utf-8").splitlines())
    assert (PACKAGING / "prometheus" / Path(unit["Documentation"]).name).is_file()
    assert unit["Documentation"].removeprefix("file:///") in PACK


@pytest.mark.parametrize("file", [UNIT, METRICS_UNIT], ids=lambda path: path.name)
def test_what_systemd_says_of_the_exposure(file: Path, tmp_path: Path) -> None:
    program = shutil.which("systemd-analyze")
    if program is None:
        pytest.skip("systemd-analyze is not here")
    unit = tmp_path / file.name.replace("@", "@drone")
    shutil.copy(file, unit)
    said = subprocess.run(
        [program, "security", "--offline=true", "--no-pager", str(unit)], capture_output=True, text=True, timeout=60
    )
    if "offline" in said.stderr:
        pytest.skip("this systemd-analyze is older than version 250")
    level = re.search(r"Overall exposure level for \S+: ([0-9.]+)", said.stdout)
    assert level, said.stdout + said.stderr
    assert float(level[1]) < (1.7 if file == UNIT else 1.5), "serial ports cost the daemon 0.2"


@pytest.mark.parametrize("role", ["drone", "gcs"])
def test_example_configurations_are_good_but_for_the_keys(role: str) -> None:
    program = shutil.which("pqcmav-tunneld")
    if program is None:
        pytest.skip("pqcmav-tunneld is not on the path: run 'make setup' first")
    result = subprocess.run(
        [program, "--check", str(PACKAGING / f"{role}.yaml")], capture_output=True, text=True, timeout=60
    )
    assert result.returncode == 2
    assert "/etc/pqcmav/keys" in result.stderr, "the keys are all it lacks"


def test_the_folder_stays_one_word_of_the_compilers_flags() -> None:
    """A clone may be in a folder with a space in its name."""
    build = (ROOT / "tools" / "deb_build.sh").read_text(encoding="utf-8")
    (word,) = re.findall(r'-DCMAKE_CXX_FLAGS="(?:\\"|[^"])*"', build)
    script = f"ROOT='/my drones'; printf '%s' {word}"
    said = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True, timeout=60).stdout
    assert shlex.split(said.partition("=")[2]) == ["-ffile-prefix-map=/my drones=."]


def test_a_test_that_needs_a_debian_runs_nowhere_by_accident() -> None:
    result = subprocess.run(
        [sys.executable, "-c", "import deb_test"], cwd=ROOT / "tools", capture_output=True, text=True, timeout=60
    )
    assert (result.returncode, result.stdout) == (0, "")


def test_no_packages_where_dpkg_is_not_known(run: Run) -> None:
    result = run("tools/deb.sh")
    assert result.returncode != 0
    assert result.stderr == "error: packages are made on Debian or Ubuntu\n"


def test_missing_tools_are_named_to_who_cannot_install_them(run: Run, fake: Fake) -> None:
    fake("dpkg", "echo amd64")
    fake("id", "echo 1000")
    fake("apt-get", "exit 1")
    fake("git", "echo 1700000000")
    result = run("tools/deb.sh")
    assert result.returncode != 0
    assert re.fullmatch(r"error: missing: dpkg-dev .*g\+\+-aarch64-linux-gnu: run 'sudo apt-get .*\n", result.stderr)


@pytest.fixture
def parts(fake: Fake, workspace: Path) -> Callable[[], list[str]]:
    """In place of deb.sh's parts, and of what they need: scripts that only note their call. Returns what was called."""
    called = workspace / "called"
    called.touch()
    for part in ("deb_build.sh", "deb_pack.sh", "deb_again.sh", "cross_sysroot.sh", "run"):
        (workspace / "tools" / part).write_text(f'#!/bin/bash\necho {part} "$@" >>{called}\n')
    for tool in ("dpkg-shlibdeps", "apt-ftparchive", "gpg", "gpgv", "aarch64-linux-gnu-g++", "apt-get"):
        fake(tool, "exit 1")
    fake("dpkg", "echo amd64")
    fake("id", "echo 1000")
    fake("git", "echo 1700000000")
    return lambda: called.read_text(encoding="utf-8").splitlines()


def test_another_machines_package_alone(run: Run, fake: Fake, workspace: Path, parts: Callable[[], list[str]]) -> None:
    """As 'make cross MACHINE=1' asks for: what it takes from this machine's own program is made first."""
    fake("ls", ":")
    fake("awk", ":")
    (workspace / "build-deb").mkdir()
    result = run("tools/deb.sh", "--no-test", "arm64")
    assert (result.returncode, result.stderr) == (0, "")
    assert parts() == [
        "cross_sysroot.sh arm64",
        "deb_build.sh amd64",
        "deb_build.sh arm64",
        "deb_pack.sh all amd64",
        "deb_pack.sh arm64 amd64",
    ]


def test_no_package_without_its_dependencies(run: Run, fake: Fake, workspace: Path) -> None:
    manifest = workspace / "src/pqc_mav_tunnel/package.xml"
    manifest.parent.mkdir()
    manifest.write_text("<version>1</version>")
    for tool in ("install", "strip", "gzip", "chmod"):
        fake(tool, ":")
    fake("dpkg-shlibdeps", "echo error: no library >&2; exit 2")
    assert_one_error(run("tools/deb_pack.sh", "amd64", "amd64"), "dpkg-shlibdeps: error: no library")
    assert not list((workspace / "build-deb").glob("*.deb"))


@pytest.mark.usefixtures("parts")
def test_tools_of_the_test_are_named_to_who_cannot_install_them(run: Run) -> None:
    result = run("tools/deb.sh")
    assert result.returncode != 0
    assert re.match(
        r"error: missing: mmdebstrap iproute2 lintian qemu-user-static binfmt-support arch-test: ", result.stderr
    )
