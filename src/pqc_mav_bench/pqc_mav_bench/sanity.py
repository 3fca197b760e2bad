# SPDX-License-Identifier: Apache-2.0
"""Sanity checks of one run: named findings, each one sentence. Pure, so that `verify` repeats them on stored files."""

import math
from collections.abc import Callable, Iterator

from pqc_mav_bench.collectors.counters import balanced
from pqc_mav_bench.schema.run import Finding, RunMetrics, Severity

HANDSHAKE_LIMIT_MS = 45_000.0
LATENCY_LIMIT_MS = 10_000.0
CLOCKS_APART_S = 1.0
MACHINE_BUSY = "machine_busy"
BUSY_PERCENT = 30.0  # of a machine's processor time that other work may take
BENCH_BUSY = "bench_busy"
OWN_PERCENT = 10.0  # of one core that controller or agent, with their collectors, may take (docs/analysis-plan.md)
EXTERNAL = "external"
# Counters come once a second, and a run has two readings of each proxy.
READINGS_APART_S = 2.5
FEWEST_APART = 20
PACE_TOLERANCE = 0.05  # share of the packets asked for that a generator may leave unsent
# The engine's identifiers of handshakes that fail because somebody is not who he claims to be.
AUTH_ERRORS = ("unknown_drone", "bad_gate", "bad_signature", "bad_drone_signature", "bad_confirm", "weak_key")
DATA_DROPS = ("drop_malformed", "drop_unknown", "drop_seq_old", "drop_replay", "drop_auth_fail", "drop_decrypt_fail")

Check = Callable[[RunMetrics], Iterator[Finding]]


def _finding(name: str, message: str, *fields: str, severity: Severity = Severity.ERROR) -> Finding:
    return Finding(name=name, severity=severity, message=message, fields=list(fields))


def _warning(name: str, message: str, *fields: str) -> Finding:
    return _finding(name, message, *fields, severity=Severity.WARNING)


def handshake_timeout(run: RunMetrics) -> Iterator[Finding]:
    """The handshake ran into its limit of 45 s."""
    total = run.handshake.handshake_ms
    if run.handshake.timeout or (total is not None and total >= HANDSHAKE_LIMIT_MS):
        yield _finding(
            "handshake_timeout",
            f"The handshake did not finish within {HANDSHAKE_LIMIT_MS / 1000:g} s.",
            "handshake.timeout",
        )


def handshake_auth_fail(run: RunMetrics) -> Iterator[Finding]:
    """A signature or the PSK was refused."""
    error = run.handshake.error or ""
    if error in AUTH_ERRORS:
        yield _finding("handshake_auth_fail", f"The handshake failed to authenticate ({error}).", "handshake.error")


def handshake_missing(run: RunMetrics) -> Iterator[Finding]:
    """A suite counts as measured, but nobody reported its handshake."""
    if run.lifecycle.success and run.handshake.handshake_ms is None:
        yield _finding(
            "handshake_missing",
            "No report of this suite's handshake came from the drone's proxy.",
            "handshake.handshake_ms",
        )


def side_missing(run: RunMetrics) -> Iterator[Finding]:
    """The ground's measurement is not there."""
    if run.lifecycle.success and run.data_plane.gcs_enc_rx_packets is None:
        yield _finding(
            "gcs_side_missing", "The agent's measurement of this run is missing.", "data_plane.gcs_enc_rx_packets"
        )


def mavlink_no_messages(run: RunMetrics) -> Iterator[Finding]:
    """MAVLink was sent but did not arrive, one way or both."""
    if not run.lifecycle.success or run.workload.workload not in ("mavlink", EXTERNAL):
        return
    for way, words, who in (
        ("down", "from the drone", "Does the autopilot send to the port of the drone's proxy?"),
        ("up", "from the ground", "Does the ground software listen at the port that the ground's proxy sends to?"),
    ):
        if not run.value(f"mavlink_integrity.received_{way}"):
            ask = f" {who}" if run.workload.workload == EXTERNAL else ""
            yield _finding(
                "mavlink_no_messages", f"No MAVLink message {words} arrived.{ask}", f"mavlink_integrity.received_{way}"
            )


def counters_disagree(run: RunMetrics) -> Iterator[Finding]:
    """What one proxy took and the other gave out or counted as lost are as many, but for what passed between two
    readings."""
    if not run.lifecycle.success or run.workload.workload != EXTERNAL:
        return
    for way, sender in (("down", run.mavproxy_drone), ("up", run.mavproxy_gcs)):
        expected, sent, rate = run.value(f"mavlink_integrity.expected_{way}"), sender.sent, sender.sent_per_s
        if expected is None or sent is None:
            continue
        if abs(expected - sent) > FEWEST_APART + READINGS_APART_S * (rate or 0.0):
            yield _finding(
                "counters_disagree",
                f"One proxy took {sent} datagrams, and the other gave out or counted as lost {expected}: some have no "
                "counter (is the link shaped, or bundled?).",
                f"mavlink_integrity.expected_{way}",
            )


def mavlink_latency_invalid(run: RunMetrics) -> Iterator[Finding]:
    """Latencies that are not there, below zero or absurd."""
    if not run.lifecycle.success:
        return
    latency = run.latency_jitter
    if run.workload.workload == EXTERNAL:
        if latency.engine_rtt_ms is None:
            yield _finding("mavlink_latency_invalid", "No round trip was measured.", "latency_jitter.engine_rtt_ms")
    elif not latency.rtt_count:
        yield _finding("mavlink_latency_invalid", "No round trip was measured.", "latency_jitter.rtt_count")
    slack = (latency.owd_uncertainty_ms or 0.0) + 1e-3
    for name in ("rtt_p50_ms", "rtt_max_ms", "owd_down_p50_ms", "owd_down_max_ms", "owd_up_p50_ms", "owd_up_max_ms"):
        value = getattr(latency, name)
        if value is not None and not -slack <= value <= LATENCY_LIMIT_MS:
            words = "below zero" if value < 0 else f"above {LATENCY_LIMIT_MS / 1000:g} s"
            yield _finding("mavlink_latency_invalid", f"{name} is {value:.3f} ms, {words}.", f"latency_jitter.{name}")


def data_plane_no_traffic(run: RunMetrics) -> Iterator[Finding]:
    """The tunnel delivered nothing at either end."""
    plane = run.data_plane
    if run.lifecycle.success and not (plane.delivered or 0) + (plane.gcs_delivered or 0):
        yield _finding("data_plane_no_traffic", "The tunnel delivered nothing at either end.", "data_plane.delivered")


def counters_unbalanced(run: RunMetrics) -> Iterator[Finding]:
    """Received datagrams are not accounted for."""
    for prefix, words in (("", "drone"), ("gcs_", "ground")):
        values = {
            name: getattr(run.data_plane, f"{prefix}{name}")
            for name in ("enc_rx_packets", "delivered", "control", *DATA_DROPS)
        }
        if None not in values.values() and not balanced(values):
            yield _finding(
                "counters_unbalanced",
                f"At the {words}, received datagrams differ from delivered + control + drops.",
                f"data_plane.{prefix}enc_rx_packets",
            )


def unexpected_drops(run: RunMetrics) -> Iterator[Finding]:
    """In a clean run the six drop counters are 0; replays and forged packets are a red flag."""
    for prefix, words in (("", "drone"), ("gcs_", "ground")):
        for name in DATA_DROPS:
            count = getattr(run.data_plane, f"{prefix}{name}")
            if count:
                yield _warning(
                    "unexpected_drops", f"The {words}'s proxy counted {count} in {name}.", f"data_plane.{prefix}{name}"
                )


def sides_disagree(run: RunMetrics) -> Iterator[Finding]:
    """The ends ran different suites or epochs."""
    if run.validation.sides_agree is False:
        yield _finding("sides_disagree", "The two ends report different suites or epochs.", "validation.sides_agree")


def clocks_apart(run: RunMetrics) -> Iterator[Finding]:
    """The machines' wall clocks differ; measurements use monotonic clocks and are not touched by it."""
    apart = run.clock_sync.wall_clock_difference_s
    if apart is not None and abs(apart) > CLOCKS_APART_S:
        yield _warning(
            "clocks_apart",
            f"The two machines' wall clocks are {apart:+.1f} s apart; delays use the synchronised monotonic clocks.",
            "clock_sync.wall_clock_difference_s",
        )


def packets_lost(run: RunMetrics) -> Iterator[Finding]:
    """Something was lost, or more arrived than was sent."""
    lost, sent = run.workload.lost_packets, run.workload.sent_packets
    if lost is None or not sent:
        return
    if lost < 0:
        yield _finding(
            "more_received_than_sent", f"{-lost} packets more arrived than were sent.", "workload.lost_packets"
        )
    elif lost > 0:
        yield _warning("packets_lost", f"{lost} of {sent} packets were lost.", "workload.lost_packets")


def generator_behind(run: RunMetrics) -> Iterator[Finding]:
    """The generator could not keep its pace, so the load was lower than asked for."""
    late, sent = run.workload.late_packets or 0, run.workload.sent_packets or 0
    if late > PACE_TOLERANCE * (sent + late):
        yield _warning(
            "generator_behind",
            f"The generator left out {late} packets because it fell behind.",
            "workload.late_packets",
        )


def _above(run: RunMetrics, name: str, figure: str, limit: float, sentences: tuple[str, str]) -> Iterator[Finding]:
    """A share of processor time at the drone's or the ground's end above a limit; a sentence for each end."""
    for side, sentence in zip(("system_drone", "system_gcs"), sentences, strict=True):
        share = getattr(getattr(run, side), figure)
        if share is not None and share > limit:
            yield _warning(name, sentence.format(share), f"{side}.{figure}")


def machine_busy(run: RunMetrics) -> Iterator[Finding]:
    """Something else ran on a machine: whatever competes lengthens times and loses packets."""
    sentence = "The {}'s machine did something else for {{:.0f}} % of its processor time."
    both = sentence.format("drone"), sentence.format("ground")
    yield from _above(run, MACHINE_BUSY, "foreign_cpu_percent", BUSY_PERCENT, both)


def bench_busy(run: RunMetrics) -> Iterator[Finding]:
    """The benchmark itself took so much that it measured itself."""
    sentence = "The benchmark's own {} took {{:.0f}} % of a core."
    both = sentence.format("controller"), sentence.format("agent")
    yield from _above(run, BENCH_BUSY, "bench_cpu_percent", OWN_PERCENT, both)


def why_again(run: RunMetrics) -> str:
    """Why a good run is to be measured again, as a sentence; "" if it is not."""
    return next((finding.message for finding in run.findings if finding.name in (MACHINE_BUSY, BENCH_BUSY)), "")


def numbers_impossible(run: RunMetrics) -> Iterator[Finding]:
    """Times, sizes and counts below zero, other than clock offsets and lost packets, which are judged elsewhere."""
    for category in (
        "lifecycle",
        "handshake",
        "crypto_primitives",
        "data_plane",
        "system_drone",
        "system_gcs",
        "power_energy",
    ):
        for name, value in getattr(run, category):
            if isinstance(value, (int, float)) and (value < 0 or not math.isfinite(value)):
                yield _finding("number_impossible", f"{category}.{name} is {value}.", f"{category}.{name}")


CHECKS: tuple[Check, ...] = (
    handshake_timeout,
    handshake_auth_fail,
    handshake_missing,
    side_missing,
    mavlink_no_messages,
    counters_disagree,
    mavlink_latency_invalid,
    data_plane_no_traffic,
    counters_unbalanced,
    unexpected_drops,
    sides_disagree,
    clocks_apart,
    packets_lost,
    generator_behind,
    machine_busy,
    numbers_impossible,
    bench_busy,
)
#: Since 2026-11-28. A run that was recorded before says that it was judged by one check fewer.
NEWEST = bench_busy


def check(run: RunMetrics) -> list[Finding]:
    """What every check finds."""
    return [finding for test in CHECKS for finding in test(run)]


def check_again(run: RunMetrics) -> list[Finding]:
    """What the checks find that there were when the run was recorded."""
    before = run.validation.checks == len(CHECKS) - 1
    return [finding for test in CHECKS if not (before and test is NEWEST) for finding in test(run)]


def apply(run: RunMetrics) -> None:
    """Runs all checks and fills category R and `findings`."""
    found = check(run)
    names = {finding.name for finding in found}
    errors = sum(finding.severity == Severity.ERROR.value for finding in found)
    run.findings = found
    verdict = run.validation
    verdict.checks = len(CHECKS)
    verdict.errors = errors
    verdict.warnings = len(found) - errors
    verdict.passed = errors == 0 and bool(run.lifecycle.success)
    verdict.counters_balance = "counters_unbalanced" not in names
    for name in (
        "mavlink_no_messages",
        "mavlink_latency_invalid",
        "data_plane_no_traffic",
        "handshake_timeout",
        "handshake_auth_fail",
    ):
        setattr(verdict, name, name in names)
