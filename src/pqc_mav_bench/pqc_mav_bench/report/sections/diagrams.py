# SPDX-License-Identifier: Apache-2.0
"""The drawings of the papers: concept, architecture, handshake, wire format, pipeline, bench.

Each is an SVG among the assets, which follows the page's colours and has an element per line.
"""

from html import unescape

from pqc_mav_bench.report.blocks import Diagram, Explanation
from pqc_mav_bench.report.shipped import asset

_EXPLAINED = {
    "paper-architecture": Explanation(
        "The tunnel engine carries packets without ROS or Python; sensing and policy decide over ROS 2 topics; "
        "the benchmark coordinates both ends over ROS 2 services.",
        "Solid: data and decisions; dashed: handshakes, through the same port.",
        [],
        [
            "A failing handshake never cuts the benchmark's own coordination, because that does not run through "
            "the tunnel."
        ],
    ),
    "paper-handshake": Explanation(
        "The order of the messages. The ground does nothing expensive until the gate has proved that the drone knows "
        "its key.",
        "Time runs downward.",
        [],
        [
            "The published protocol has two messages and signs inside the first; the gate was added so that "
            "a stranger causes only one or two MACs of work."
        ],
    ),
}


def diagram(key: str) -> Diagram:
    """A drawing by its key on the page."""
    svg = "".join(asset(f"{key}.svg").splitlines())
    title = svg.partition(f'<title id="{key}-t">')[2].partition("</title>")[0]
    return Diagram(key, unescape(title), svg, _EXPLAINED.get(key))


def bench(key: str, same_host: bool) -> Diagram:
    """Where the benchmark measures."""
    where = "both on one machine, over its loopback interface" if same_host else "on two machines, over their network"
    made = diagram(key)
    return Diagram(key, made.title, made.svg.replace("{where}", where))
