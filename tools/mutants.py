#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Change code in small ways, and see whether its tests notice.

    tools/run python tools/mutants.py [--packages NAME,...] [--files PART,...] [--sample N] [--seed N] [--record]

`tools/mutants.csv` names files and the tests of each. Of the changes that `mutations.py` knows for a file, so many are
drawn by lot; each is made in a copy of the workspace under build-mutants, where only that file's tests run. A change is
killed if they fail, or take much longer than without it. Those in `tools/mutants_equal.csv` change nothing that anyone
could observe, for the reason given there: they are counted, and not tried. `--record` writes bench/results/mutants.md.
A script of our own, since mutmut changes no constants of a module, and no C++.
"""

import argparse
import contextlib
import csv
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from markdown_table import table
from mutations import Mutation, of_file

ROOT = Path(__file__).resolve().parent.parent
COPY = ROOT / "build-mutants" / "tree"
CPP_BUILD = ROOT / "build-mutants" / "engine"
PAGE = ROOT / "bench/results/mutants.md"
TARGETS, EQUAL = ROOT / "tools/mutants.csv", ROOT / "tools/mutants_equal.csv"
SAMPLE, SEED = 8, 39
GOAL = 90  # % of those tried
COMPILE_S = 1800  # the whole engine, where the machine is busy
SPARE_S = 5.0  # beyond three times what the tests take unchanged
KILLED, SURVIVED, BROKEN, EQUIVALENT = "killed", "survived", "not compiled", "equal"
FATES = (KILLED, SURVIVED, BROKEN, EQUIVALENT)


class MutantsError(RuntimeError):
    """What keeps mutants from being tried, in one line."""


@dataclass(frozen=True)
class Target:
    """A file and its tests, by paths in the workspace."""

    file: str
    tests: tuple[str, ...]

    @property
    def package(self) -> str:
        """The package it belongs to."""
        return Path(self.file).parts[1]

    @property
    def is_cpp(self) -> bool:
        """Whether it has to be compiled."""
        return not self.file.endswith(".py")


def targets(packages: Sequence[str] = (), parts: Sequence[str] = (), table_: Path = TARGETS) -> list[Target]:
    """Those of the table that are asked for; all of them without a wish. Raises MutantsError where there is none."""
    with table_.open(newline="") as file:
        found = [Target(row["file"], tuple(row["tests"].split())) for row in csv.DictReader(file)]
    chosen = [
        each
        for each in found
        if (not packages or each.package in packages) and (not parts or any(part in each.file for part in parts))
    ]
    if not chosen:
        raise MutantsError(f"no file of {table_.name} is of {' '.join((*packages, *parts)) or 'anything'}")
    return chosen


def equivalents(table_: Path = EQUAL) -> dict[tuple[str, str, str], str]:
    """File, line and what becomes of it -> why nobody could tell."""
    with table_.open(newline="") as file:
        return {(row["file"], row["line"], row["becomes"]): row["why"] for row in csv.DictReader(file)}


def drawn(target: Target, sample: int, seed: int, root: Path = ROOT) -> list[Mutation]:
    """So many changes of a file, always the same ones for a seed."""
    possible = of_file(root / target.file)
    dice = random.Random(f"{seed} {target.file}")
    return sorted(dice.sample(possible, min(sample, len(possible))))


def run(command: Sequence[str], limit_s: float, env: dict[str, str] | None = None) -> int:
    """The exit code; 124 after so many seconds, with all that the command started gone."""
    process = subprocess.Popen(
        ["nice", "-n", "5", *command],
        cwd=COPY,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        return process.wait(limit_s)
    except subprocess.TimeoutExpired:
        return 124
    finally:
        # The group may be left over where the command itself has ended.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def compile_tests(target: Target) -> int:
    """Build the programs of a C++ file's tests; the exit code."""
    names = [Path(test).stem for test in target.tests]
    return run(["cmake", "--build", str(CPP_BUILD), "--target", *names], COMPILE_S)


def run_tests(target: Target, limit_s: float) -> int:
    """Run the tests of a file; 0 if all pass."""
    if target.is_cpp:
        programs = [str(CPP_BUILD / Path(test).stem) for test in target.tests]
        return next((code for each in programs if (code := run([each], limit_s))), 0)
    places = [str(COPY / "src" / target.package), *sys.path]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(each for each in places if each)}
    # Compiled modules are told by their file's time in seconds and size: a mutant could be taken for another.
    env |= {"PYTHONDONTWRITEBYTECODE": "1", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    options = ["-x", "-q", "-p", "no:cacheprovider", "-p", "pytest_timeout"]
    return run([sys.executable, "-m", "pytest", *options, *target.tests], limit_s, env)


def fate_of(target: Target, mutation: Mutation, source: bytes, limit_s: float) -> str:
    """What becomes of one change."""
    place = COPY / target.file
    place.write_bytes(mutation.applied(source))
    try:
        if target.is_cpp and compile_tests(target):
            return BROKEN
        return KILLED if run_tests(target, limit_s) else SURVIVED
    finally:
        place.write_bytes(source)


def copy_workspace(root: Path = ROOT, copy: Path = COPY) -> None:
    """A copy of what git knows or would add; what is built or installed is linked."""
    shutil.rmtree(copy, ignore_errors=True)
    listed = subprocess.run(
        ["git", "ls-files", "-coz", "--exclude-standard"], cwd=root, check=True, capture_output=True, text=True
    )
    for name in filter(None, listed.stdout.split("\0")):
        if (root / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(root / name, copy / name, follow_symlinks=False)
    for name in (".venv", ".deps", "build", "install"):
        if (root / name).exists():
            (copy / name).symlink_to(root / name)


@contextlib.contextmanager
def workspace_copied() -> Iterator[None]:
    """A copy for the while, which is removed. Raises MutantsError, and leaves it alone, if one is there."""
    if COPY.exists():
        raise MutantsError(f"{COPY} is there: mutants are being tried already, or remove it")
    try:
        copy_workspace()
        yield
    finally:
        shutil.rmtree(COPY, ignore_errors=True)


def configure() -> None:
    """Prepare the engine's own build, without optimisation. Raises MutantsError."""
    on = ("BUILD_TESTING", "PQCMAV_ON_DEMAND", "CMAKE_DISABLE_PRECOMPILE_HEADERS")
    off = ("PQCMAV_PYTHON", "PQCMAV_MICRO_BENCHMARKS")
    options = ["-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_CXX_FLAGS_DEBUG=-O0"]
    options += [*(f"-D{name}=ON" for name in on), *(f"-D{name}=OFF" for name in off)]
    options += ["-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"] if shutil.which("ccache") else []
    if run(["cmake", "-S", "src/pqc_mav_tunnel", "-B", str(CPP_BUILD), "-G", "Ninja", *options], COMPILE_S):
        raise MutantsError(f"the engine is not configured: try 'cmake -S {COPY}/src/pqc_mav_tunnel -B {CPP_BUILD}'")


def try_file(target: Target, sample: int, seed: int, known: dict[tuple[str, str, str], str]) -> list[tuple[str, str]]:
    """The fate of each change that was drawn, and the change in words. Raises MutantsError if tests fail unchanged."""
    source = (COPY / target.file).read_bytes()
    if target.is_cpp and compile_tests(target):
        raise MutantsError(f"{target.file}: its tests do not compile")
    began = time.monotonic()
    if run_tests(target, COMPILE_S):
        raise MutantsError(f"{target.file}: its tests fail without any change: {' '.join(target.tests)}")
    limit_s = SPARE_S + 3 * (time.monotonic() - began)
    found = []
    for mutation in drawn(target, sample, seed, COPY):
        before, after = mutation.words(source)
        equal = (target.file, before, after) in known
        fate = EQUIVALENT if equal else fate_of(target, mutation, source, limit_s)
        found.append((fate, f"{target.file}:{mutation.line(source)}: {before}  ->  {after}"))
        if fate == SURVIVED:
            print(f"  survived  {found[-1][1]}", flush=True)
    counts = Counter(fate for fate, _ in found)
    print(f"{target.file}: {', '.join(f'{counts[fate]} {fate}' for fate in FATES if counts[fate])}", flush=True)
    return found


def score(counts: Counter[str]) -> str:
    """Killed of those tried [%]."""
    tried = counts[KILLED] + counts[SURVIVED]
    return f"{100 * counts[KILLED] / tried:.0f} %" if tried else "-"


def report(fates: Iterable[tuple[str, str]]) -> list[str]:
    """The table: a row for each package, and all of them together. `fates`: pairs of package and fate."""
    counts: dict[str, Counter[str]] = {}
    for package, fate in fates:
        counts.setdefault(package, Counter())[fate] += 1
    counts["all"] = sum(counts.values(), Counter())
    rows = [
        [name, str(each[KILLED] + each[SURVIVED]), *(str(each[fate]) for fate in FATES), score(each)]
        for name, each in counts.items()
    ]
    lines: list[str] = table(["package", "tried", *FATES, "score"], rows)
    return lines


def commit_now() -> str:
    """What the workspace is at, with + if there are changes besides."""
    git = ["git", "describe", "--always", "--exclude=*", "--abbrev=8", "--dirty=+"]
    return subprocess.run(git, cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()


def page(rows: list[str], survivors: Sequence[str], sample: int, seed: int, commit: str) -> str:
    """The committed page; of survivors only their files are named."""
    places = Counter("/".join(Path(each.split(":")[0]).parts[-2:]) for each in survivors)
    named = ", ".join(f"{name} {count}" for name, count in sorted(places.items())) or "none"
    return (
        "# Mutants\n\nSmall changes of the code, and whether its own tests notice: of each file in `tools/mutants.csv` "
        f"at most {sample}, drawn with seed {seed}, at commit {commit}, by `make mutants ARGS=--record`. Numbers, "
        "comparisons, and/or/not, +/-/*, and returned constants change; the score is the share of those tried that a "
        f"test noticed, the goal {GOAL} %. Some C++ changes do not compile. Those called equal change nothing that "
        "could be observed; `tools/mutants_equal.csv` says why.\n\n"
        + "\n".join(rows)
        + f"\n\nWhere some survived, and how many: {named}.\n"
    )


def main() -> int:
    """Try what the command line asks for; 1 if too few are killed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    for name, text in {"packages": "only these", "files": "only files whose path has one of these in it"}.items():
        parser.add_argument(f"--{name}", default="", metavar="NAME[,NAME]", help=text)
    parser.add_argument("--sample", type=int, default=SAMPLE, help="of each file, at most (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=SEED, help="which are drawn (default: %(default)s)")
    parser.add_argument("--record", action="store_true", help=f"write {PAGE.relative_to(ROOT)}")
    args = parser.parse_args()
    packages, files = (value.replace(",", " ").split() for value in (args.packages, args.files))
    if args.record and (packages or files):
        parser.error("--record is for all packages")
    try:
        chosen = targets(packages, files)
        commit = commit_now()
        with workspace_copied():
            if any(each.is_cpp for each in chosen):
                configure()
            known = equivalents()
            found = [(each, *fate) for each in chosen for fate in try_file(each, args.sample, args.seed, known)]
    except MutantsError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    rows = report((target.package, fate) for target, fate, _ in found)
    print("\n".join(["", *rows]))
    if args.record:
        survivors = [words for _, fate, words in found if fate == SURVIVED]
        PAGE.write_text(page(rows, survivors, args.sample, args.seed, commit))
    counts = Counter(fate for _, fate, _ in found)
    return 0 if 100 * counts[KILLED] >= GOAL * (counts[KILLED] + counts[SURVIVED]) else 1


if __name__ == "__main__":
    sys.exit(main())
