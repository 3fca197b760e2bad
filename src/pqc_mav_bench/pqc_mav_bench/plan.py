# SPDX-License-Identifier: Apache-2.0
"""From what a user asks for to a campaign that can run: a new one, or one that was interrupted."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path

import pqc_mav_tunnel

from pqc_mav_bench import repeated_runs
from pqc_mav_bench.errors import OptionsError, StoreError
from pqc_mav_bench.manifest import begun
from pqc_mav_bench.options import CampaignOptions, options_from
from pqc_mav_bench.schedule import Schedule, ordered_runs
from pqc_mav_bench.store import STATE, CampaignStore


@dataclass(frozen=True)
class Plan:
    """A campaign that is ready to run."""

    store: CampaignStore
    options: CampaignOptions
    schedule: Schedule


def chosen_suites(options: CampaignOptions) -> list[str]:
    """Ids of the suites to measure. Raises OptionsError for unknown ones."""
    if not options.suites:
        return [suite.id for suite in pqc_mav_tunnel.suites(view=options.view)]
    try:
        found = [pqc_mav_tunnel.find_suite(name).id for name in options.suites]
    except pqc_mav_tunnel.TunnelError as error:
        raise OptionsError(str(error)) from None
    return list(dict.fromkeys(found))


def fresh_schedule(options: CampaignOptions) -> Schedule:
    """Every run of a campaign, pending. Raises OptionsError."""
    items = ordered_runs(
        options.scenarios,
        chosen_suites(options),
        options.repetitions,
        randomise=options.randomise,
        seed=options.seed,
    )
    return Schedule(items, options.attempts)


def new_campaign(root: Path, options: CampaignOptions, versions: Mapping[str, str]) -> Plan:
    """Makes the folder of a new campaign. Raises OptionsError and StoreError."""
    schedule = fresh_schedule(options)
    name = options.name or datetime.now(timezone.utc).strftime("campaign-%Y%m%dT%H%M%SZ")
    store = CampaignStore.create(root, name)
    store.save_manifest(begun(name, options, chosen_suites(options), versions))
    store.save_state(schedule)
    return Plan(store, options, schedule)


def resumed_campaign(folder: Path, log: Callable[[str], None]) -> Plan:
    """Opens an interrupted campaign; completed runs whose files are damaged are measured again, which `log` says.

    Raises OptionsError and StoreError.
    """
    store = CampaignStore.open(folder)
    manifest = store.manifest()
    if "options" not in manifest:
        raise StoreError(f"{folder} is damaged: its manifest holds no options.")
    options = options_from(manifest["options"])
    if "summary" in manifest and not (folder / STATE).is_file():
        raise StoreError(f"{folder} is an exported campaign, of which nothing is left to measure.")
    if (folder / STATE).is_file():
        schedule, lost = store.load_schedule()
    else:  # killed between the two files of a new campaign
        schedule, lost = fresh_schedule(options), []
    for item in lost:
        log(f"{store.metrics_path(item)} is missing or damaged; the run is measured again.")
    manifest["resumed"] = int(manifest.get("resumed", 0)) + 1
    store.save_manifest(manifest)
    repeated_runs.lose(store, lost)
    store.save_state(schedule)  # or a resume that comes to no run leaves the next one to list them again
    return Plan(store, options, schedule)
