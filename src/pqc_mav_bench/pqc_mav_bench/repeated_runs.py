# SPDX-License-Identifier: Apache-2.0
"""Measurements that were made again: each is kept beside the campaign's runs, and its manifest has the reason.

    repeated/<scenario>/<suite>/repetition-01-attempt-1.json      as the metrics of a run

A run that was lost with its file is in the list without one. No table has them: a figure is of the last measurement.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from pqc_mav_bench import kept_runs
from pqc_mav_bench.canonical import file_sha256
from pqc_mav_bench.schedule import Item
from pqc_mav_bench.schema.run import RunMetrics
from pqc_mav_bench.store import CampaignStore

FOLDER = LIST = "repeated"
LOST = "Its file was missing or damaged when the campaign was resumed."


@dataclass(frozen=True)
class Repeated:
    """One measurement that was made again; `file` is below the campaign's folder, "" if there is none."""

    scenario: str
    suite: str
    repetition: int
    reason: str
    place: int = -1  # in the plan, from 0
    begun: str = ""
    file: str = ""
    sha256: str = ""  # of the file as it was written

    @property
    def item(self) -> Item:
        """The run."""
        return Item(self.scenario, self.suite, self.repetition)


def listed(manifest: Mapping[str, Any]) -> list[Repeated]:
    """What a manifest lists; nothing in one of before. Raises ValueError if it is damaged."""
    try:
        return [Repeated(**entry) for entry in manifest.get(LIST, [])]
    except TypeError as error:
        raise ValueError(f"the list of repeated runs is damaged: {error}") from None


def keep(store: CampaignStore, item: Item, run: RunMetrics, reason: str) -> None:
    """Keeps a measurement that is made again. Raises StoreError."""
    before = sum(each.item == item and bool(each.file) for each in listed(store.manifest()))
    file = f"{FOLDER}/{item.scenario}/{item.suite}/repetition-{item.repetition:02d}-attempt-{before + 1}.json"
    store.sign_and_write(store.folder / file, run)
    content = (store.folder / file).read_bytes()
    context = run.run_context
    place = -1 if context.order_index is None else context.order_index
    add(store, [Repeated(*_of(item), reason, place, context.started_at or "", file, file_sha256(content))])


def lose(store: CampaignStore, items: Iterable[Item]) -> None:
    """Lists runs whose files are gone. Raises StoreError."""
    add(store, [Repeated(*_of(item), LOST) for item in items])


def add(store: CampaignStore, more: list[Repeated]) -> None:
    """Lists them after those that are there. Raises StoreError."""
    if more:
        manifest = store.manifest()
        store.save_manifest({**manifest, LIST: [*manifest.get(LIST, []), *map(asdict, more)]})


def files(store: CampaignStore) -> dict[str, bytes]:
    """The files of those in the manifest, from a folder of either form. Raises OSError, ValueError."""
    out = {}
    for each in listed(store.manifest()):
        if each.file:
            content = out[each.file] = kept_runs.content(store.folder, each.file)
            if file_sha256(content) != each.sha256:
                raise ValueError(f"{each.file} is not the file the manifest lists")
    return out


def _of(item: Item) -> tuple[str, str, int]:
    return item.scenario, item.suite, item.repetition
