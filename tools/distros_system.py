# SPDX-License-Identifier: Apache-2.0
"""A bare system with a user and a clone, in which 'make distros' runs commands."""

import os
import re
import shlex
import subprocess
from collections.abc import Mapping
from pathlib import Path

import distros_table
from chroot import CCACHE, THROUGH_CCACHE, Chroot, compiler_cache
from two_ends import check

ROOT = Path(__file__).resolve().parent.parent
OUTPUT = ROOT / ".deps" / "distros"
LIMIT_S = 7200
WARNING = re.compile(r"^(?!.*-- ).*(\bwarning: |CMake (Deprecation )?Warning|DeprecationWarning)")


class System(Chroot):
    """A bare system with one user, who may become root or may not, and has a clone in this folder of the home."""

    def __init__(self, release: str, tar: Path, root: Path, user: str, folder: str, sudo: bool) -> None:
        super().__init__(tar, root)
        self._log = OUTPUT / f"{release}-{user}"
        self._cache = compiler_cache(f"distros/{release}")
        self._user, self._sudo = user, sudo
        self._home = f"/home/{user}"
        self.clone = f"{self._home}/{folder}"

    def prepare(self) -> None:
        """Add what a machine has before anyone clones something, and the clone."""
        self.run("apt-get", "update")
        packages = ["make", "git", "ca-certificates"]
        packages += ["sudo"] if self._sudo else []
        if self._cache:
            packages.append("ccache")
            self._cache.mkdir(mode=0o777, parents=True, exist_ok=True)
            self._cache.chmod(0o777)
            self.path(CCACHE).mkdir()
            self.mount(CCACHE, "--bind", str(self._cache))
        self.run("apt-get", "install", "--yes", "--no-install-recommends", *packages)
        self.run("useradd", "--create-home", "--shell", "/bin/bash", self._user)
        if self._sudo:
            rule = self.path(f"etc/sudoers.d/{self._user}")
            rule.write_text(f"{self._user} ALL=(ALL) NOPASSWD: ALL\n", encoding="utf-8")
        subprocess.run(["git", "clone", "--quiet", "--no-local", str(ROOT), self.path(self.clone[1:])], check=True)
        self.run("chown", "--recursive", f"{self._user}:{self._user}", self._home)

    def says(self, command: str, name: str, good: bool = True) -> str:
        """Run a shell command as the user in the clone; return its output, which also goes to a file of this name."""
        user = self._user
        more = {"HOME": self._home, "USER": user, "LOGNAME": user, "SHELL": "/bin/bash", "ROS_DOMAIN_ID": "77"}
        if self._cache:
            more |= {name: value for name, value in os.environ.items() if name.startswith("CCACHE_")}
            more |= THROUGH_CCACHE | {"CCACHE_BASEDIR": self.clone, "CCACHE_UMASK": "000"}
        words = ["runuser", "-u", user, "--", "bash", "-c", f"cd {shlex.quote(self.clone)} && {command}"]
        file = self._log.with_name(f"{self._log.name}-{name}.log")
        with file.open("w", encoding="utf-8") as log:
            result = subprocess.run(
                self.command(*words),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                check=False,
                timeout=LIMIT_S,
                env=self.environment(**more),
            )
        said = file.read_text(encoding="utf-8", errors="replace")
        last = "\n".join(said.splitlines()[-15:])
        check((result.returncode == 0) == good, f"'{command}' ended with {result.returncode} ({file}):\n{last}")
        return said

    def versions(self) -> Mapping[str, str]:
        """Upstream's versions of what is installed and may differ."""
        names = list(distros_table.VERSIONS)
        listed = self.run("dpkg-query", "-W", "-f", "${Package} ${Version}\n", *names, good=False)
        return dict(distros_table.versions(listed))

    def no_warnings(self) -> None:
        """Nothing that the last build printed is a warning of a compiler, of CMake or of Python."""
        logs = self.path(f"{self.clone[1:]}/.deps/log/colcon/latest_build")
        texts = {path: path.read_text(errors="replace") for path in logs.glob("*/stdout_stderr.log")}
        check(bool(texts), f"no logs of a build in {logs}")
        found = [f"{path.parent.name}: {line}" for path, text in texts.items() for line in text.splitlines()]
        found = [line for line in found if WARNING.search(line)]
        check(not found, f"{len(found)} warnings, the first ones:\n" + "\n".join(found[:20]))
