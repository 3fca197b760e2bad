# SPDX-License-Identifier: Apache-2.0
"""An apt repository by `deb_repository.sh` on a web server of this test, and what apt says of those that lie."""

import functools
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

from chroot import Chroot
from two_ends import HOST, check

ROOT = Path(__file__).resolve().parents[1]
KEYRING = "pqcmav-archive-keyring.gpg"
SOURCES = "etc/apt/sources.list.d/pqcmav.list"
OWNER, STRANGER = "owner@test.invalid", "stranger@test.invalid"


class Quiet(SimpleHTTPRequestHandler):
    """Without a line for each file."""

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The folder on a web server of loopback; yields its address."""
    with ThreadingHTTPServer((HOST, 0), functools.partial(Quiet, directory=str(folder))) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://{HOST}:{server.server_address[1]}"
        finally:
            server.shutdown()


class Repository:
    """One that this test signs, with keys of its own."""

    def __init__(self, work: Path) -> None:
        self.folder = work / "repository"
        self._environment = {**os.environ, "GNUPGHOME": str(work / "gnupg")}
        (work / "gnupg").mkdir(mode=0o700)
        for name in (OWNER, STRANGER):
            self._run("gpg", "--batch", "--passphrase", "", "--quick-generate-key", name, "ed25519", "sign", "1d")
        self._run(str(ROOT / "tools/deb_repository.sh"), os.path.relpath(self.folder), OWNER)  # as make has it
        (self.dists,) = (self.folder / "dists").iterdir()

    def _run(self, *words: str) -> None:
        result = subprocess.run(words, env=self._environment, capture_output=True, text=True, check=False, timeout=120)
        check(result.returncode == 0, f"{' '.join(words)} ended with {result.returncode}: {result.stderr}")

    def close(self) -> None:
        """Ends the keys' agent."""
        subprocess.run(["gpgconf", "--kill", "all"], env=self._environment, check=False, timeout=60)

    def sign(self, name: str) -> None:
        """The Release file again, by this key."""
        common = ["gpg", "--batch", "--yes", "--local-user", name, "--output"]
        self._run(*common, str(self.dists / "InRelease"), "--clearsign", str(self.dists / "Release"))
        self._run(*common, str(self.dists / "Release.gpg"), "--detach-sign", str(self.dists / "Release"))

    def fit_hashes(self) -> None:
        """Makes the Release file say what its folder has now, as one who may write there can."""
        written = subprocess.run(
            ["apt-ftparchive", "release", "."], cwd=self.dists, capture_output=True, text=True, check=True, timeout=60
        ).stdout
        head = (self.dists / "Release").read_text(encoding="utf-8").partition("MD5Sum:")[0]
        (self.dists / "Release").write_text(head + "MD5Sum:" + written.partition("MD5Sum:")[2], encoding="utf-8")


def _change_a_package(repository: Repository) -> None:
    package = next(repository.folder.glob("pool/*/pqcmav-cli_*.deb"))
    data = bytearray(package.read_bytes())
    data[len(data) // 2] ^= 1
    package.write_bytes(data)


def _change_a_list(repository: Repository) -> None:
    for plain in repository.dists.glob("main/binary-*/Packages"):
        plain.write_text(plain.read_text(encoding="utf-8").replace("Depends: ", "Depends: base-files, "), "utf-8")
        plain.with_suffix(".gz").unlink()


def _change_all_hashes(repository: Repository) -> None:
    _change_a_list(repository)
    repository.fit_hashes()
    inline = repository.dists / "InRelease"
    signature = inline.read_text(encoding="utf-8").partition("-----BEGIN PGP SIGNATURE")
    release = (repository.dists / "Release").read_text(encoding="utf-8")
    inline.write_text(
        f"-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA512\n\n{release}\n" + "".join(signature[1:]), "utf-8"
    )


def _sign_by_a_stranger(repository: Repository) -> None:
    _change_a_list(repository)
    repository.fit_hashes()
    repository.sign(STRANGER)


def _take_the_signature_away(repository: Repository) -> None:
    (repository.dists / "InRelease").unlink()
    (repository.dists / "Release.gpg").unlink()


# What one who may write to the web server tries.
LIES: dict[str, Callable[[Repository], None]] = {
    "a package with one bit changed": _change_a_package,
    "a changed list of packages": _change_a_list,
    "a changed list with its hashes, under the old signature": _change_all_hashes,
    "all of it signed by another key": _sign_by_a_stranger,
    "no signature": _take_the_signature_away,
}


def install_from_it(debian: Chroot) -> Iterator[str]:
    """Installs `pqcmav` from a signed repository, after each lie about it was refused; yields what held."""
    direct = ("-o", f"Acquire::http::Proxy::{HOST}=DIRECT")
    steps = [
        ("sh", "-c", f"rm -rf /var/lib/apt/lists/partial /var/lib/apt/lists/{HOST}*"),
        ("apt-get", "update", "-o", "APT::Update::Error-Mode=any", *direct),
        ("apt-get", "install", "--yes", "--no-install-recommends", *direct, "pqcmav"),
    ]
    with tempfile.TemporaryDirectory() as folder:
        repository = Repository(Path(folder))
        good = Path(folder) / "good"
        try:
            shutil.copytree(repository.folder, good)
            keyring = debian.path(f"etc/apt/keyrings/{KEYRING}")
            keyring.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(repository.folder / KEYRING, keyring)
            keyring.chmod(0o644)
            with served(repository.folder) as address:
                debian.path(SOURCES).write_text(
                    f"deb [signed-by=/etc/apt/keyrings/{KEYRING}] {address} {repository.dists.name} main\n", "utf-8"
                )
                for name, lie in LIES.items():
                    lie(repository)
                    said = "".join(debian.run(*step, good=False) for step in steps)
                    refused = any(line.startswith("E: ") for line in said.splitlines())
                    check(refused and not debian.path("usr/bin/pqcmav").exists(), f"apt took {name}: {said}")
                    shutil.rmtree(repository.folder)
                    shutil.copytree(good, repository.folder)
                yield f"apt refused {len(LIES)} repositories: {'; '.join(LIES)}"
                for step in steps:
                    debian.run(*step)
                yield "installed from a signed repository by 'apt-get install pqcmav'"
                debian.path(SOURCES).unlink()
                keyring.unlink()
        finally:
            repository.close()
