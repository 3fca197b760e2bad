# SPDX-License-Identifier: Apache-2.0
"""The files of the runs in an exported campaign: each one as it was recorded, compressed, under its path.

What is kept is the very bytes of `runs/<scenario>/<suite>/metrics.json`, as `metrics.json.gz`. The hashes of the
manifest and of the table are those of the uncompressed files, so they hold for both forms.
"""

from collections.abc import Mapping
from pathlib import Path

from pqc_mav_bench.store import METRICS, RUNS, storage_error
from pqc_mav_common import packed, safe_open
from pqc_mav_common.atomic_file import atomic_write

#: In the manifest of an exported campaign: whether the files of its runs are kept beside its table.
KEPT = "runs_kept"
PACKED = METRICS + packed.ENDING


def names(folder: Path) -> list[str]:
    """The runs whose compressed files are in an exported campaign, by the path of the uncompressed file, sorted."""
    found = sorted((folder / RUNS).glob(f"**/{PACKED}"))
    return [str(path.relative_to(folder)).removesuffix(packed.ENDING) for path in found]


def content(folder: Path, name: str) -> bytes:
    """The file of a run as it was recorded, from a campaign's folder of either form. Raises OSError and ValueError.

    Whoever made the campaign chose its name: it is below the folder, and no link.
    """
    if safe_open.below(folder, name).is_file():
        return safe_open.read(folder, name)
    return packed.unpack(safe_open.read(folder, name + packed.ENDING))


def write(files: Mapping[str, bytes], folder: Path) -> list[Path]:
    """Writes the files of runs, compressed, and removes those of other runs. Raises StoreError."""
    written = []
    for name in set(names(folder)) - set(files):
        _path(folder, name).unlink()
    for name, data in files.items():
        path = _path(folder, name)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            atomic_write(path, packed.pack(data, path))
        except OSError as error:
            raise storage_error(path, error) from None
        written.append(path)
    return written


def available(folder: Path, listed: Mapping[str, str]) -> dict[str, bytes]:
    """The files of the runs a manifest lists if all are there, otherwise nothing. Raises OSError and ValueError."""
    complete = all(_is_there(folder, name) for name in listed)
    return {name: content(folder, name) for name in sorted(listed)} if complete else {}


def _is_there(folder: Path, name: str) -> bool:
    return safe_open.below(folder, name).is_file() or _path(folder, name).is_file()


def _path(folder: Path, name: str) -> Path:
    return safe_open.below(folder, name + packed.ENDING)
