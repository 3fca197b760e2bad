# SPDX-License-Identifier: Apache-2.0
"""A Debian or Ubuntu in a folder of its own: what packages and first steps are tried in.

Needs root, and mounts that nobody else sees (two_ends.with_own_mounts). Nothing of this machine changes.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from two_ends import check

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
# How this machine reaches the network, as far as programs look for it: proxies, certificates, package indexes.
FILES = ("etc/resolv.conf", "etc/hosts", "etc/pip.conf")
CERTIFICATES = "usr/local/share/ca-certificates"
APT = re.compile(r"Acquire::(http|https|ftp|Check|Force|Retries)", re.IGNORECASE)
VARIABLE = re.compile(
    r"(https?|all|no|ftp)_proxy|PIP_(CERT|DEFAULT_TIMEOUT|(EXTRA_)?INDEX_URL|RETRIES|TRUSTED_HOST)|SSL_CERT_(FILE|DIR)"
    r"|GIT_SSL_CAINFO|CARGO_HTTP_\w+|CURL_CA_BUNDLE|REQUESTS_CA_BUNDLE",
    re.IGNORECASE,
)
CCACHE = "var/cache/ccache"
# With a compiler cache mounted there.
THROUGH_CCACHE = {
    "CMAKE_C_COMPILER_LAUNCHER": "ccache",
    "CMAKE_CXX_COMPILER_LAUNCHER": "ccache",
    "CCACHE_DIR": f"/{CCACHE}",
}
LINKS = {"ptmx": "pts/ptmx", "fd": "/proc/self/fd", "stdin": "fd/0", "stdout": "fd/1", "stderr": "fd/2"}


def compiler_cache(name: str) -> Path | None:
    """A folder of this machine's compiler cache, if there is one."""
    place = os.environ.get("CCACHE_DIR", "")
    if not place or "ccache" not in os.environ.get("CMAKE_CXX_COMPILER_LAUNCHER", ""):
        return None
    return Path(place) / name


class Chroot:
    """A system in a folder: from a tar, or like one in another folder, without what is mounted there."""

    def __init__(self, source: Path, root: Path) -> None:
        self.root = root
        self.enter: tuple[str, ...] = ()  # what comes in front of every command, as for another network
        self._mounts: list[Path] = []
        if source.is_dir():
            subprocess.run(["cp", "-ax", f"{source}/.", str(root)], check=True)
        else:
            subprocess.run(["tar", "-xf", str(source), "-C", str(root), "--exclude=./dev/*"], check=True)
        for name in FILES:
            if (own := Path("/") / name).is_file():
                self.path(name).unlink(missing_ok=True)
                shutil.copy(own, self.path(name))
        if (own := Path("/") / CERTIFICATES).is_dir():
            shutil.copytree(own, self.path(CERTIFICATES), dirs_exist_ok=True)
        said = subprocess.run(["apt-config", "dump"], capture_output=True, text=True, check=False).stdout
        lines = [line for line in said.splitlines() if APT.match(line)]
        self.path("etc/apt/apt.conf.d/90this-machine").write_text("\n".join([*lines, ""]), encoding="utf-8")

    def mount(self, name: str, *words: str) -> None:
        """Mount something at this place inside, until 'mounted' ends."""
        subprocess.run(["mount", *words, str(self.path(name))], check=True)
        self._mounts.append(self.path(name))

    @contextmanager
    def mounted(self) -> Iterator[None]:
        """The kernel's file systems, which programs expect."""
        try:
            self.mount("proc", "-t", "proc", "proc")
            self.mount("run", "-t", "tmpfs", "-o", "mode=755", "tmpfs")
            self.mount("dev", "-t", "tmpfs", "-o", "mode=755", "tmpfs")
            for node in ("null", "zero", "urandom", "random", "full", "tty"):
                self.path(f"dev/{node}").touch()
                self.mount(f"dev/{node}", "--bind", f"/dev/{node}")
            for folder, words in (("shm", "mode=1777"), ("pts", "newinstance,ptmxmode=666,mode=620,gid=5")):
                self.path(f"dev/{folder}").mkdir()
                self.mount(f"dev/{folder}", "-t", "tmpfs" if folder == "shm" else "devpts", "-o", words, folder)
            for link, target in LINKS.items():
                self.path(f"dev/{link}").symlink_to(target)
            yield
        finally:
            for place in reversed(self._mounts):
                subprocess.run(["umount", "--lazy", str(place)], check=False)

    def environment(self, **more: str) -> Mapping[str, str]:
        """What programs inside get of this machine's environment, and more."""
        ours = {
            name: value
            for name, value in os.environ.items()
            if VARIABLE.fullmatch(name) and (not value.startswith("/") or self.path(value[1:]).exists())
        }
        return {"PATH": PATH, "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C.UTF-8", **ours, **more}

    def command(self, *words: str, user: str = "root") -> list[str]:
        """What runs these words inside."""
        return [*self.enter, "chroot", f"--userspec={user}", str(self.root), *words]

    def run(self, *words: str, user: str = "root", good: bool = True) -> str:
        """Run something inside; return what it printed."""
        result = subprocess.run(
            self.command(*words, user=user),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=900,
            env=self.environment(),
        )
        check(not good or result.returncode == 0, f"{' '.join(words)} ended with {result.returncode}:\n{result.stdout}")
        return result.stdout

    def path(self, name: str) -> Path:
        """A file inside, seen from here."""
        return self.root / name
