# SPDX-License-Identifier: Apache-2.0
"""What a reader who is new to the subject has to know behind a figure, by the key of the chart or table.

Nothing of it depends on a campaign: what a run says is in the explanation's observations, made from its numbers. The
published report explains each of its charts at such length ([rpi5-report], a page after each). The text is among the
assets: a line "# key", then paragraphs.
"""

from functools import cache

from pqc_mav_bench.report.shipped import asset


@cache
def background() -> dict[str, tuple[str, ...]]:
    """The paragraphs of each key."""
    found = {}
    for part in asset("background.txt").split("# ")[1:]:
        key, _, text = part.partition("\n")
        found[key] = tuple(" ".join(each.split()) for each in text.split("\n\n") if each.strip())
    return found
