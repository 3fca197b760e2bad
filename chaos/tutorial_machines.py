# SPDX-License-Identifier: Apache-2.0
"""The machines on which a tutorial's commands run: to the commands each looks like a computer.

Each has a network of its own (air.py joins them), its own /etc, /run, /var/lib, /dev and home, and beside this
machine's programs two stand-ins: `sudo` runs what follows, for the test is root; `scp` copies to another machine's
home, for no SSH server runs. All else is the real program. A machine with the Debian packages (`install`) has their
user, folders and configuration, and three more stand-ins: `runuser`, which leaves that user the right to find programs
below a folder of root's; `systemctl`, which starts the unit's program as the unit's user, and `journalctl`, which shows
what that said.
"""

import contextlib
import os
import shutil
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

from children import into

from pqc_mav_common import child
from pqc_mav_common.waiting import wait_until
from pqc_mav_sim.impairment.netns import Namespace

DEADLINE_S = 60.0  # on a machine that does other things, too
_STEP_S = 0.2
_END_S = 10.0
# Makes a mount namespace look like the machine in folder $1 and runs the rest there.
_ENTER = """
machine=$1; shift
for each in etc run var/lib; do mount --bind "$machine/$each" "/$each"; done
mount -t tmpfs -o mode=755 dev "$machine/dev"
for node in null zero full random urandom tty; do
  : >"$machine/dev/$node"; mount --bind "/dev/$node" "$machine/dev/$node"
done
mkdir "$machine/dev/pts" "$machine/dev/shm"
mount --bind /dev/pts "$machine/dev/pts"
mount -t tmpfs -o mode=1777 shm "$machine/dev/shm"
ln -s /proc/self/fd "$machine/dev/fd"
ln -s /proc/self/fd/0 "$machine/dev/stdin"
ln -s /proc/self/fd/1 "$machine/dev/stdout"
ln -s /proc/self/fd/2 "$machine/dev/stderr"
cp -P "$machine"/devices/. "$machine/dev" -r
mount --move "$machine/dev" /dev
cd "$HOME"
exec "$@"
"""
_SUDO = '#!/bin/sh\nexec "$@"\n'
# scp [-r] SOURCE... MACHINE:FOLDER
_SCP = """#!/bin/sh
[ "$1" = -r ] && shift
for target; do :; done
user_host=${target%%:*}; host=${user_host#*@}; host=${host%.local}
while [ $# -gt 1 ]; do cp -r "$1" "$MACHINES/$host/home/${target#*:}" || exit 1; shift; done
"""


_USER = "pqcmav"
_AS_USER = f"setpriv --reuid {_USER} --regid {_USER} --inh-caps +dac_read_search --ambient-caps +dac_read_search"
# runuser -u pqcmav -- COMMAND
_RUNUSER = f"""#!/bin/sh
[ "$1 $2 $3" = "-u {_USER} --" ] || exit 64
shift 3
exec {_AS_USER} --clear-groups "$@"
"""
# systemctl enable --now pqcmav-tunneld@NAME
_SYSTEMCTL = f"""#!/bin/sh
[ "$1 $2" = "enable --now" ] || exit 64
install -d -m 0750 -o {_USER} -g {_USER} /run/pqcmav
{_AS_USER} --groups dialout pqcmav-tunneld "/etc/pqcmav/tunneld/${{3#*@}}.yaml" >/run/"$3".log 2>&1 &
"""
# journalctl -fu UNIT
_JOURNALCTL = '#!/bin/sh\n[ "$1" = -fu ] || exit 64\nexec tail -n +1 -F "/run/$2.log"\n'


class Program(child.Program):
    """A process on a machine; `name` is for messages."""

    def wait(self, seconds: float = DEADLINE_S) -> int:
        """Return its exit code; kills it and raises TimeoutError when it takes longer."""
        try:
            code = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.stop(signal.SIGKILL)
            raise TimeoutError(f"{self.name} took more than {seconds:g} s") from None
        self._reader.join(_END_S)
        return code

    def stop(self, number: int = signal.SIGINT) -> None:
        """End it and all it started, as Ctrl-C does; by force after a while."""
        for each in (number, signal.SIGKILL):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.pid, each)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(_END_S)
                break
        self._reader.join(_END_S)


class Machine:
    """One machine; `folder` is its own part of the file system, `space` its network."""

    def __init__(self, name: str, space: Namespace, folder: Path) -> None:
        self.name = name
        self.space = space
        self.folder = folder
        self.running: dict[str, Program] = {}
        for each in ("run/pqcmav", "var/lib", "dev", "devices", "home", "bin"):
            (folder / each).mkdir(parents=True)
        subprocess.run(["cp", "-a", "/etc", str(folder / "etc")], check=True)
        shutil.rmtree(folder / "etc" / "pqcmav", ignore_errors=True)
        (folder / "etc" / "pqcmav").mkdir()
        self._more: dict[str, str] = {}
        self._stand_in(sudo=_SUDO, scp=_SCP)

    def install(self, package: Path) -> None:
        """Make what the packages' scripts make of `package`, the folder with their files."""
        etc, number = self.folder / "etc", 4646
        for file, line in (
            ("passwd", f"{_USER}:x:{number}:{number}::/var/lib/pqcmav:/usr/sbin/nologin"),
            ("group", f"{_USER}:x:{number}:"),
        ):
            others = [each for each in (etc / file).read_text("utf-8").splitlines() if not each.startswith(f"{_USER}:")]
            (etc / file).write_text("\n".join([*others, line, ""]), "utf-8")
        (etc / "pqcmav" / "tunneld").mkdir()
        for role in ("drone", "gcs"):
            shutil.copy(package / f"{role}.yaml", etc / "pqcmav" / "tunneld")
        for kept in (etc / "pqcmav" / "keys", self.folder / "var/lib/pqcmav/tunneld"):
            kept.mkdir(parents=True)
            kept.chmod(0o700)
            os.chown(kept, number, number)
        self._stand_in(runuser=_RUNUSER, systemctl=_SYSTEMCTL, journalctl=_JOURNALCTL)
        self._more["PQCMAV_WITHOUT_ROS"] = "1"  # as the package's command says

    def _stand_in(self, **tools: str) -> None:
        for tool, text in tools.items():
            (self.folder / "bin" / tool).write_text(text)
            (self.folder / "bin" / tool).chmod(0o755)

    def begin(self, command: str) -> Program:
        """Start a shell with these commands."""
        own = {
            "HOME": str(self.folder / "home"), "PATH": f"{self.folder}/bin:{os.environ['PATH']}",
            "MACHINES": str(self.folder.parent), "COLUMNS": "160", "ROS_DOMAIN_ID": "0",
        }  # fmt: skip
        dropped = ("PQCMAV_", "XDG_")
        environment = (
            {key: value for key, value in os.environ.items() if not key.startswith(dropped)} | own | self._more
        )
        inside = ["unshare", "--mount", "--propagation", "private", "sh", "-ec", _ENTER, "sh", str(self.folder)]
        return Program(
            f"{self.name}: {command.splitlines()[0]}", [*inside, "bash", "-e", "-c", command], env=environment,
            stdin=subprocess.DEVNULL, **into(self.space.descriptor),
        )  # fmt: skip

    def start(self, name: str, command: str) -> Program:
        """Start a program that goes on; `stop` ends it."""
        self.running[name] = self.begin(command)
        return self.running[name]

    def run(self, command: str, seconds: float = DEADLINE_S) -> tuple[int, list[str]]:
        """Run commands to their end; return the exit code and what they printed."""
        program = self.begin(command)
        return program.wait(seconds), program.lines

    def path(self, name: str) -> Path:
        """Where a file of this machine is on the real one."""
        if name.startswith("~/"):
            return self.folder / "home" / name[2:]
        return self.folder / name.lstrip("/")

    def wait(self, name: str) -> None:
        """Wait until a program ends by itself; raises TimeoutError when it does not."""
        self.running.pop(name).wait(DEADLINE_S)

    def stop(self, name: str = "") -> None:
        """End a program that was started, or all of them."""
        for each in [name] if name else list(self.running):
            self.running.pop(each).stop()


def until(what: str, condition: Callable[[], bool], seconds: float = DEADLINE_S) -> None:
    """Wait for a condition; raises TimeoutError that says what did not come."""
    if not wait_until(condition, seconds, _STEP_S):
        raise TimeoutError(f"not within {seconds:g} s: {what}")
