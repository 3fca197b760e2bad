# SPDX-License-Identifier: Apache-2.0
"""`chaos/run soak --minutes N`: traffic both ways with a rekey every few seconds; does anything grow or get lost?"""

from __future__ import annotations

import argparse
import csv
import io
import itertools
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import pqc_mav_tunnel
import tables
from ends import End
from pair import on_loopback
from traffic import TrafficProcess, total

from pqc_mav_common import packed
from pqc_mav_common.process_figures import descriptors_of, threads_of

# Every KEM, every signature and every AEAD, so that one round touches all code there is.
SUITES = (
    "cs-mlkem512-aesgcm-mldsa44",
    "cs-hqc128-ascon128a-falcon512",
    "cs-classicmceliece348864-chacha20poly1305-sphincs128s",
    "cs-mlkem768-chacha20poly1305-mldsa65",
    "cs-hqc192-aesgcm-mldsa65",
    "cs-classicmceliece460896-ascon128a-sphincs192s",
    "cs-mlkem1024-ascon128a-falcon1024",
    "cs-hqc256-chacha20poly1305-mldsa87",
    "cs-classicmceliece8192128-aesgcm-sphincs256s",
)
GROWTH_LIMIT_KIB = 1024
# The allocator's arenas fill up for some rounds: which of the gcs' threads makes the largest keys changes each time.
WARM_UP = 5 * len(SUITES)
_TABLE_ROWS = 10
_REKEY_LIMIT_S = 60.0


@dataclass(frozen=True)
class Sample:
    """One line of the CSV. Counts since the start; the gap since the sample before; memory in KiB."""

    second: float
    suite: str
    rekey_ok: bool
    rekey_ms: float
    sent: int
    received: int
    duplicates: int
    longest_gap_ms: float
    late_sends: int
    rss_drone_kib: int
    rss_gcs_kib: int
    fds_drone: int
    fds_gcs: int
    threads_drone: int
    threads_gcs: int


def growth(values: Sequence[float], warm_up: int) -> float | None:
    """Return by how much the highest of the last third exceeds that of the first third after the warm-up.

    The highest, because the allocator gives back and takes again: the tops show what is kept for good.
    None when fewer than nine values are left: too short to tell growth from noise.
    """
    judged = values[warm_up:]
    third = len(judged) // 3
    if third < 3:
        return None
    return max(judged[-third:]) - max(judged[:third])


def judge(samples: Sequence[Sample], last: dict[str, Any], warm_up: int = WARM_UP) -> list[str]:
    """Return what is wrong, in words. `last` are the traffic's final counts; the first samples are warm-up."""
    found = []
    lost = total(last, "sent") - total(last, "received")
    if total(last, "sent") == 0:
        found.append("nothing was sent")
    if lost or total(last, "duplicates") or last["corrupted"] or last["misdelivered"]:
        found.append(
            f"{lost} lost, {total(last, 'duplicates')} doubled, {last['corrupted']} spoiled, "
            f"{last['misdelivered']} misdelivered"
        )
    failed = sum(not sample.rekey_ok for sample in samples)
    if failed or not samples:
        found.append(f"{failed} of {len(samples)} rekeys failed")
    for end in ("drone", "gcs"):
        more = growth([getattr(s, f"rss_{end}_kib") for s in samples], warm_up)
        if more is not None and more > GROWTH_LIMIT_KIB:
            found.append(f"memory of the {end} grew by {more:.0f} KiB")
        for what in ("fds", "threads"):
            more = growth([getattr(s, f"{what}_{end}") for s in samples], warm_up)
            if more is not None and more > 0:
                found.append(f"{what} of the {end} grew by {more:.0f}")
    return found


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add this command's options."""
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--rate", type=float, default=320.0, help="messages/s each way")
    parser.add_argument("--every", type=float, default=5.0, help="seconds between rekeys")


def run(options: argparse.Namespace) -> int:
    """Soak, print and write; 0 when nothing was lost and nothing grew."""
    if options.minutes <= 0 or options.every <= 0 or options.rate <= 0:
        print("soak: --minutes, --every and --rate must be above 0.")
        return 2
    machine = tables.machine()
    samples, last = soak(options.minutes * 60, options.rate, options.every)
    found = judge(samples, last)
    text = page(samples, last, found, options, machine)
    print("\n" + text)
    if options.output:
        folder = Path(options.output)
        tables.write_page(folder / "soak.md", text)
        path = folder / "soak.csv.gz"
        tables.write_page(path, packed.pack(to_csv(samples).encode(), path))
        tables.write_json(folder / "soak.json", summary(samples, last, found, options, machine))
    return 1 if found else 0


def soak(seconds: float, rate: float, every: float) -> tuple[list[Sample], dict[str, Any]]:
    """Run it; the samples and the final counts."""
    with ExitStack() as stack:
        # the pool is as busy with every round as with the first: each KEM is asked for again
        pair = on_loopback(stack)
        traffic = pair.traffic(rate, rate)
        samples: list[Sample] = []
        begin = time.monotonic()
        for number, suite in enumerate(itertools.cycle(SUITES), start=1):
            due = number * every
            if due >= seconds:
                break
            time.sleep(max(0.0, begin + due - time.monotonic()))
            samples.append(_sample(begin, suite, pair.drone, pair.gcs, traffic))
            _say(samples[-1], len(samples))
        time.sleep(max(0.0, begin + seconds - time.monotonic()))
        return samples, traffic.stop()


def _sample(begin: float, suite: str, drone: End, gcs: End, traffic: TrafficProcess) -> Sample:
    counts = traffic.snapshot()
    figures = {}
    for name, end in (("drone", drone), ("gcs", gcs)):
        figures[f"rss_{name}_kib"] = end.rss_kib()
        figures[f"fds_{name}"] = descriptors_of(end.child.pid)
        figures[f"threads_{name}"] = threads_of(end.child.pid)
    second = time.monotonic() - begin
    answer = drone.begin_rekey(suite, _REKEY_LIMIT_S)(_REKEY_LIMIT_S + 5)
    return Sample(
        second=round(second, 2),
        suite=suite,
        rekey_ok=answer["ok"],
        rekey_ms=round(answer["rekey_ms"], 1),
        sent=total(counts, "sent"),
        received=total(counts, "received"),
        duplicates=total(counts, "duplicates"),
        longest_gap_ms=round(max(s["longest_gap_ns"] for s in counts["streams"]) / 1e6, 1),
        late_sends=counts["late"],
        **figures,
    )


def _say(sample: Sample, number: int) -> None:
    on_the_way = sample.sent - sample.received
    how = "ok" if sample.rekey_ok else "FAILED"
    text = f"{sample.second:8.0f} s  rekey {number}: {how} {sample.rekey_ms:.0f} ms, {sample.suite};"
    text += f" sent {sample.sent}, not yet there {on_the_way}, longest gap {sample.longest_gap_ms} ms,"
    print(f"{text} RSS {sample.rss_drone_kib} / {sample.rss_gcs_kib} KiB", flush=True)


def summary(
    samples: Sequence[Sample], last: dict[str, Any], found: list[str], options: argparse.Namespace, machine: str
) -> dict[str, Any]:
    """The figures of the page; growth in KiB, descriptors and threads, None when too short to judge."""
    columns = [f"{what}_{end}" for what in ("rss", "fds", "threads") for end in ("drone", "gcs")]
    names = {column: f"{column}_kib" if column.startswith("rss") else column for column in columns}
    return {
        "machine": machine,
        "minutes": options.minutes,
        "rate": options.rate,
        "rekey_every_s": options.every,
        "suites": list(SUITES),
        "rekeys": len(samples),
        "rekeys_failed": sum(not sample.rekey_ok for sample in samples),
        "traffic": last,
        "growth": {
            column: growth([getattr(sample, name) for sample in samples], WARM_UP) for column, name in names.items()
        },
        "problems": found,
    }


def to_csv(samples: Sequence[Sample]) -> str:
    """All samples with a head line."""
    out = io.StringIO()
    writer = csv.DictWriter(out, [each.name for each in fields(Sample)], lineterminator="\n")
    writer.writeheader()
    writer.writerows(asdict(sample) for sample in samples)
    return out.getvalue()


def page(
    samples: Sequence[Sample], last: dict[str, Any], found: list[str], options: argparse.Namespace, machine: str
) -> str:
    """The results page, with at most a dozen of the samples."""
    sent, received = total(last, "sent"), total(last, "received")
    rekeys = sum(sample.rekey_ok for sample in samples)
    gaps = [sample.longest_gap_ms for sample in samples[1:]]
    text = "# Soak\n\nWritten by `make soak MINUTES=n`. Two engine processes on loopback, messages of MAVLink's sizes "
    text += (
        f"both ways; a rekey every {options.every:g} s through {len(SUITES)} suites that use every KEM, signature and "
    )
    text += "AEAD. "
    text += f"Memory is judged after the first {WARM_UP // len(SUITES)} rounds, in which the allocator fills up. "
    text += f"All samples are in soak.csv.gz.\n\n*{machine}*\n\n"
    text += (
        f"{options.minutes:g} minutes, {options.rate:g} messages/s each way, {rekeys} of {len(samples)} rekeys done: "
    )
    text += f"{sent:,} messages sent, **{sent - received} lost, {total(last, 'duplicates')} doubled, "
    text += f"{last['corrupted']} spoiled**, longest gap {max(gaps, default=0):.1f} ms. "
    for end in ("drone", "gcs"):
        more = growth([getattr(s, f"rss_{end}_kib") for s in samples], WARM_UP)
        text += f"Memory of the {end}: " + ("too short to judge. " if more is None else f"{more:+.0f} KiB. ")
    text += f"Verdict: **{'ok' if not found else 'FAILED: ' + '; '.join(found)}**.\n\n"
    step = max(1, -(-len(samples) // _TABLE_ROWS))
    shown = [*samples[:-1:step], samples[-1]] if samples else []
    head = ("second", "suite", "rekey ms", "sent", "longest gap ms", "RSS KiB drone / gcs", "descriptors", "threads")
    return text + tables.markdown(
        head,
        [
            (
                f"{s.second:.0f}", pqc_mav_tunnel.find_suite(s.suite).short_code,
                f"{s.rekey_ms:.0f}" if s.rekey_ok else "FAILED", s.sent, s.longest_gap_ms,
                f"{s.rss_drone_kib} / {s.rss_gcs_kib}", f"{s.fds_drone} / {s.fds_gcs}",
                f"{s.threads_drone} / {s.threads_gcs}",
            )
            for s in shown
        ],
    )  # fmt: skip
