# SPDX-License-Identifier: Apache-2.0
"""The data sheet of an archived campaign: what a stranger has to know before using the data."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pqc_mav_bench.options import command, options_from

_BESIDE = {
    "links": "campaigns over named links, in their compact form with the file of each run.",
    "primitives": "every KEM, signature and AEAD operation on its own, with its samples.",
}


def data_sheet(manifest: Mapping[str, Any], files: Mapping[str, bytes], recordings: Sequence[Path]) -> str:
    """Markdown, made from the campaign's manifest alone."""
    options, counts, machine = options_from(manifest["options"]), manifest["counts"], manifest["environment"]
    source = manifest.get("source") or {}
    commit = source.get("commit", "not recorded") + (", with changes" if source.get("changed") else "")
    ground = "the same machine" if machine.get("same_host") else "another machine"
    detectors = "emulated by a documented load" if options.emulate_detectors else "real ones"
    work = options.workload
    load = work.words()
    lines = [
        f"# Data sheet: campaign {manifest['campaign_id']}",
        "",
        "## What it is",
        "",
        "Measurements of post-quantum cipher suites through the PQC-MAV tunnel: per run (suite, scenario, "
        "repetition) the times of every handshake at both ends, packets and their delays as percentiles and as exact "
        "counts in classes, load of both machines, clocks and findings.",
        "",
        "## How it was made",
        "",
        f"* {counts['total']} runs: {counts['passed']} passed, {counts['failed']} failed, {counts['pending']} pending. "
        f"Begun {manifest['started_at']}, schema version {manifest['schema_version']}.",
        f"* Suites: {len(manifest['suites'])}; scenarios: {', '.join(options.scenarios)} (detectors: {detectors}); "
        f"{options.repetitions} run(s) of each, {options.handshakes} handshake(s) and {options.duration_s:g} s of "
        f"data in each; {load}; link: {options.link or 'none between the ends'}.",
        f"* Machine: {machine.get('host')} ({machine.get('cpu_model')}, {machine.get('cpu_count')} processors, "
        f"{machine.get('os')}), liboqs {machine.get('liboqs_version')}, OpenSSL {machine.get('openssl_version')}; "
        f"ground: {ground}.",
        f"* Command: `{command(options)}`. Commit: {commit}.",
        "",
        "## What is in it",
        "",
        f"* `campaign/runs/`: {sum(name.startswith('campaign/runs/') for name in files)} files, one for each run, as "
        "they were written; every null says why it is null (`metric_status`).",
        "* `campaign/tidy.csv` and `.parquet`: one row per run; units are in the column names, docs/metrics.csv of the "
        "project explains each. `campaign/handshakes.csv`: one row per handshake.",
        f"* `recordings/`: {len(recordings)} flight recording(s) (MCAP), and every value of theirs with its time in "
        "`traces/` (Parquet)."
        if recordings
        else "* No flight recordings.",
        *(
            f"* `{name}/`: {what}"
            for name, what in _BESIDE.items()
            if any(each.startswith(f"{name}/") for each in files)
        ),
        "* `MANIFEST.json`: SHA-256 of every file. `pqcmav bench verify FILE` compares them.",
        "",
        "## What it is good for, and what not",
        "",
        "* Comparing suites on this machine, with intervals over runs; redoing every table and sentence of the report.",
        "* Not for absolute times on other processors, and not for ranges of a radio: both ends may have shared one "
        "machine, as said above.",
        "* `power_energy` is measured only where `power_source` is a sensor; `model` is computed from the load.",
        "",
        "## Privacy and licence",
        "",
        "No keys, no positions of real vehicles and no names of persons or hosts are in the runs. Check recordings of "
        "your own before publishing them: they hold positions. Apache-2.0, as the project.",
        "",
    ]
    return "\n".join(lines)
