#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A whole emulated arm64 machine: a Debian with its own kernel and systemd, in which runs what needs both.

    machine_test.py DEBIAN.tar PACKAGES BUILD

Needs root to make the Debian, from the tar of debian_base.sh, the packages of `make deb` and the tests of
`make cross ARCH=arm64`. The machine has no disk and no network: all of it is in memory, and it says what it did on its
serial line. In it run the tests that qemu's user emulation has no system calls for, and the packaged unit with both
ends and systemd's watchdog.
"""

import argparse
import json
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from chroot import Chroot
from two_ends import HOST, PLAIN_OF_GCS, TestError, check, with_own_mounts

MEMORY_MB, PROCESSORS = 3072, 2
LIMIT_S = 2700.0
# Several data threads, what the kernel drops, serial ports, and pages let go of: see cross_left_out.txt.
TESTS = (
    r"^(DataThreads/EngineThreads\..*/[238]|Threads/Steered\..*|two-threads:(Modes/EngineCarries|EngineData)\..*"
    r"|EngineKernelDrops\..*|Net\.WhatTheKernelDropped|SerialPort\..*|EngineSerial\..*|ColdCode\.PagesOfAHandshake.*"
    r"|EngineEndpointsOnADrone\.SerialAutopilotAndALocalApplication)$"
)
SAID, END = "machine: ", "machine: end"
UNIT = """[Unit]
After=multi-user.target
[Service]
Type=oneshot
ExecStart=/srv/run
StandardOutput=tty
StandardError=tty
TTYPath=/dev/ttyAMA0
ExecStopPost=/usr/bin/systemctl --no-block poweroff
[Install]
WantedBy=multi-user.target
"""
# Each line of 'tests' is a name, a tab and a command.
SCRIPT = f"""#!/bin/bash
say() {{ echo "{SAID}$*" >/dev/ttyAMA0; }}
say "kernel $(uname -r) $(uname -m), $(nproc) processors, $(systemctl --version | head -n 1)"
# eventually SECONDS CMD...
eventually() {{
  local end=$((SECONDS + $1))
  shift
  until "$@" >/dev/null 2>&1; do
    [ $SECONDS -lt $end ] || return 1
    sleep 0.5
  done
}}
property() {{ systemctl show --property "$1" --value pqcmav-tunneld@gcs; }}
logged() {{ [ "$(journalctl --output cat --unit "pqcmav-tunneld@$1" | grep -cE -- "$2")" -ge "$3" ]; }}
anew() {{
  [ "$(property NRestarts)" -ge 1 ] && [ "$(property MainPID)" != "$1" ] &&
    systemctl is-active --quiet pqcmav-tunneld@gcs
}}
watchdog() {{
  local first
  systemctl start pqcmav-tunneld@gcs pqcmav-tunneld@drone || return 1  # Type=notify: returns when both said READY=1
  eventually 120 logged drone '-> UP' 1 || return 1
  say "both units started, $(journalctl --output cat --unit pqcmav-tunneld@drone | grep -m 1 'handshake with')"
  [ "$(property NRestarts)" = 0 ] || return 1
  first="$(property MainPID)"
  kill -STOP "$first"
  eventually 120 anew "$first" || return 1
  journalctl --output cat --unit pqcmav-tunneld@gcs | grep -qi 'watchdog timeout' || return 1
  say "a frozen gcs: $(journalctl --output cat --unit pqcmav-tunneld@gcs | grep -i -m 1 'watchdog timeout')"
  eventually 180 logged drone '-> UP' 2 || return 1
  say "restarted by systemd, and the drone is UP again"
  systemctl stop pqcmav-tunneld@drone pqcmav-tunneld@gcs || return 1
  ! systemctl is-failed --quiet pqcmav-tunneld@gcs
}}
devices() {{
  [ "$(systemctl show --property DevicePolicy --value pqcmav-tunneld@drone)" = closed ]
}}
for check in devices watchdog; do
  if $check; then say "passed $check"; else
    say "failed $check"
    journalctl --output short-monotonic --lines 60 --unit 'pqcmav-tunneld@*' >/dev/ttyAMA0
  fi
done
cd /srv/build
export LD_LIBRARY_PATH=/usr/lib/pqcmav
while IFS=$'\\t' read -r name command; do
  if output="$(timeout 400 bash -c "$command" 2>&1 </dev/null)"; then say "passed $name"; else
    say "failed $name"
    tail -n 25 <<<"$output" >/dev/ttyAMA0
  fi
done </srv/tests
say end
"""


def chosen(build: Path) -> list[tuple[str, list[str], list[str]]]:
    """Return name, command and environment of each test that runs in the machine, as CTest has them."""
    said = subprocess.run(
        ["ctest", "--test-dir", str(build), "--show-only=json-v1"], capture_output=True, text=True, check=True
    ).stdout
    found = []
    for test in json.loads(said)["tests"]:
        if re.match(TESTS, test["name"]):
            command: Sequence[str] = test["command"]
            first = next(i for i, word in enumerate(command) if Path(word).parent == build.resolve())
            properties = {each["name"]: each["value"] for each in test["properties"]}
            found.append((test["name"], list(command[first:]), list(properties.get("ENVIRONMENT", []))))
    return found


def write_configuration(debian: Chroot) -> None:
    """Complete the two examples for ends on one machine."""
    folder = debian.path("etc/pqcmav/tunneld")
    for role, keys, change in (
        (
            "gcs",
            "gcs",
            ("drones: [drone1]", f"drones: [drone1]\nbind: {HOST}\n{PLAIN_OF_GCS}"),
        ),
        ("drone", "drones/drone1", ("peer: gcs.example.org", f"peer: {HOST}\nbind: {HOST}")),
    ):
        text = (folder / f"{role}.yaml").read_text(encoding="utf-8")
        check(change[0] in text, f"{role}.yaml has no line '{change[0]}'")
        text = text.replace(*change).replace("keys: /etc/pqcmav/keys", f"keys: /etc/pqcmav/keys/{keys}")
        (folder / f"{role}.yaml").write_text(text, encoding="utf-8")


def furnish(debian: Chroot, packages: Path, build: Path) -> int:
    """Put systemd, the package, the tests and what runs them into the Debian. Return how many tests there are."""
    (package,) = packages.glob("pqcmav-tunneld_*_arm64.deb")
    shutil.copy(package, debian.path("srv"))
    debian.run("apt-get", "update")
    debian.run(
        "apt-get", "install", "--yes", "--no-install-recommends", "systemd-sysv", "libstdc++6", f"/srv/{package.name}"
    )
    debian.run("apt-get", "install", "--yes", "--no-install-recommends", "--download-only", "linux-image-cloud-arm64")
    debian.run("sh", "-c", "dpkg-deb --extract /var/cache/apt/archives/linux-image-[0-9]*_arm64.deb /srv/kernel")
    tests = chosen(build)
    folder = debian.path("srv/build")
    folder.mkdir()
    lines = []
    for name, command, environment in tests:
        program = Path(command[0])
        if not (folder / program.name).exists():
            subprocess.run(["aarch64-linux-gnu-strip", "-o", str(folder / program.name), str(program)], check=True)
        words = [*environment, f"./{program.name}", *command[1:]]
        lines.append(f"{name}\t{shlex.join(words)}\n")
    debian.path("srv/tests").write_text("".join(lines), encoding="utf-8")
    debian.path("srv/run").write_text(SCRIPT, encoding="utf-8")
    debian.path("srv/run").chmod(0o755)
    debian.path("etc/systemd/system/machine-test.service").write_text(UNIT, encoding="utf-8")
    wants = debian.path("etc/systemd/system/multi-user.target.wants")
    wants.mkdir(parents=True, exist_ok=True)
    (wants / "machine-test.service").symlink_to("../machine-test.service")
    # The keys by the daemon's own program: there is no Python in this machine.
    given = {"root": "/srv/keys", "drone_ids": ["drone1"], "sig_tokens": ["mldsa65"], "drone_signatures": False}
    arguments = shlex.quote(json.dumps({**given, "gcs_id": "gcs", "stations": []}))
    debian.run("sh", "-c", f"echo {arguments} | pqcmav-tunneld --call init_keys")
    debian.run("cp", "-r", "/srv/keys/gcs", "/srv/keys/drones", "/etc/pqcmav/keys")
    debian.run("chown", "-R", "pqcmav:pqcmav", "/etc/pqcmav/keys")
    write_configuration(debian)
    debian.run("apt-get", "clean")
    debian.path("init").symlink_to("lib/systemd/systemd")
    return len(tests)


def boot(kernel: Path, memory: Path) -> Iterator[str]:
    """Run the machine until it powers off; yield the lines of its serial line."""
    command = [
        "qemu-system-aarch64", "-machine", "virt", "-cpu", "cortex-a76", "-smp", str(PROCESSORS), "-m", str(MEMORY_MB),
        "-nographic", "-monitor", "none", "-serial", "stdio", "-nic", "none", "-no-reboot",
        "-kernel", str(kernel), "-initrd", str(memory), "-append", "console=ttyAMA0 quiet loglevel=3 panic=-1",
    ]  # fmt: skip
    with subprocess.Popen(
        ["timeout", str(LIMIT_S), *command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        errors="replace",
    ) as machine:
        assert machine.stdout is not None
        yield from (line.rstrip() for line in machine.stdout)
    check(machine.returncode == 0, f"qemu ended with {machine.returncode}; 124 is: not within {LIMIT_S:.0f} s")


def judge(lines: Iterator[str], tests: int) -> Iterator[str]:
    """Follow the machine; yield what it says, raise if anything failed or is missing."""
    passed, ended = 0, False
    failed: list[str] = []
    last: list[str] = []
    for line in lines:
        last = [*last[-40:], line]
        if SAID not in line:
            continue
        said = line[line.index(SAID) :]
        ended = ended or said.startswith(END)
        word, _, name = said.removeprefix(SAID).partition(" ")
        if word == "failed":
            failed.append(name)
        elif word == "passed":
            passed += 1
        elif not said.startswith(END):
            yield said.removeprefix(SAID)
    check(ended and not failed, f"failed: {failed or 'it did not come to its end'}; " + "\n".join(last))
    check(passed == tests + 2, f"{passed} of {tests + 2} parts passed")
    yield f"{tests} tests passed, and the unit with its watchdog"


def main() -> int:
    """Make the machine, run it, say what it did."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("debian", "packages", "build"):
        parser.add_argument(name, type=Path)
    options = parser.parse_args()
    with_own_mounts()
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="pqcmav-machine-") as folder:
        root = Path(folder) / "root"
        root.mkdir(mode=0o755)
        debian = Chroot(options.debian, root)
        kernel, memory = Path(folder) / "kernel", Path(folder) / "memory"
        try:
            with debian.mounted():
                tests = furnish(debian, options.packages, options.build.resolve())
            (found,) = debian.path("srv/kernel/boot").glob("vmlinuz-*")
            shutil.copy(found, kernel)
            shutil.rmtree(debian.path("srv/kernel"))
            pack = "find . -print0 | cpio --null --create --format=newc --quiet | gzip -1"
            with memory.open("wb") as out:
                subprocess.run(["sh", "-c", pack], cwd=debian.root, stdout=out, check=True)
            print(f"made a machine of {memory.stat().st_size >> 20} MB in {time.monotonic() - start:.0f} s", flush=True)
            for sentence in judge(boot(kernel, memory), tests):
                print(sentence, flush=True)
        except TestError as error:
            print(f"error: {error}", file=sys.stderr)
            return 1
    print(f"all of it in {time.monotonic() - start:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
