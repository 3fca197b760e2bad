# SPDX-License-Identifier: Apache-2.0
"""The other systems' programs: which versions, where they come from, and where they are kept (.deps/peers, no commit).

make peers ARGS=--get          # fetches and builds what is missing; Go, cargo, cmake, libclang, meson must be there
"""

import os
import shutil
import subprocess
from pathlib import Path

import rig

FOLDER = rig.ROOT / ".deps" / "peers"
DEBIAN = FOLDER / "debian"
BORINGTUN, ROSENPASS = "0.7.1", "0.2.3"
# 1.11 needs a module that Go's proxy does not have, 1.12 a newer Go.
NEBULA = "v1.10.3"
WIREGUARD_GO = "v0.0.0-20260522210424-ecfc5a8d5446"
ENGARDE, MAVLINK_ROUTER = "95ac5bf96da8", "c20337bbc61a"
#: Of Debian 12, unpacked beside the system and not installed.
PACKAGES = {
    "openvpn": "2.6.14-0+deb12u2", "socat": "1.7.4.4-2", "wireguard-tools": "1.0.20210914-1+b1",
    "libpkcs11-helper1": "1.29.0-1", "liblzo2-2": "2.10-2", "libnl-3-200": "3.7.0-0.2+b1",
    "libnl-genl-3-200": "3.7.0-0.2+b1", "libwrap0": "7.6.q-32", "libsodium-dev": "1.0.18-1+deb12u1",
    "libsodium23": "1.0.18-1+deb12u1",
}  # fmt: skip
_LIBRARIES = ("usr/lib/x86_64-linux-gnu", "lib/x86_64-linux-gnu")
# Builds take minutes, and somebody may be at work here.
_GIVING_WAY = ("nice", "-n", "10")
_WHERE = {"openvpn": DEBIAN / "usr/sbin", "socat": DEBIAN / "usr/bin", "wg": DEBIAN / "usr/bin"}


def path(name: str) -> str:
    """Where a program is, or would be."""
    return str(_WHERE.get(name, FOLDER / "bin") / name)


def missing(*names: str) -> str:
    """Why these programs cannot be run, or an empty text."""
    lacking = [name for name in names if not Path(path(name)).exists()]
    if lacking:
        return (
            f"{', '.join(lacking)} could not be built here" if FOLDER.exists() else "run 'make peers ARGS=--get' first"
        )
    return ""


def libraries() -> str:
    """A setting of LD_LIBRARY_PATH for what was unpacked."""
    folders = [str(DEBIAN / folder) for folder in _LIBRARIES]
    return ":".join([*folders, *filter(None, [os.environ.get("LD_LIBRARY_PATH", "")])])


def unpacked(name: str, *arguments: str) -> list[str]:
    """The command line of a program of the Debian packages, with its libraries."""
    return ["env", f"LD_LIBRARY_PATH={libraries()}", path(name), *arguments]


def ask(*command: str, given: str = "") -> str:
    """What a program prints; raises subprocess.CalledProcessError when it fails."""
    return subprocess.run(command, input=given, capture_output=True, text=True, check=True, timeout=60).stdout.strip()


def _debian() -> None:
    if all(Path(path(name)).exists() for name in _WHERE):
        return
    store = FOLDER / "packages"
    store.mkdir(parents=True, exist_ok=True)
    wanted = [f"{name}={version}" for name, version in PACKAGES.items()]
    subprocess.run(["apt-get", "download", *wanted], cwd=store, check=True, timeout=300)
    for package in sorted(store.glob("*.deb")):
        subprocess.run(["dpkg-deb", "-x", str(package), str(DEBIAN)], check=True, timeout=60)


def _go(name: str, module: str) -> None:
    if not Path(path(name)).exists():
        settings = {"GOBIN": str(FOLDER / "bin"), "GOFLAGS": "-buildvcs=false"}
        command = [*_GIVING_WAY, "go", "install", "-p", "1", module]
        subprocess.run(command, env=os.environ | settings, check=True, timeout=1800)


def _cargo(name: str, crate: str, version: str) -> None:
    if Path(path(name)).exists():
        return
    settings = {"CARGO_TARGET_DIR": str(FOLDER / "build"), "PKG_CONFIG_SYSROOT_DIR": str(DEBIAN)}
    settings["PKG_CONFIG_PATH"] = str(DEBIAN / _LIBRARIES[0] / "pkgconfig")
    clang = sorted(Path("/usr/lib").glob("llvm-*/lib/libclang.so.1"))
    if clang and "LIBCLANG_PATH" not in os.environ:
        settings["LIBCLANG_PATH"] = str(clang[-1].parent)
    command = [*_GIVING_WAY, "cargo", "install", "-j1", "--locked", "--version", version, "--root", str(FOLDER), crate]
    subprocess.run(command, env=os.environ | settings, check=True, timeout=3600)


def _source(repository: str, commit: str) -> Path:
    """A repository of GitHub at a commit, with its submodules."""
    folder = FOLDER / "source" / repository.split("/")[1]
    steps = [["checkout", "-q", commit], ["submodule", "-q", "update", "--init"]]
    if not folder.exists():
        steps.insert(0, ["clone", "-q", f"https://github.com/{repository}", "."])
        folder.mkdir(parents=True)
    for step in steps:
        subprocess.run(["git", *step], cwd=folder, check=True, timeout=600)
    return folder


def _engarde() -> None:
    if Path(path("engarde-client")).exists():
        return
    folder = _source("porech/engarde", ENGARDE)
    page = folder / "internal/assets/browser/browser"  # built by npm, and never shown here
    page.mkdir(parents=True, exist_ok=True)
    (page / "index.html").touch()
    for end in ("client", "server"):
        command = [*_GIVING_WAY, "go", "build", "-p", "1", "-buildvcs=false", "-o", path(f"engarde-{end}"), "."]
        subprocess.run(command, cwd=folder / "cmd" / f"engarde-{end}", check=True, timeout=600)


def _mavlink_router() -> None:
    if Path(path("mavlink-routerd")).exists():
        return
    folder = _source("mavlink-router/mavlink-router", MAVLINK_ROUTER)
    setup = ["meson", "setup", "build", "--wipe", "--buildtype=release", "-Dsystemdsystemunitdir=none"]
    subprocess.run(setup, cwd=folder, check=True, timeout=300)
    target = ["ninja", "-j1", "-C", "build", "src/mavlink-routerd"]
    subprocess.run([*_GIVING_WAY, *target], cwd=folder, check=True, timeout=600)
    shutil.copy2(folder / "build/src/mavlink-routerd", path("mavlink-routerd"))


def get() -> list[str]:
    """Fetch and build what is not there yet; returns a sentence for each that cannot be had."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    steps = [
        ("OpenVPN, socat and wg", "apt-get", _debian),
        ("wireguard-go", "go", lambda: _go("wireguard", f"golang.zx2c4.com/wireguard@{WIREGUARD_GO}")),
        ("boringtun", "cargo", lambda: _cargo("boringtun-cli", "boringtun-cli", BORINGTUN)),
        ("nebula", "go", lambda: _go("nebula", f"github.com/slackhq/nebula/cmd/nebula@{NEBULA}")),
        ("nebula-cert", "go", lambda: _go("nebula-cert", f"github.com/slackhq/nebula/cmd/nebula-cert@{NEBULA}")),
        ("rosenpass", "cargo", lambda: _cargo("rosenpass", "rosenpass", ROSENPASS)),
        ("engarde", "go", _engarde),
        ("mavlink-router", "meson", _mavlink_router),
    ]
    problems = []
    for name, needs, step in steps:
        if shutil.which(needs) is None:
            problems.append(f"{name} cannot be had: there is no '{needs}' here")
            continue
        try:
            step()
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
            problems.append(f"{name} cannot be had: {error}")
    return problems
