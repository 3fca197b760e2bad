# SPDX-License-Identifier: Apache-2.0
"""Which suite for what: the decision matrix, from measured figures and the rules the documents state."""

from collections.abc import Callable
from dataclasses import dataclass

import pandas as pd

from pqc_mav_bench.analysis.intervals import HIGH, LOW, either, ends, is_ranked, tied_with_the_least
from pqc_mav_bench.analysis.rekey import interval_for
from pqc_mav_bench.analysis.reliability import wilson_percent
from pqc_mav_bench.analysis.standards import is_standard, standards_first

#: A loss above this is the 2025 paper's trigger to lower the tempo of a mission ([endurance-paper] 6.1) [%].
LOSS_LIMIT_PERCENT = 3.0
#: Budget of time-critical control ([rpi4-analysis] 1), of a real-time control loop ([rpi4-analysis] 6.1) and of
#: non-critical telemetry ([rpi4-analysis] 6.2) [ms].
TIME_CRITICAL_MS = 20.0
REALTIME_MS = 50.0
TELEMETRY_MS = 100.0
#: Longest tolerated blackout (PQC-MAV paper, invariant I1) [ms]; a suite whose handshake is longer is no suite for
#: flight.
BLACKOUT_LIMIT_MS = 5000.0
#: Overhead that counts as free when a rekey interval is proposed [%].
PHI_LIMIT_PERCENT = 0.1
#: Shortest interval anyone proposes [s].
SHORTEST_INTERVAL_S = 60.0

#: Short codes of the suites the documents recommend, by use ([rpi5-report] 25, [pqcmav-paper] VI-B).
PUBLISHED = {
    "default": "ML-768-AG-MD-65",
    "stress": "ML-512-AG-FA-512",
}


@dataclass(frozen=True)
class Use:
    """One use of the tunnel and which suites may serve it."""

    name: str
    meaning: str
    accepts: Callable[[pd.DataFrame], pd.Series]


@dataclass(frozen=True)
class Choice:
    """The suite chosen for a use, with what decided; suite '' when none qualifies.

    `tied`: those that qualify and cannot be told apart from it. `unranked`: how many were left out because they have
    too few handshakes. `quicker`: of those that are no standards the shortest one, where it surely is shorter; "" else.
    `as_long`: a stronger suite for which a weaker one would have been chosen, had it surely been shorter; `quicker` is
    then shorter than that.
    """

    use: str
    meaning: str
    suite: str
    level: int
    handshake_ms: float
    candidates: int
    tied: tuple[str, ...] = ()
    unranked: int = 0
    quicker: str = ""
    as_long: str = ""


def _surely(table: pd.DataFrame) -> pd.Series:
    """The upper end of each handshake's interval, or the figure where it has none."""
    return table[HIGH].fillna(table["handshake_ms"]) if HIGH in table.columns else table["handshake_ms"]


def _clean(table: pd.DataFrame) -> pd.Series:
    """Suites whose loss is not known to exceed the limit."""
    return ~(table["loss_percent"] > LOSS_LIMIT_PERCENT)


USES = (
    Use(
        "default",
        "level 3 within the real-time budget",
        lambda t: _clean(t) & (t["nist_level"] == 3) & (_surely(t) < REALTIME_MS),
    ),
    Use(
        "stress",
        "least handshake time of all, for a hot or nearly empty drone",
        lambda t: _clean(t) & (t["nist_level"] == 1),
    ),
    Use(
        "high assurance",
        "level 5 within the real-time budget",
        lambda t: _clean(t) & (t["nist_level"] == 5) & (_surely(t) < REALTIME_MS),
    ),
    Use(
        "conservative",
        "level 3 or 5 with a KEM not built on structured lattices, within the blackout limit",
        lambda t: _clean(t) & (t["nist_level"] >= 3) & (t["kem_family"] != "ML-KEM") & (_surely(t) < BLACKOUT_LIMIT_MS),
    ),
)


def recommend(suites: pd.DataFrame) -> list[Choice]:
    """For each use the qualifying suite with the shortest handshake, and what ties with it; of published standards,
    where any qualifies. A use of a lower level than the first one gets none unless its handshake surely is shorter.
    `suites`: one row per suite (see `per_suite`)."""
    known = suites.dropna(subset=["handshake_ms"])
    choices: list[Choice] = []
    default: pd.DataFrame | None = None
    for use in USES:
        qualified = known[use.accepts(known)]
        fitting = qualified[is_ranked(qualified)]
        unranked = len(qualified) - len(fitting)
        if fitting.empty:
            choices.append(Choice(use.name, use.meaning, "", 0, float("nan"), 0, unranked=unranked))
            continue
        first = tied_with_the_least(standards_first(fitting))
        best = first.iloc[0]
        default = first.head(1) if default is None else default
        if _no_shorter(best, default.iloc[0]):
            same = str(default["suite"].iloc[0])
            quicker = surely_quicker(fitting, default)
            choices.append(
                Choice(use.name, use.meaning, "", 0, float("nan"), len(fitting), quicker=quicker, as_long=same)
            )
            continue
        choices.append(
            Choice(
                use.name,
                use.meaning,
                str(best["suite"]),
                int(best["nist_level"]),
                float(best["handshake_ms"]),
                len(fitting),
                tuple(map(str, first["suite"].iloc[1:])),
                unranked,
                surely_quicker(fitting, first.head(1)),
            )
        )
    return choices


def _no_shorter(suite: pd.Series, than: pd.Series) -> bool:
    """Whether a suite of a lower level than another is not told apart from it; printed figures always are."""
    return LOW in suite.index and bool(suite["nist_level"] < than["nist_level"] and not suite[HIGH] < than[LOW])


def surely_quicker(suites: pd.DataFrame, best: pd.DataFrame) -> str:
    """Of the suites that are no standards the shortest one whose interval ends below that of `best`; "" without."""
    drafts = suites[~is_standard(suites)].sort_values("handshake_ms")
    low = ends(best)[0][0]
    return next((str(n) for n, (_, high) in zip(drafts["suite"], ends(drafts), strict=True) if high < low), "")


def verdict(handshake_ms: float, loss_percent: float) -> str:
    """What a suite is good for: 'time-critical control', 'control', 'telemetry', 'flight with care', 'ground only',
    'avoid'; '' when its handshake is not known."""
    if pd.isna(handshake_ms):
        return ""
    if loss_percent > LOSS_LIMIT_PERCENT:
        return "avoid"
    if handshake_ms <= TIME_CRITICAL_MS:
        return "time-critical control"
    if handshake_ms < REALTIME_MS:
        return "control"
    if handshake_ms < TELEMETRY_MS:
        return "telemetry"
    return "flight with care" if handshake_ms < BLACKOUT_LIMIT_MS else "ground only"


def _loss_ends(loss_percent: float, sent: float, received: float, measured: bool) -> tuple[float, float]:
    """Both ends of a loss [%]: its Wilson interval where packets were counted here, else twice the figure."""
    if not measured or not (sent > 0 and 0 <= received <= sent):
        return float(loss_percent), float(loss_percent)
    return wilson_percent(int(sent) - int(received), int(sent))


def decision_matrix(suites: pd.DataFrame) -> pd.DataFrame:
    """The rows with `verdict` and `rekey_interval_s`, the interval at which rekeying costs at most
    PHI_LIMIT_PERCENT.

    A suite whose intervals of handshake and loss reach into two verdicts has both ("control or telemetry"), and the
    rekey interval is that of the upper end; one with too few handshakes has neither. Printed figures are taken as they
    are.
    """
    times = ends(suites)
    counted = LOW in suites.columns
    losses = [_loss_ends(r.loss_percent, r.sent_packets, r.received_packets, counted) for r in suites.itertuples()]
    verdicts = [
        either(verdict(low, least), verdict(high, most))
        for (low, high), (least, most) in zip(times, losses, strict=True)
    ]
    shortest = [interval_for(high, PHI_LIMIT_PERCENT) for _, high in times]
    return suites.assign(
        verdict=verdicts, rekey_interval_s=pd.Series(shortest, suites.index).clip(lower=SHORTEST_INTERVAL_S)
    )
