#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Is this release what the owner of a key made? Needs Python and gpgv, nothing of the project.

    verify_release.py FOLDER KEYRING

KEYRING is the owner's public key (gpg --export), from elsewhere than FOLDER: whoever can change the one can change a
key that lies beside it. Checked: the signature of SHA256SUMS, then every file by it, none missing and none too many,
then that the provenance speaks of the same files.
"""

import json
import re
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

SUMS, KEYRING, PROVENANCE = "SHA256SUMS", "pqc-mav-release.gpg", "provenance.intoto.json"
LINE = re.compile(r"([0-9a-f]{64})  ([A-Za-z0-9][A-Za-z0-9._+~-]*)")  # no path: nothing outside the folder is read
UNSIGNED = {SUMS, f"{SUMS}.asc", KEYRING}


class ReleaseError(Exception):
    """What is not right, as a sentence."""


def verify(folder: Path, keyring: Path) -> list[str]:
    """The names of the files, all good. Raises ReleaseError."""
    check_signature(folder / SUMS, keyring)
    listed = read_sums((folder / SUMS).read_text(encoding="utf-8"))
    here = {path.name for path in folder.iterdir()} - UNSIGNED
    if missing := sorted(listed.keys() - here):
        raise ReleaseError(f"{missing[0]} is missing: get the whole release again")
    if others := sorted(here - listed.keys()):
        raise ReleaseError(f"{others[0]} is not in {SUMS}: nobody signed it; do not use it")
    for name, wanted in listed.items():
        if not (folder / name).is_file() or (folder / name).is_symlink() or digest(folder / name) != wanted:
            raise ReleaseError(f"{name} is not the file that was signed: get it again, and do not use this one")
    check_provenance((folder / PROVENANCE).read_text(encoding="utf-8"), listed)
    return sorted(listed)


def check_signature(sums: Path, keyring: Path) -> None:
    """By gpgv, with this key alone. Raises ReleaseError."""
    signature = Path(f"{sums}.asc")
    for each in (sums, signature, keyring):
        if not each.is_file():
            raise ReleaseError(f"{each} is missing")
    try:
        ended = subprocess.run(
            ["gpgv", "--keyring", str(keyring.resolve()), str(signature), str(sums)],
            capture_output=True,
            text=True,
            check=False,
        )
    except OSError as error:
        raise ReleaseError(f"gpgv cannot be run ({error.strerror}): apt install gpgv") from None
    if ended.returncode != 0:
        said = (ended.stderr.strip().splitlines() or ["it said nothing"])[-1].removeprefix("gpgv: ")
        raise ReleaseError(f"{sums} has no good signature by the key in {keyring} ({said}): do not use this release")


def read_sums(text: str) -> dict[str, str]:
    """Digests by name. Raises ReleaseError."""
    found: dict[str, str] = {}
    for line in text.splitlines():
        match = LINE.fullmatch(line)
        if match is None or match[2] in found:
            raise ReleaseError(f"{SUMS} has the line '{line}', which is no digest and name of one file")
        found[match[2]] = match[1]
    if PROVENANCE not in found:
        raise ReleaseError(f"{SUMS} does not list {PROVENANCE}")
    return found


def check_provenance(text: str, listed: dict[str, str]) -> None:
    """Every file but itself is one of its subjects, with the same digest. Raises ReleaseError."""
    try:
        statement = json.loads(text)
        subjects = {each["name"]: each["digest"]["sha256"] for each in statement["subject"]}
        kind = statement["predicateType"]
    except (ValueError, KeyError, TypeError):
        raise ReleaseError(f"{PROVENANCE} is no in-toto statement") from None
    if kind != "https://slsa.dev/provenance/v1":
        raise ReleaseError(f"{PROVENANCE} is of another kind: {kind}")
    if subjects != {name: value for name, value in listed.items() if name != PROVENANCE}:
        raise ReleaseError(f"{PROVENANCE} speaks of other files than {SUMS}")


def digest(path: Path) -> str:
    """SHA-256 of a file, in hexadecimal."""
    whole = sha256()
    with path.open("rb") as file:
        while piece := file.read(1 << 20):
            whole.update(piece)
    return whole.hexdigest()


def main() -> int:
    """Check one."""
    if len(sys.argv) != 3:
        print("usage: verify_release.py FOLDER KEYRING", file=sys.stderr)
        return 2
    try:
        names = verify(Path(sys.argv[1]), Path(sys.argv[2]))
    except (ReleaseError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print(f"good: {len(names)} files: {', '.join(names)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
