# SPDX-License-Identifier: Apache-2.0
"""From what the engines answered to metrics, as prometheus_client has them; nothing is kept between scrapes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from typing import Any

from prometheus_client.metrics_core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    InfoMetricFamily,
    Metric,
)

from pqc_mav_cli.metrics import families as f
from pqc_mav_cli.metrics.engines import NONSENSE, Answer
from pqc_mav_cli.metrics.families import PREFIX, Family
from pqc_mav_cli.metrics.senses import Reading
from pqc_mav_proxy.names import SHAPE_CLASSES, STATES

_WRONG = (KeyError, TypeError, ValueError, AttributeError, IndexError)


class Figures:
    """Collects the samples of one scrape, each metric once however many engines have it."""

    def __init__(self) -> None:
        self._made: dict[Family, Any] = {}

    def add(self, family: Family, labels: Sequence[str], value: Any) -> None:
        """One sample; raises TypeError or ValueError for what is no number. None is left out."""
        if value is not None:
            self._of(family).add_metric(labels, float(value) * family.factor)

    def add_info(self, family: Family, labels: Sequence[str]) -> None:
        """An info metric: its labels say everything."""
        self._of(family).add_metric(labels, {})

    def add_histogram(
        self, family: Family, labels: Sequence[str], ends: Sequence[float], counts: Sequence[int], total: float
    ) -> None:
        """`counts` of each bucket alone, one more than there are upper `ends` [s]; `total` of all values [s]."""
        below = list(accumulate(counts))
        buckets = list(zip([*map(str, ends), "+Inf"], map(float, below), strict=True))
        self._of(family).add_metric(labels, buckets, total)

    def metrics(self) -> Iterable[Metric]:
        """All of them."""
        return self._made.values()

    def take(self, other: Figures) -> None:
        """Adds the samples of `other`, all or none of which an engine has."""
        for family, metric in other._made.items():
            self._of(family).samples.extend(metric.samples)

    def _of(self, family: Family) -> Any:
        made = self._made.get(family)
        if made is None:
            kinds = {
                "counter": CounterMetricFamily, "gauge": GaugeMetricFamily, "info": InfoMetricFamily,
                "histogram": HistogramMetricFamily,
            }  # fmt: skip
            made = kinds[family.kind](PREFIX + family.name, family.text, labels=family.labels)
            self._made[family] = made
        return made


def add_answers(out: Figures, answers: Iterable[Answer]) -> list[tuple[str, str]]:
    """Adds what each engine said. Returns the name of each engine that has no figures, with the reason."""
    failed = []
    for answer in answers:
        failure = answer.failure
        if not failure:
            alone = Figures()  # an answer that cannot be read to its end leaves nothing behind
            try:
                _add_engine(alone, answer)
                out.take(alone)
            except _WRONG:
                failure = NONSENSE
        out.add(f.UP, [answer.engine], 0 if failure else 1)
        if failure:
            failed.append((answer.engine, failure))
    return failed


def add_readings(out: Figures, readings: Iterable[Reading]) -> None:
    """Adds what ROS topics said lately."""
    for reading in readings:
        out.add(f.SENSE_AGE, [reading.namespace, reading.sense], reading.age_s)
        if reading.age_s > f.STALE_S:
            continue
        alone = Figures()
        try:
            _SENSES[reading.sense](alone, reading.namespace, reading.fields)
        except _WRONG:
            continue  # of another version of the message
        out.take(alone)


def _add_threat(out: Figures, where: str, fields: Mapping[str, Any]) -> None:
    out.add(f.THREAT_LEVEL, [where, fields["source"], fields["kind"]], fields["level"])
    out.add(f.THREAT_PROBABILITY, [where, fields["source"]], fields["probability"])


def _add_policy(out: Figures, where: str, fields: Mapping[str, Any]) -> None:
    out.add_info(f.POLICY_INFO, [where, *(fields[name] for name in ("strategy", "mode", "action", "guard"))])
    out.add(f.POLICY_DECISIONS, [where], fields["sequence"])
    if fields["outcome"]:
        out.add(f.POLICY_OUTCOME, [where], fields["outcome_ok"])


def _add_battery(out: Figures, where: str, fields: Mapping[str, Any]) -> None:
    out.add(f.BATTERY_VALID, [where], fields["valid"])
    for name, family in f.BATTERY.items():
        out.add(family, [where], fields[name])


_SENSES = {"threat": _add_threat, "policy": _add_policy, "battery": _add_battery}


def _add_engine(out: Figures, answer: Answer) -> None:
    status, stats = answer.status, answer.stats
    who = [answer.engine, status["role"]]
    out.add_info(f.ENGINE_INFO, [*who, status["gcs_id"], status["version"]])
    out.add(f.UPTIME, who, status["uptime_s"])
    out.add(f.KEY_LIMIT, who, status.get("key_limit_s"))
    out.add(f.DANGERS, who, len(status["dangers"]))
    for name, value in answer.picture["server"].items():
        if name not in _NO_PORT_COUNTERS:
            _add_counter(out, f.PORT_COUNTERS, f.OTHER_PORT, who, name, value)
    if tally := stats.get("handshakes"):
        _add_handshakes(out, who, tally)
    for one in status["tunnels"]:
        _add_status(out, [*who, one["drone_id"]], one)
    for one in answer.picture["stats"]:
        _add_stats(out, [*who, one["drone_id"]], one)
    for one in answer.link["tunnels"]:
        _add_link(out, [*who, one["drone_id"]], one)


def _add_counter(
    out: Figures, table: Mapping[str, tuple[Family, str]], other: Family, who: list[str], name: str, value: Any
) -> None:
    family, label = table.get(name, (other, name))
    out.add(family, [*who, label] if label else who, value)


def _add_handshakes(out: Figures, who: list[str], tally: Mapping[str, Any]) -> None:
    ends = [ms / 1e3 for ms in tally["le_ms"]]
    for kind in f.HANDSHAKE_KINDS:
        one = tally[kind]
        out.add_histogram(f.HANDSHAKE_SECONDS, [*who, kind], ends, one["counts"], one["sum_ms"] / 1e3)
        for reason, count in one["failed"].items():
            out.add(f.HANDSHAKE_ERRORS, [*who, kind, reason], count)


def _add_status(out: Figures, who: list[str], one: Mapping[str, Any]) -> None:
    for state in STATES:
        out.add(f.STATE, [*who, state], state == one["state"])
    if one["session_id"]:
        flags = [str(bool(one[name])).lower() for name in ("hybrid", "drone_signed")]
        out.add_info(f.SESSION_INFO, [*who, one["suite"], *flags])
        out.add(f.KEY_AGE, who, one["key_age_s"])
        out.add(f.SILENCE, who, one["silence_s"])
    out.add(f.KEY_OLD, who, one["key_old"])
    out.add(f.RATCHETS, who, one["ratchets"])
    out.add(f.SHAPE_LIMIT, who, one["shape_kbit"])
    out.add(f.PEER_ALARM, who, one.get("peer_alarm"))
    out.add(f.BLACKLISTED, who, len(one["blacklisted_suites"]))
    for name, family in f.STATUS_COUNTERS.items():
        out.add(family, who, one[name])
    _add_stations(out, who, one)
    for path in one.get("paths", ()):
        where = [*who, path["name"]]
        for state in f.PATH_STATES:
            out.add(f.PATH_STATE, [*where, state], state == path["state"])
        for name, family in f.PATH.items():
            out.add(family, where, path[name])


def _add_stations(out: Figures, who: list[str], one: Mapping[str, Any]) -> None:
    """At a drone its whole list; at a gcs what this one is for the drone."""
    listed = [text.split(" ")[:2] for text in one["stations"]]
    if not listed and not (one["station"] and one["station_role"]):
        return
    for station, part in listed or [(one["station"], one["station_role"])]:
        for each in f.STATION_PARTS:
            out.add(f.STATION, [*who, station, each], each == part)
    out.add(f.STATION_TERM, who, one["term"] or None)  # 0 without a session, which is no change of station


# What `stats` has of a tunnel besides counters.
_NO_COUNTERS = frozenset(
    {"drone_id", "endpoints", "seal_mean_ns", "open_mean_ns", "window_depth", "shape_oldest_ms", *f.SHAPE_COUNTERS}
    | {f"{way}_{what}_per_s" for way in ("tx", "rx") for what in ("packets", "bytes")}
)
_NO_PORT_COUNTERS = frozenset({"refused_network", "refused_share", "drone_ids", "opened"})
# And of an endpoint; a radio's own are told of its link.
_NO_ENDPOINT_COUNTERS = frozenset({"name", "state", "good", "text", "line_errors", "not_mine", "stuck"})


def _add_stats(out: Figures, who: list[str], one: Mapping[str, Any]) -> None:
    for name, value in one.items():
        if name not in _NO_COUNTERS:
            _add_counter(out, f.TUNNEL_COUNTERS, f.OTHER, who, name, value)
    out.add(f.SEAL, who, one["seal_mean_ns"])
    out.add(f.OPEN, who, one["open_mean_ns"])
    for places, count in zip(f.WINDOW_PLACES, one["window_depth"], strict=True):
        out.add(f.WINDOW_DEPTH, [*who, places], count)
    if any(one["shape_taken"]):
        for number, label in enumerate(SHAPE_CLASSES):
            for name, family in f.SHAPE_COUNTERS.items():
                out.add(family, [*who, label], one[name][number])
            out.add(f.SHAPE_OLDEST, [*who, label], one["shape_oldest_ms"][number])
    for endpoint in one["endpoints"]:
        where = [*who, endpoint["name"]]
        out.add(f.ENDPOINT_GOOD, where, endpoint["good"])
        for name in endpoint.keys() - _NO_ENDPOINT_COUNTERS:
            known = f.ENDPOINT_COUNTERS.get(name)
            out.add(known or f.OTHER_ENDPOINT, where if known else [*where, name], endpoint[name])


def _add_link(out: Figures, who: list[str], one: Mapping[str, Any]) -> None:
    for side in ("local", "peer"):
        if one[side] is not None:
            for name, family in f.LINK.items():
                out.add(family, [*who, side], one[side][name])
    for name, family in f.LINK_OF_BOTH.items():
        out.add(family, who, one[name])
    for name, value in (one.get("radio") or {}).items():
        if name in f.RADIO:
            out.add(f.RADIO[name], who, value)
    if one["peer"] is not None:
        for reason, count in one["peer"]["drops"].items():
            out.add(f.PEER_DROPS, [*who, reason], count)
