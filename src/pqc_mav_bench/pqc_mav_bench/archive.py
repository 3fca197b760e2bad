# SPDX-License-Identifier: Apache-2.0
"""A campaign and the recordings made beside it as one archive for the public: the same content gives the same bytes.

    DATASHEET.md        what is in it, how it was measured, what it is good for and what not
    MANIFEST.json       SHA-256 and size of every other file
    campaign/           manifest, tables (CSV, Parquet), the file of every run and of those that were measured again
    recordings/*.mcap   flight recordings as they are, and in traces/*.parquet every value of theirs with its time
    links/, primitives/ of a board's owner ('pqcmav bench field'): exported campaigns over links, operations alone

The archive is a compressed tar without owners and times.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from pqc_mav_bench import handshake_table, kept_runs, repeated_runs, tidy
from pqc_mav_bench.canonical import file_sha256
from pqc_mav_bench.data_sheet import data_sheet
from pqc_mav_bench.errors import StoreError
from pqc_mav_bench.recorded_traces import traces_parquet
from pqc_mav_bench.store import MANIFEST, STATE, CampaignStore, storage_error
from pqc_mav_common import packed, safe_open
from pqc_mav_common.atomic_file import atomic_write

FORMAT, VERSION = "pqcmav-archive", 1
SHEET, CONTENTS = "DATASHEET.md", "MANIFEST.json"
_MOST_HEADER_BYTES = 1 << 16
#: An archive's own list of files is never larger; whatever claims to be is none of ours.
_MOST_CONTENTS_BYTES = 16 << 20


def archive(
    store: CampaignStore, target: Path, recordings: Sequence[Path] = (), beside: Mapping[str, Path] | None = None
) -> dict[str, int]:
    """Writes the archive, with all files of the folders in `beside`. Returns each file's size. Raises StoreError."""
    if not target.name.endswith(".tar.gz"):
        raise StoreError(f"{target} has to end in .tar.gz.")
    files = {**_campaign(store), **_recordings(recordings), **_folders(beside or {})}
    files[SHEET] = data_sheet(store.manifest(), files, list(recordings)).encode()
    listed = {name: {"sha256": file_sha256(data), "bytes": len(data)} for name, data in sorted(files.items())}
    contents = {"format": FORMAT, "version": VERSION, "campaign": store.manifest()["campaign_id"], "files": listed}
    files[CONTENTS] = (json.dumps(contents, indent=1, sort_keys=True) + "\n").encode()
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        atomic_write(target, gzip.compress(_tar(files), mtime=0))
    except OSError as error:
        raise storage_error(target, error) from None
    return {name: len(data) for name, data in sorted(files.items())}


def _campaign(store: CampaignStore) -> dict[str, bytes]:
    manifest = store.manifest()
    if "files" not in manifest or tidy.file_in(store.folder) is None:
        raise StoreError(f"{store.folder} has no table yet; resume the campaign first.")
    try:
        table, single = tidy.read(store.folder), handshake_table.read(store.folder)
        runs = kept_runs.available(store.folder, manifest["files"])
        again = repeated_runs.files(store)
    except (OSError, ValueError) as error:
        raise StoreError(f"{store.folder} is damaged: {error}") from None
    if not runs:
        raise StoreError(
            f"{store.folder} lacks files of its runs: an archive without raw data is none. Export it with its runs."
        )
    for name, data in runs.items():
        if file_sha256(data) != manifest["files"][name]:
            raise StoreError(
                f"{store.folder / name} is not the file the manifest lists; 'pqcmav bench verify' says more."
            )
    found = {f"campaign/{name}": data for name, data in {**runs, **again}.items()}
    for name in (MANIFEST, STATE):  # an exported campaign has no state
        if (path := store.folder / name).is_file():
            found[f"campaign/{name}"] = path.read_bytes()
    found[f"campaign/{tidy.CSV}"] = str(table.to_csv(index=False, lineterminator="\n")).encode()
    if len(single):
        found[f"campaign/{handshake_table.CSV}"] = handshake_table.text(single).encode()
    if tidy.has_parquet():
        found[f"campaign/{tidy.PARQUET}"] = tidy.parquet(table)
    return found


def _recordings(paths: Sequence[Path]) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    for path in paths:
        name = f"recordings/{path.name}"
        if name in found:
            raise StoreError(f"Two recordings are called {path.name}; rename one.")
        try:
            found[name] = path.read_bytes()
        except OSError as error:
            raise StoreError(f"{path} cannot be read: {error.strerror or error}.") from None
        traces = traces_parquet(path)
        if traces:
            found[f"recordings/traces/{path.stem}.parquet"] = traces
    return found


def _folders(beside: Mapping[str, Path]) -> dict[str, bytes]:
    try:
        return {
            f"{name}/{path.relative_to(folder).as_posix()}": path.read_bytes()
            for name, folder in beside.items()
            for path in sorted(folder.rglob("*"))
            if path.is_file()
        }
    except OSError as error:
        raise StoreError(f"{error.filename} cannot be read: {error.strerror or error}.") from None


def _tar(files: Mapping[str, bytes]) -> bytes:
    """In the order of the names, without owner and time."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for name, data in sorted(files.items()):
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(data), 0o644
            tar.addfile(entry, io.BytesIO(data))
    return buffer.getvalue()


class _Entry(tarfile.TarInfo):
    """tarfile reads what stands before an entry at once, however large it claims to be."""

    def __setattr__(self, name: str, value: Any) -> None:
        # The fields are public and set in this order; the methods that read a block are other ones in each Python.
        super().__setattr__(name, value)
        if name == "type" and not self.isreg() and self.size > _MOST_HEADER_BYTES:
            raise ValueError(f"a header of {self.size:,} bytes")


class _Bounded:
    """A stream that ends in a ValueError when more comes out of it than an archive of its size holds."""

    def __init__(self, stream: gzip.GzipFile, most_bytes: int) -> None:
        self._stream, self._left = stream, most_bytes

    def read(self, size: int) -> bytes:
        """As a file's."""
        data = self._stream.read(size)
        self._left -= len(data)
        if self._left < 0:
            raise ValueError("it would unpack to far more than an archive of its size holds")
        return data


def check(path: Path, into: Path) -> list[str]:
    """What is wrong with an archive, one sentence each. Raises StoreError if it is none.

    Its files are written below `into`, an empty folder of the caller's.
    """
    found: dict[str, tuple[str, int]] = {}
    contents: Any = None
    try:
        with (
            path.open("rb") as file,
            gzip.GzipFile(fileobj=file) as unpacked,
            tarfile.open(
                fileobj=cast("Any", _Bounded(unpacked, packed.most_of(path.stat().st_size))),
                mode="r|",
                tarinfo=_Entry,
            ) as tar,
        ):
            for entry in tar:
                try:
                    safe_open.below(Path("archive"), entry.name)
                except ValueError as error:
                    return [f"{error}."]
                if not entry.isfile():
                    return [f"{entry.name} is no plain file."]
                if entry.name in found:
                    return [f"{entry.name} is there twice."]
                stream = tar.extractfile(entry)
                assert stream is not None
                if entry.name == CONTENTS:
                    if entry.size > _MOST_CONTENTS_BYTES:
                        return [f"{CONTENTS} has {entry.size} bytes, which no archive of this kind needs."]
                    contents = json.loads(stream.read())
                    continue
                digest, target = hashlib.sha256(), into / entry.name
                target.parent.mkdir(parents=True, exist_ok=True)
                with target.open("wb") as copy:
                    while block := stream.read(1 << 20):
                        digest.update(block)
                        copy.write(block)
                found[entry.name] = (digest.hexdigest(), entry.size)
    except (OSError, tarfile.TarError, EOFError, ValueError) as error:
        raise StoreError(f"{path} is no archive of a campaign, or damaged: {error}") from None
    if (
        not isinstance(contents, dict)
        or contents.get("format") != FORMAT
        or not isinstance(contents.get("files"), dict)
    ):
        raise StoreError(f"{path} is no archive of a campaign: its {CONTENTS} says so nowhere.")
    return list(_differences(contents["files"], found))


def _differences(listed: Mapping[str, Any], found: Mapping[str, tuple[str, int]]) -> Iterator[str]:
    for name in sorted(set(listed) | set(found)):
        if name not in found:
            yield f"{name} is listed, but not in the archive."
        elif name not in listed:
            yield f"{name} is in the archive, but not listed."
        elif not isinstance(listed[name], dict) or found[name] != (
            listed[name].get("sha256"),
            listed[name].get("bytes"),
        ):
            yield f"{name} is not the file that was archived."
