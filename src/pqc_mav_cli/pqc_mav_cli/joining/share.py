# SPDX-License-Identifier: Apache-2.0
"""What a drone is given, as bytes and as a folder: a drone's key files, and what it has to know to use them.

The files travel as they are. Which ones there may be is decided here, and the engine reads each before it counts.
"""

import json
import os
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from pqc_mav_cli.errors import CliError, engine_errors

LARGEST = 1 << 20  # bytes of a share; eleven public keys need 20,000
NAME = r"[a-z0-9_-]{1,32}"
_ID = re.compile(NAME)
_PATH = re.compile(rf"psk\.key|gcs/(?:{NAME}/)?{NAME}\.pub|sig/{NAME}\.(?:key|pub)")
_HEAD = "pqcmav-key 1\n"
_FILES = 256
FILE_SIZE = 64 * 1024
_TEXT = 1024


class ShareError(CliError):
    """What came is not a drone's share; nothing of it was kept."""


@dataclass(frozen=True)
class Share:
    """`peer` as in the drone's configuration; `sign` are the algorithms of which it is to make key pairs."""

    drone_id: str
    peer: str
    sign: tuple[str, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict, repr=False)

    def packed(self) -> bytes:
        """As it travels."""
        return json.dumps(asdict(self)).encode()


def unpack(packed: bytes) -> Share:
    """The share, each field within its bounds. Raises ShareError."""
    if len(packed) > LARGEST:
        raise ShareError(f"The share that came has {len(packed):,} bytes, more than any drone's.")
    try:
        value: Any = json.loads(packed)
        sign = tuple(value["sign"])
        texts = {name: value[name] for name in ("drone_id", "peer")}
        files = dict(value["files"])
    except (ValueError, TypeError, KeyError, RecursionError):
        raise ShareError("What came is no share of this version: give both ends the same release of pqcmav.") from None
    good = all(isinstance(each, str) and 0 < len(each) <= _TEXT for each in texts.values())
    good = good and bool(_ID.fullmatch(texts["drone_id"]))
    good = good and len(sign) <= _FILES and all(isinstance(each, str) and _ID.fullmatch(each) for each in sign)
    if not good:
        raise ShareError("The share that came has a field that cannot be; nothing of it was kept.")
    check_files(files)
    if "psk.key" not in files:
        raise ShareError("The share that came holds no PSK; nothing of it was kept.")
    return Share(**texts, sign=sign, files=files)


def check_files(files: Mapping[Any, Any]) -> None:
    """Raises ShareError unless these are key files of a drone, by name and form."""
    if len(files) > _FILES:
        raise ShareError(f"The share that came has {len(files)} files, more than any drone's.")
    for name, text in files.items():
        if not isinstance(name, str) or not _PATH.fullmatch(name):
            raise ShareError(
                f"The share that came has a file {str(name)[:80]!r}, which no drone has; nothing was kept."
            )
        if not isinstance(text, str) or len(text) > FILE_SIZE or not text.startswith(_HEAD) or not text.isascii():
            raise ShareError(f"In the share that came {name} is no key file; nothing was kept.")


def read_folder(folder: Path) -> dict[str, str]:
    """The key files of a drone's folder, by their path in it."""
    paths = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return {str(path.relative_to(folder)): path.read_text("ascii") for path in paths}


def write_folder(files: Mapping[str, str], folder: Path, drone_id: str) -> None:
    """Writes checked files below `folder`, which exists and is ours alone, and has the engine read each of them.

    Raises ShareError for a key that is not good or is another drone's, CliError for what cannot be written.
    """
    import pqc_mav_tunnel

    try:
        for name, text in files.items():
            path = folder / name
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "w") as out:
                out.write(text)
                out.flush()
                os.fsync(out.fileno())
    except OSError as error:
        raise CliError(f"The keys cannot be written to {folder}: {error.strerror}.") from None
    with engine_errors():
        entries = pqc_mav_tunnel.list_keys(str(folder))
    for entry in entries:
        path = Path(entry["path"]).relative_to(folder)
        owner = "gcs" if path.parts[0] == "gcs" else drone_id
        if entry["problem"] or entry["owner"] != owner:
            raise ShareError(f"The key {path} that came is not good: {entry['problem'] or f'it is not of {owner}.'}")
    if len(entries) != len(files):
        raise ShareError(f"Of {len(files)} key files {len(entries)} can be read; nothing was kept.")
