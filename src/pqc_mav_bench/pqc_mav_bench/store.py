# SPDX-License-Identifier: Apache-2.0
"""A campaign's folder: manifest, state, metrics of each run, tidy table; nothing in it is ever half-written.

    logs/benchmarks/                            the root
      .controller.lock                          held by the one controller that works below this root
      runs -> <newest campaign>/runs
      <campaign>/
        repeated/                               measurements that were made again (repeated_runs.py)
        campaign.json  state.json               manifest; progress, written after each run
        runs/<scenario>/<suite>/metrics.json    repetition 1; later ones in repetition-02/, ...
        tidy.csv  tidy.parquet

Files are written under another name and renamed, so that a reader, a crash or a full disk never sees half a file.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pqc_mav_bench.canonical import file_sha256, run_sha256, sha256
from pqc_mav_bench.errors import StoreError
from pqc_mav_bench.schedule import Item, Schedule, State
from pqc_mav_bench.schema.run import RunMetrics, SchemaError, parse_run
from pqc_mav_common import packed
from pqc_mav_common.atomic_file import atomic_write

DEFAULT_ROOT = Path("logs/benchmarks")
MANIFEST, STATE, METRICS, RUNS = "campaign.json", "state.json", "metrics.json", "runs"
LOCK = ".controller.lock"


def write_json(path: Path, value: Any) -> None:
    """Raises StoreError; the old file is then untouched."""
    write_text(path, json.dumps(value, indent=1, allow_nan=False) + "\n")


def write_text(path: Path, text: str) -> None:
    """Writes by rename, data on the disk before the name; a .gz file is compressed.

    Raises StoreError; the old file is then untouched.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        atomic_write(path, packed.pack(text.encode(), path))
    except OSError as error:
        raise storage_error(path, error) from None


def storage_error(path: Path, error: OSError) -> StoreError:
    """The sentence for a failed write."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return StoreError(f"The disk is full: {path} could not be written; make room and resume the campaign.")
    return StoreError(f"{path} could not be written: {error.strerror or error}.")


def read_json(path: Path) -> Any:
    """Raises StoreError when the file is missing or no JSON."""
    try:
        return json.loads(packed.read(path))
    except OSError as error:
        raise StoreError(f"{path} cannot be read: {error.strerror or error}.") from None
    except ValueError as error:
        raise StoreError(f"{path} is damaged: {error}.") from None


@contextmanager
def controller_lock(root: Path) -> Iterator[None]:
    """Holds the root for one controller; the kernel gives it back however that ends. Raises StoreError when taken."""
    try:
        root.mkdir(parents=True, exist_ok=True)
        handle = os.open(root / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise storage_error(root / LOCK, error) from None
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            holder = os.pread(handle, 20, 0).decode(errors="replace").strip() or "unknown"
            raise StoreError(
                f"Another controller (process {holder}) works below {root}; wait for it, end it, or give another root."
            ) from None
        with contextlib.suppress(OSError):  # who holds it is only a courtesy; a full disk must not refuse the lock
            os.ftruncate(handle, 0)
            os.pwrite(handle, str(os.getpid()).encode(), 0)
        yield
    finally:
        os.close(handle)


class CampaignStore:
    """One campaign's folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def name(self) -> str:
        """The campaign's id."""
        return self.folder.name

    @classmethod
    def create(cls, root: Path, name: str) -> CampaignStore:
        """A new campaign below `root`. Raises StoreError when the name is taken.

        An empty folder takes no name: a disk that was full, or a kill, leaves one behind.
        """
        folder = root / name
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if any(folder.iterdir()):
                raise FileExistsError
        except FileExistsError:
            raise StoreError(f"{folder} exists already; resume it or choose another name.") from None
        except OSError as error:
            raise storage_error(folder, error) from None
        _point(root / RUNS, folder / RUNS)
        return cls(folder)

    @classmethod
    def open(cls, folder: Path) -> CampaignStore:
        """An existing campaign. Raises StoreError."""
        if not (folder / MANIFEST).is_file():
            raise StoreError(f"{folder} is no campaign: there is no {MANIFEST} in it.")
        return cls(folder)

    def metrics_path(self, item: Item) -> Path:
        """Where the metrics of a run are."""
        folder = self.folder / RUNS / item.scenario / item.suite
        return (folder if item.repetition == 1 else folder / f"repetition-{item.repetition:02d}") / METRICS

    def save_run(self, item: Item, run: RunMetrics) -> str:
        """Signs and writes a run's metrics. Returns the SHA-256. Raises StoreError."""
        return self.sign_and_write(self.metrics_path(item), run)

    @staticmethod
    def sign_and_write(path: Path, run: RunMetrics) -> str:
        """The same, to a place of one's own."""
        document = run.model_dump(mode="json")
        run.integrity.sha256 = document["integrity"]["sha256"] = run_sha256(document)
        write_json(path, document)
        return run.integrity.sha256

    def load_run(self, item: Item) -> RunMetrics:
        """Raises StoreError or SchemaError; the hash is not judged here."""
        path = self.metrics_path(item)
        return parse_run(read_json(path), str(path.relative_to(self.folder)))

    def run_files(self) -> list[Path]:
        """Every metrics file, sorted."""
        return sorted((self.folder / RUNS).glob(f"**/{METRICS}"))

    def intact(self, item: Item) -> bool:
        """Whether the run's file is there, fits the schema and has the hash it claims."""
        try:
            document = read_json(self.metrics_path(item))
            run = parse_run(document)
        except (StoreError, SchemaError):
            return False
        return run.integrity.sha256 == run_sha256(document)

    def save_state(self, schedule: Schedule) -> None:
        """Raises StoreError."""
        write_json(self.folder / STATE, schedule.to_dict())

    def load_schedule(self) -> tuple[Schedule, list[Item]]:
        """The stored schedule, and the completed runs whose files are damaged or missing: they are pending again.

        Raises StoreError.
        """
        data = read_json(self.folder / STATE)
        stored = Schedule.from_dict(data)
        lost = [item for item in stored.items if stored.state(item) is State.COMPLETED and not self.intact(item)]
        return Schedule.from_dict(data, reopen=lost), lost

    def manifest(self) -> dict[str, Any]:
        """Raises StoreError."""
        data = read_json(self.folder / MANIFEST)
        if not isinstance(data, dict):
            raise StoreError(f"{self.folder / MANIFEST} is damaged: it holds no JSON object.")
        return data

    def manifest_intact(self) -> bool:
        """Whether the manifest has the hash it claims. Raises StoreError."""
        manifest = self.manifest()
        return bool(manifest.pop("sha256", None) == sha256(manifest))

    def save_manifest(self, manifest: dict[str, Any]) -> None:
        """Signs it with the SHA-256 of its canonical form. Raises StoreError."""
        content = {key: value for key, value in manifest.items() if key != "sha256"}
        write_json(self.folder / MANIFEST, {**content, "sha256": sha256(content)})

    def file_hashes(self) -> dict[str, str]:
        """SHA-256 of every metrics file's bytes, by path below the folder."""
        return {str(path.relative_to(self.folder)): file_sha256(path.read_bytes()) for path in self.run_files()}


def campaigns(root: Path) -> list[CampaignStore]:
    """Every campaign below `root`, newest first."""
    found = [CampaignStore(path.parent) for path in root.glob(f"*/{MANIFEST}") if not path.parent.is_symlink()]
    return sorted(found, key=lambda store: ((store.folder / MANIFEST).stat().st_mtime, store.name), reverse=True)


def _point(link: Path, target: Path) -> None:
    """Lets `link` point to `target`; something else of that name is left alone."""
    if link.exists() and not link.is_symlink():
        return
    temporary = link.with_name(f".{link.name}.new")
    with contextlib.suppress(OSError):
        temporary.unlink(missing_ok=True)
        temporary.symlink_to(target.relative_to(link.parent))
        temporary.replace(link)
