# SPDX-License-Identifier: Apache-2.0
"""What the replay window saw: how far behind the newest packets came, and which never did."""

import pandas as pd

from pqc_mav_bench.report.blocks import Block
from pqc_mav_bench.report.numbers import count
from pqc_mav_bench.report.report_input import ReportInput
from pqc_mav_bench.report.sections.figures import called, table

#: Bits of the window where a configuration says nothing else (replay_window).
DEFAULT_BITS = 1024
_ENDS = {"the ground": "gcs_", "the drone": ""}


def window_depth(c: ReportInput) -> list[Block]:
    """One row per scenario and end; nothing for campaigns that were recorded before it was counted."""
    columns = [f"data_plane.{side}window_{name}" for side in _ENDS.values() for name in ("late", "deepest", "missing")]
    if not set(columns) <= set(c.raw.columns):
        return []
    runs = c.raw[c.raw["status"] == "passed"].dropna(subset=columns)
    if runs.empty:
        return []
    rows = []
    for scenario in c.scenarios:
        part = runs[runs["scenario"] == scenario]
        for end, side in _ENDS.items() if len(part) else ():
            rows.append(
                {
                    "Scenario": called(scenario),
                    "Received by": end,
                    "Packets": int(part[f"data_plane.{side}enc_rx_packets"].sum()),
                    "Came late": int(part[f"data_plane.{side}window_late"].sum()),
                    "Farthest behind, at most": int(part[f"data_plane.{side}window_deepest"].max()),
                    "Never came": int(part[f"data_plane.{side}window_missing"].sum()),
                }
            )
    frame = pd.DataFrame(rows)
    late, deepest = int(frame["Came late"].sum()), int(frame["Farthest behind, at most"].max())
    said = "every packet that came was in order."
    if late:
        share = f"{100 * deepest / DEFAULT_BITS:.2g} % of a window of {DEFAULT_BITS}"
        said = f"{count(late, 'packet')} came late, at most {count(deepest, 'place')} behind: {share}."
    return [table(c, "window-depth", frame, [f"In {count(len(runs), 'run')} {said}"], across=True, bits=DEFAULT_BITS)]
