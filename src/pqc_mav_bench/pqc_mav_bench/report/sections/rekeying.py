# SPDX-License-Identifier: Apache-2.0
"""What rekeying costs in time: Phi(R)."""

import math

import numpy as np
import pandas as pd

from pqc_mav_bench.analysis import rekey
from pqc_mav_bench.analysis.estimate import Estimate, of_pairs, of_suites
from pqc_mav_bench.analysis.table import FAMILIES, rank
from pqc_mav_bench.report import palette
from pqc_mav_bench.report.blocks import Section
from pqc_mav_bench.report.charts import points
from pqc_mav_bench.report.numbers import duration, number
from pqc_mav_bench.report.report_input import ReportInput
from pqc_mav_bench.report.sections.common import with_interval
from pqc_mav_bench.report.sections.figures import chart
from pqc_mav_bench.report.sections.published_tables import published


def _picked(c: ReportInput) -> list[tuple[str, str, float]]:
    """(label, colour, handshake ms) of the curves: the shortest and the longest handshake of each family."""
    lines = []
    for family in FAMILIES:
        rows = rank(c.known[c.known["kem_family"] == family], "handshake_ms")
        for which, row in (("shortest", rows.head(1)), ("longest", rows.tail(1) if len(rows) > 1 else rows[:0])):
            for r in row.itertuples():
                lines.append(
                    (f"{family}, {which} ({duration(r.handshake_ms)})", palette.family(family), float(r.handshake_ms))
                )
    return lines


def _share(handshake: Estimate) -> str:
    """The interval of a handshake's share of a minute."""
    if handshake.is_exact or not handshake.has_interval:
        return ""
    low, high = (number(rekey.phi_percent(end, 60)) for end in (handshake.low, handshake.high))
    return f" (95 % interval {low} to {high} %)"


def rekey_overhead(c: ReportInput) -> Section:
    """Phi(R)."""
    title, picked = "Rekey overhead Φ(R) over the rekey interval", _picked(c)
    lines = []
    for label, colour, handshake in picked:
        x, y = zip(*rekey.phi_curve(handshake, np.geomspace(10, 7200, 40)), strict=True)
        tip = f"{label}: {number(rekey.phi_percent(handshake, 60))} % at 60 s"
        lines.append(points.Points(label, x, y, [tip], colour))
    marks = [(60, "1 min"), (300, "5 min"), (3600, "1 h")]
    drawing = points.curves(lines, "Rekey interval R (s, log scale)", "Φ(R) (%, log scale)", marks)
    body = [[label, ms, *(rekey.phi_percent(ms, r) for r in rekey.PUBLISHED_INTERVALS_S)] for label, _, ms in picked]
    frame = pd.DataFrame(body, columns=["Suite", "Handshake (ms)", "Φ(60 s) (%)", "Φ(300 s) (%)", "Φ(3600 s) (%)"])
    slowest = of_suites(c.known, "max")
    worst = slowest.high if slowest.has_interval else slowest.value
    live = of_pairs(c.baseline, "rekey_ms")
    took = f"The median suite change under traffic took {with_interval(live)} from request to new keys."
    says = [
        f"At one rekey a minute the longest handshake of all takes "
        f"{number(rekey.phi_percent(slowest.value, 60))} %{_share(slowest)} of the time.",
        f"It stays within 0.1 % when keys are renewed no more often than every "
        f"{number(rekey.interval_for(worst, 0.1))} s.",
        took if math.isfinite(live.value) else "",
    ]
    drawn = chart(c, "phi", drawing, says, data=frame)
    return Section("rekey_overhead", title, [drawn, published("phi-published")])
