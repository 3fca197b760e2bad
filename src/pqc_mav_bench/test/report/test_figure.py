# SPDX-License-Identifier: Apache-2.0
"""Drawings become SVG that keeps its figures and takes the page's colours."""

import math
from xml.etree import ElementTree

import pytest

from pqc_mav_bench.report import palette
from pqc_mav_bench.report.axes import widen
from pqc_mav_bench.report.charts import bars, heat, points, spread
from pqc_mav_bench.report.figure import drawing, to_svg
from pqc_mav_bench.report.sections import diagrams


def svg_of(draw):
    text = to_svg(draw, "A <title>", "what it shows", "k")
    ElementTree.fromstring(text)
    return text


def sample_bars():
    return bars.grouped(
        [bars.Panel(["a", "b"], [bars.Series("one", [0.00123, math.nan], palette.light("blue"))], "t (ms)", "ms", True)]
    )


def test_texts_keep_their_digits():
    text = svg_of(sample_bars())
    assert "a, one: 0.00123 ms" in text
    assert ">0.001<" in text


def test_colours_are_variables_and_text_is_text():
    text = svg_of(sample_bars())
    assert "var(--blue)" in text
    assert "t (ms)" in text
    assert palette.light("blue") not in text
    assert "<style" not in text
    assert "font-family" not in text


def test_ids_of_two_charts_stay_apart():
    one, two = (to_svg(sample_bars(), "t", "d", key) for key in ("x", "y"))
    ids = [set(ElementTree.fromstring(text).iter()) for text in (one, two)]
    names = [{e.get("id") for e in found if e.get("id")} for found in ids]
    assert names[0]
    assert not names[0] & names[1]


def test_equal_input_gives_equal_bytes():
    assert svg_of(sample_bars()) == svg_of(sample_bars())


def test_markup_in_names_is_escaped():
    panel = heat.Panel("", ["<b>&"], ["c"], [[1.0]], "ms")
    assert "&lt;b&gt;&amp;, c: 1.00 ms" in svg_of(heat.heatmaps([panel]))


def test_missing_values_are_marked_not_drawn():
    panel = heat.Panel("", ["a", "b"], ["c"], [[1.0], [math.nan]], "ms", log=True)
    text = svg_of(heat.heatmaps([panel]))
    assert text.count('class="tip"') == 1
    assert ">–<" in text


@pytest.mark.parametrize("values", [[0.0, 0.0], [5.0], [1, 2, 3, 100], [2.0, 2.0, 2.0]])
def test_distributions_of_any_shape(values):
    group = spread.Group("g", values, [f"n{i}" for i in range(len(values))], palette.light("blue"))
    svg_of(spread.boxes([spread.Panel([group], "x", "ms")]))
    svg_of(spread.violins(spread.Panel([group], "x", "ms")))


def test_outliers_are_named():
    group = spread.Group("g", [1, 2, 3, 100.0], ["p", "q", "r", "far out"], palette.light("blue"))
    assert "far out: 100 ms" in svg_of(spread.boxes([spread.Panel([group], "x", "ms")]))


def test_steps_reach_all_suites():
    text = svg_of(points.steps([points.Points("p50", [3.0, 1.0], [], ["slow", "fast"], palette.light("blue"))], "ms"))
    assert text.index("fast") < text.index("slow")


def test_tiny_differences_are_not_blown_up():
    with drawing(100) as (_, axes):
        widen(axes, "x", [8.0, 8.0001])
        low, high = axes.get_xlim()
    assert high - low > 0.3


def test_palettes_have_a_dark_value_and_unique_lights():
    lights = [light for light, _ in palette.COLOURS.values()]
    assert len(set(lights)) == len(lights)
    assert "--ink:" in palette.css(True)
    assert palette.css(True) != palette.css(False)


@pytest.mark.parametrize(
    "key", ["endurance-concept", "endurance-pipeline", "endurance-bench", "paper-handshake", "paper-wire"]
)
def test_diagrams_are_well_formed(key):
    made = diagrams.bench(key, same_host=False)
    root = ElementTree.fromstring(made.svg)
    assert made.title and root.get("aria-labelledby") == f"{key}-t {key}-d" and "{where}" not in made.svg
