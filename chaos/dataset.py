# SPDX-License-Identifier: Apache-2.0
"""`chaos/run dataset`: all recordings that detectors are trained and judged with, several side by side (needs root).

Each part is one `chaos/run record` with a seed of its own. Parts that are there already are not recorded again.
"""

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from children import end_all, spawn
from ways import RATES, UNSEEN_RATES

TRAIN, TEST = "train", "test"
NORMAL_TRAIN_MIN, NORMAL_TEST_MIN = 8.0, 19.0
PROFILES = ("25", "100", "320", "640", "parameters", "ardupilot", "px4")
# 228 minutes that no threshold and no tree has seen, mostly of the slow links that telemetry radios are.
NORMAL_TEST = ("25", "25", "25", "100", "100", "100", "320", "320", "640", "parameters", "ardupilot", "px4")
BENIGN_REPEATS = 3
LONGEST = ("test-normal", "attacks", "unseen", "train-benign", "train-normal", "test-benign")
POLL_S = 0.5


@dataclass(frozen=True)
class Part:
    """One recording: its name, and the options of `record`."""

    name: str
    options: tuple[str, ...]

    @property
    def alone(self) -> bool:
        """Whether nothing may be recorded beside it."""
        return "starved" in self.options


def parts(minutes: float = 1.0, profiles: Sequence[str] = PROFILES) -> list[Part]:
    """All of them, those for training first. `minutes`: scales how long normal traffic is recorded."""
    found = []
    seed = 100

    def add(split: str, what: str, profile: str, *options: str, number: str = "") -> None:
        nonlocal seed
        seed += 1
        given = ("--profiles", profile, "--seed", str(seed), *options)
        found.append(Part(f"{split}-{what}-{profile}{number}", given))

    for profile in profiles:
        add(TRAIN, "attacks", profile, "--attacks", "all")
    for profile in profiles:
        add(TRAIN, "normal", profile, "--minutes", str(NORMAL_TRAIN_MIN * minutes))
        # Fading and cuts differ each time, and what no training has seen of them is called an attack.
        add(TRAIN, "benign", profile, "--attacks", "benign", "--repeats", str(BENIGN_REPEATS))
        add(TRAIN, "benign-starved", profile, "--attacks", "starved", "--repeats", str(BENIGN_REPEATS))
    for index, profile in enumerate(NORMAL_TEST):
        if profile in profiles:
            add(TEST, "normal", profile, "--minutes", str(NORMAL_TEST_MIN * minutes), number=f"-{index}")
    for profile in profiles:
        add(TEST, "attacks", profile, "--attacks", "all", "--rates", ",".join(RATES))
        add(TEST, "unseen", profile, "--attacks", "unseen", "--rates", ",".join(UNSEEN_RATES))
        add(TEST, "benign", profile, "--attacks", "benign")
        add(TEST, "benign-starved", profile, "--attacks", "starved")
    return found


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add this command's options."""
    parser.add_argument("--folder", default="build/detection", help="where the recordings go, as Parquet")
    parser.add_argument("--jobs", type=int, default=14, help="recordings side by side")
    parser.add_argument("--profiles", default=",".join(PROFILES), help="vehicles to record")
    parser.add_argument("--splits", default=f"{TRAIN},{TEST}", help="what to record: for training, for judging")
    parser.add_argument("--minutes", type=float, default=1.0, help="scales how long normal traffic is recorded")


def run(options: argparse.Namespace) -> int:
    """Record what is missing; 0 when all is there, 1 when a part failed, 2 for an unknown split."""
    splits = options.splits.split(",")
    if unknown := [name for name in splits if name not in (TRAIN, TEST)]:
        print(f"dataset: no split {', '.join(unknown)}; there are: {TRAIN}, {TEST}")
        return 2
    folder = Path(options.folder)
    folder.mkdir(parents=True, exist_ok=True)
    asked = parts(options.minutes, options.profiles.split(","))
    asked = [part for part in asked if part.name.partition("-")[0] in splits]
    waiting = [part for part in asked if not _file(folder, part).exists()]
    # The longest first: little else would run beside one that is begun last. Those that are alone come at the end.
    waiting.sort(key=lambda part: (part.alone, next(i for i, each in enumerate(LONGEST) if each in part.name)))
    running: dict[str, tuple[subprocess.Popen[bytes], Part]] = {}
    failed: list[str] = []
    begun = time.monotonic()
    try:
        while waiting or running:
            while waiting and len(running) < (1 if waiting[0].alone else options.jobs):
                part = waiting.pop(0)
                running[part.name] = (_start(folder, part), part)
            time.sleep(POLL_S)
            for name, (process, part) in list(running.items()):
                if process.poll() is None:
                    continue
                del running[name]
                made = _unfinished(folder, part)
                if process.returncode == 0 and made.exists():
                    made.rename(_file(folder, part))
                else:
                    failed.append(name)
                state = "failed" if name in failed else "recorded"
                print(f"{time.monotonic() - begun:6.0f} s  {state} {name}; {len(waiting)} wait", flush=True)
    finally:
        end_all(process for process, _ in running.values())
    if failed:
        print(f"dataset: {', '.join(failed)} failed; see the .log files in {folder}, and run this again.")
    return 1 if failed else 0


def _file(folder: Path, part: Part) -> Path:
    return folder / f"{part.name}.parquet"


def _unfinished(folder: Path, part: Part) -> Path:
    return folder / f"{part.name}.part.parquet"


def _start(folder: Path, part: Part) -> subprocess.Popen[bytes]:
    runner = [sys.executable, str(Path(__file__).with_name("run")), "record"]
    log = os.open(folder / f"{part.name}.log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    try:
        return spawn([*runner, "--file", str(_unfinished(folder, part)), *part.options], stdout=log, stderr=log)
    finally:
        os.close(log)
