# SPDX-License-Identifier: Apache-2.0
"""Generates and checks the fixed test vectors: `python src/pqc_mav_wirespec/test/vectors.py generate|check`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import vectors_compact
import vectors_data
import vectors_handshake
import vectors_line
import vectors_mavlink
import vectors_ratchet
import vectors_transport
from vectorfile import VectorFile

from pqc_mav_wirespec.errors import LibraryError, MalformedError, WireError
from pqc_mav_wirespec.oqs_library import library_version, offers
from pqc_mav_wirespec.suites import find_suite

ENDING = ".txt"
CHECKERS: dict[str, Callable[[VectorFile], None]] = {
    "handshake": vectors_handshake.check,
    "suites": vectors_data.check_suites,
    "data": vectors_data.check_data,
    "control": vectors_data.check_control,
    "receive": vectors_data.check_receive,
    "bundles": vectors_compact.check_bundles,
    "compact": vectors_compact.check_compact,
    "line": vectors_line.check_line,
    "mavlink": vectors_mavlink.check_mavlink,
    "ratchets": vectors_ratchet.check_ratchets,
    "datagrams": vectors_transport.check_datagrams,
    "acks": vectors_transport.check_acks,
    "retry": vectors_transport.check_retry,
    "rejects": vectors_transport.check_rejects,
    "proofs": vectors_transport.check_proofs,
}


def generate_all(seed: bytes) -> Iterator[VectorFile]:
    """Every vector file; the same seed, liboqs and processor give the same bytes."""
    yield vectors_data.generate_suites()
    yield vectors_data.generate_data(seed)
    yield vectors_data.generate_control(seed)
    yield vectors_data.generate_receive(seed)
    yield vectors_compact.generate_compact(seed)
    yield vectors_compact.generate_receive(seed)
    yield vectors_compact.generate_bundles(seed)
    yield vectors_mavlink.generate_mavlink(seed)
    yield vectors_line.generate_line(seed)
    yield vectors_ratchet.generate_ratchets(seed)
    yield vectors_transport.generate_datagrams(seed)
    yield vectors_transport.generate_acks(seed)
    yield vectors_transport.generate_retry(seed)
    yield vectors_transport.generate_rejects(seed)
    yield vectors_transport.generate_proofs(seed)
    for case in vectors_handshake.CASES:
        if offers(find_suite(case.suite)):
            yield vectors_handshake.generate(case, seed)
        else:
            print(f"left out: {case.name}, which liboqs {library_version()} cannot compute", file=sys.stderr)


def check_file(path: Path) -> VectorFile:
    """Checks one file. Raises MalformedError or another WireError that begins with the file's name."""
    try:
        file = VectorFile.read(path)
        kind = file["vector"].text("kind")
        if kind not in CHECKERS:
            raise MalformedError(f"[vector] kind {kind} is none of {', '.join(CHECKERS)}")
        CHECKERS[kind](file)
    except WireError as error:
        raise MalformedError(f"{path.name}: {error}") from error
    return file


def _generate(folder: Path, seed: str) -> int:
    folder.mkdir(parents=True, exist_ok=True)
    total = 0
    for file in generate_all(seed.encode("utf-8")):
        path = folder / f"{file['vector'].text('name')}{ENDING}"
        path.write_text(file.render(), "ascii")
        total += path.stat().st_size
    print(f"wrote {total} bytes of vectors to {folder}")
    return 0


def _check(folder: Path) -> int:
    paths = sorted(folder.glob(f"*{ENDING}"))
    failures = lacking = 0
    for path in paths:
        try:
            check_file(path)
        except WireError as error:
            unknown = isinstance(error.__cause__, LibraryError)
            failures, lacking = failures + (not unknown), lacking + unknown
            print(f"{'not checked:' if unknown else 'FAIL'} {error}", file=sys.stderr)
    if not paths:
        print(f"there are no vectors in {folder}", file=sys.stderr)
        return 1
    print(f"{len(paths) - failures - lacking} of {len(paths)} vector files verify")
    return 1 if failures else 0


def main(arguments: list[str] | None = None) -> int:
    """The command line; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    generate = commands.add_parser("generate", help="write every vector file")
    generate.add_argument("--seed", required=True, help="any text; the same text gives the same vectors")
    generate.add_argument("--out", type=Path, required=True, help="folder to write to")
    check = commands.add_parser("check", help="recompute everything that follows from the recorded secrets")
    check.add_argument("folder", type=Path, help="folder with vector files")
    options = parser.parse_args(arguments)
    try:
        return _generate(options.out, options.seed) if options.command == "generate" else _check(options.folder)
    except WireError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    raise SystemExit(main())
