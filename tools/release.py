#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Make a release: archive of the sources, Debian packages and daemon that 'make deb' built, what they contain
(CycloneDX), where they come from (in-toto, SLSA provenance 1), SHA256SUMS over all of it, and its signature by gpg.

    release.py --key KEY [--output build-release/pqc-mav-VERSION] [--packages build-deb]

KEY is as gpg --local-user takes it. verify_release.py checks the result; see docs/checking.md.
"""

import argparse
import gzip
import io
import json
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import sbom
import verify_release
from sbom import ROOT, SbomError, git

BUILD_TYPE = "urn:pqc-mav:make-release"  # what this file does


def source_archive(folder: Path, name: str, when: int) -> None:
    """All that git has of this commit; the same commit gives the same bytes."""
    archive = subprocess.run(
        ["git", "-C", str(ROOT), "-c", "tar.umask=0022", "archive", f"--prefix={name}/", "HEAD"],
        capture_output=True,
        check=True,
    ).stdout
    (folder / f"{name}.tar.gz").write_bytes(gzip.compress(archive, 9, mtime=when))


def daemon_archives(folder: Path, version: str, when: int) -> None:
    """What the daemon's packages have in /usr/bin and /usr/lib/pqcmav, for Linux without dpkg: to be unpacked at /."""
    for package in sorted(folder.glob(f"pqcmav-tunneld_{version}-*.deb")):
        arch = package.stem.rsplit("_", 1)[-1]
        content = subprocess.run(["dpkg-deb", "--fsys-tarfile", str(package)], capture_output=True, check=True).stdout
        raw = io.BytesIO()
        with (
            tarfile.open(fileobj=io.BytesIO(content)) as packed,
            tarfile.open(fileobj=raw, mode="w", format=tarfile.USTAR_FORMAT) as tar,
        ):
            for entry in packed:
                entry.name = entry.name.removeprefix("./")
                if entry.isfile() and entry.name.startswith(("usr/bin/", "usr/lib/pqcmav/")):
                    tar.addfile(entry, packed.extractfile(entry))
        name = f"pqcmav-tunneld-{version}-{arch}.tar.gz"
        (folder / name).write_bytes(gzip.compress(raw.getvalue(), 9, mtime=when))


def debian_packages(folder: Path, packages: Path, version: str, when: int) -> None:
    """Copies of those of this commit. Raises SbomError for older ones."""
    for package in sorted(packages.glob("*.deb")):
        if f"_{version}-" not in package.name or package.stat().st_mtime < when:
            raise SbomError(f"{package} is older than this commit, or of another version: run 'make deb' again")
        shutil.copyfile(package, folder / package.name)


def provenance(folder: Path, began: datetime, arguments: dict[str, str]) -> dict[str, Any]:
    """An in-toto statement about every file that is there (slsa.dev/spec/v1.0/provenance)."""
    pins, commit = sbom.crate(), git("rev-parse", "HEAD")
    locked = sorted((ROOT / "requirements/locked").glob("*.txt"))
    return {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [
            {"name": path.name, "digest": {"sha256": verify_release.digest(path)}} for path in sorted(folder.iterdir())
        ],
        "predicateType": "https://slsa.dev/provenance/v1",
        "predicate": {
            "buildDefinition": {
                "buildType": BUILD_TYPE,
                "externalParameters": {"source": {"commit": commit}, **arguments},
                "internalParameters": {"system": system(), "machine": platform.machine()},
                "resolvedDependencies": [
                    {"name": "source", "digest": {"gitCommit": commit}},
                    {
                        "name": f"{pins['CRATE']}-{pins['CRATE_VERSION']}+liboqs-{pins['LIBOQS_VERSION']}.crate",
                        "digest": {"sha256": pins["CRATE_SHA256"]},
                    },
                    *(
                        {"name": f"requirements/locked/{path.name}", "digest": {"sha256": verify_release.digest(path)}}
                        for path in locked
                    ),
                ],
            },
            "runDetails": {
                "builder": {"id": "urn:pqc-mav:the-owner-of-the-key"},
                "metadata": {"startedOn": stamp(began), "finishedOn": stamp(datetime.now(timezone.utc))},
            },
        },
    }


def stamp(when: datetime) -> str:
    """As RFC 3339 has it."""
    return when.strftime("%Y-%m-%dT%H:%M:%SZ")


def system() -> str:
    """Of the machine that builds."""
    try:
        return platform.freedesktop_os_release()["PRETTY_NAME"]
    except (OSError, KeyError):
        return platform.system()


def sign(file: Path, key: str) -> None:
    """Writes FILE.asc and the public key beside it. Raises SbomError."""
    words = ["--status-fd", "1", "--local-user", key, "--armor", "--digest-algo", "SHA512", "--detach-sign", str(file)]
    told = gpg(key, Path(f"{file}.asc"), *words)
    # By its fingerprint: an address is part of other addresses, too, whose keys gpg would export with it.
    (signer,) = re.findall(r"^\[GNUPG:\] SIG_CREATED .* (\w+)$", told, re.MULTILINE)
    gpg(key, file.parent / verify_release.KEYRING, "--export", signer)


def gpg(key: str, output: Path, *words: str) -> str:
    """What it prints besides its output. Raises SbomError."""
    command = ["gpg", "--batch", "--yes", "--output", str(output), *words]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    if ended.returncode != 0 or not output.is_file():
        raise SbomError(f"gpg did not sign with '{key}': {ended.stderr.strip().splitlines()[-1:] or 'no such key'}")
    return ended.stdout


def make(output: Path, key: str, packages: Path, build: Path) -> None:
    """All files, in a folder beside it that then takes its place. Raises SbomError and what git raises."""
    if git("status", "--porcelain", "--untracked-files=no"):
        raise SbomError("there are changes that are in no commit: commit them, for a release names its commit")
    began = datetime.now(timezone.utc)
    version, when = sbom.version(), int(git("log", "-1", "--format=%ct"))
    output.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=output.parent, prefix=".release-") as work:
        folder = Path(work) / "files"
        folder.mkdir()
        source_archive(folder, f"pqc-mav-{version}", when)
        debian_packages(folder, packages, version, when)
        daemon_archives(folder, version, when)
        (folder / "sbom.cdx.json").write_text(sbom.text(build), encoding="utf-8")
        statement = provenance(folder, began, {"key": key, "packages": str(packages.is_dir()).lower()})
        (folder / verify_release.PROVENANCE).write_text(json.dumps(statement, indent=1) + "\n", encoding="utf-8")
        lines = [f"{verify_release.digest(path)}  {path.name}\n" for path in sorted(folder.iterdir())]
        sums = folder / verify_release.SUMS
        sums.write_text("".join(lines), encoding="utf-8")
        sign(sums, key)
        verify_release.verify(folder, folder / verify_release.KEYRING)
        if output.exists():
            shutil.rmtree(output)
        folder.replace(output)


def main() -> int:
    """Make one."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--key", required=True, help="of gpg, that signs")
    parser.add_argument("--output", type=Path)
    parser.add_argument("--packages", type=Path, default=ROOT / "build-deb", help="what 'make deb' built")
    parser.add_argument("--build", type=Path, default=ROOT / "build/pqc_mav_tunnel")
    options = parser.parse_args()
    try:
        if not options.key:
            raise SbomError("no key is named: make release SIGN_KEY=you@example.org ('gpg --list-secret-keys')")
        output = options.output or ROOT / f"build-release/pqc-mav-{sbom.version()}"
        make(output, options.key, options.packages, options.build)
    except (SbomError, verify_release.ReleaseError) as error:
        sys.exit(f"error: {error}")
    for path in sorted(output.iterdir()):
        print(f"{path.stat().st_size:>10} bytes  {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
