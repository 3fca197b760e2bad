# SPDX-License-Identifier: Apache-2.0
"""The recorder's layouts for Foxglove and PlotJuggler show fields that recordings really have.

The nodes of both ends say which topics they publish, and with which types; the definitions are those that the recorder
embeds in a file. A field or a topic that is renamed fails here.
"""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ament_index_python.packages import get_package_share_directory
from every_node import running
from rclpy.node import Node

from pqc_mav_common.testing import until
from pqc_mav_recorder.schema import SEPARATOR, installed_definition
from pqc_mav_recorder.topics import NAMESPACES, wanted

__all__ = ["running"]

LAYOUTS = Path(get_package_share_directory("pqc_mav_recorder")) / "layouts"
NUMBERS = re.compile(r"(bool|u?int(8|16|32|64)|float(32|64))$")
FIELD = re.compile(r"^\s*(\w+(?:/\w+)*)(\[\S*\])?\s+(\w+)\s*(?:#.*)?$")
# The published form of a layout and of the panels used here: in the open source of Foxglove Studio, LayoutData,
# MosaicNode, PlotConfig, PlotPath, StateTransitionConfig, RawMessagesPanelConfig, DiagnosticSummaryConfig. A field
# that the type calls optional ends with "?"; a set lists the values that a text may have.
TIMES = {"receiveTime", "headerStamp"}
PLOT_PATH = {"value": str, "enabled": bool, "timestampMethod": TIMES, "label?": str, "color?": str, "showLine?": bool}
STATE_PATH = {"value": str, "timestampMethod": TIMES, "label?": str, "enabled?": bool, "color?": str}
PANELS: dict[str, dict[str, Any]] = {
    "Plot": {
        "paths": [PLOT_PATH], "isSynced": bool, "showLegend": bool, "legendDisplay": {"floating", "top", "left"},
        "xAxisVal": {"timestamp", "index", "custom", "currentCustom"}, "showXAxisLabels": bool, "showYAxisLabels": bool,
        "foxglovePanelTitle?": str, "minYValue?": float, "maxYValue?": float,
    },
    "StateTransitions": {"paths": [STATE_PATH], "isSynced": bool, "foxglovePanelTitle?": str},
    "RawMessages": {
        "topicPath": str, "diffEnabled": bool, "diffMethod": {"custom", "previous message"}, "diffTopicPath": str,
        "showFullMessageForDiff": bool,
    },
    "DiagnosticSummary": {
        "minLevel": int, "pinnedIds": [str], "topicToRender": str, "hardwareIdFilter": str, "sortByLevel?": bool,
    },
    "Tab": {"activeTabIdx": int, "tabs": [{"title": str, "layout": object}]},
}  # fmt: skip
LAYOUT = {"configById": dict, "globalVariables": dict, "userNodes": dict, "layout": object, "playbackConfig?": dict}
PATH = re.compile(r"^(?P<topic>/[\w/]+)(?:\{(?P<name>\w+)==\"(?P<value>\w+)\"\})?(?:\.(?P<field>\w+))?$")


@pytest.fixture(scope="module")
def topics(running: tuple[Node, dict[str, Node]]) -> dict[str, dict[str, str]]:
    """Of every topic that a recording gets: its fields with their types, an array's with its brackets."""
    looking, nodes = running
    found: dict[str, dict[str, str]] = {}
    for full_name in nodes:
        namespace, _, name = full_name.rpartition("/")

        def published(name: str = name, namespace: str = namespace) -> Any:
            return looking.get_publisher_names_and_types_by_node(name, namespace)

        for topic, types in until(published, f"{full_name} in the graph"):
            if wanted(topic, NAMESPACES):
                own = installed_definition(types[0]).split(SEPARATOR)[0]
                matches = filter(None, map(FIELD.match, own.splitlines()))
                found[topic] = {match[3]: match[1] + (match[2] or "") for match in matches}
    return found


def foxglove() -> dict[str, Any]:
    return dict(json.loads((LAYOUTS / "foxglove.json").read_text(encoding="utf-8")))


def differs(value: Any, form: Any, where: str) -> list[str]:
    """What of a value has not the published form; each with where it is."""
    if isinstance(form, dict):
        if not isinstance(value, dict):
            return [f"{where} is no object"]
        known = {name.removesuffix("?"): kind for name, kind in form.items()}
        missing = [f"{where}.{name} is missing" for name in form if not name.endswith("?") and name not in value]
        unknown = [f"{where}.{name} is unknown" for name in value if name not in known]
        inner = (differs(value[name], kind, f"{where}.{name}") for name, kind in known.items() if name in value)
        return missing + unknown + [each for found in inner for each in found]
    if isinstance(form, list):
        if not isinstance(value, list):
            return [f"{where} is no list"]
        return [each for n, item in enumerate(value) for each in differs(item, form[0], f"{where}[{n}]")]
    if isinstance(form, set):
        return [] if value in form else [f"{where} is {value!r}"]
    good = isinstance(value, form) and (form is bool or not isinstance(value, bool))
    return [] if good or form is object else [f"{where} is {value!r}, no {form.__name__}"]


def test_the_foxglove_layout_has_the_published_form() -> None:
    layout = foxglove()
    assert differs(layout, LAYOUT, "layout") == []
    for name, config in layout["configById"].items():
        assert differs(config, PANELS[name.partition("!")[0]], name) == []


def test_a_layout_of_another_form_is_noticed() -> None:
    good = {"value": "/a.b", "enabled": True, "timestampMethod": "receiveTime"}
    assert differs(good, PLOT_PATH, "p") == []
    bad = {"value": 1, "enabled": "yes", "timestampMethod": "never", "line": True}
    assert differs(bad, PLOT_PATH, "p") == [
        "p.line is unknown", "p.value is 1, no str", "p.enabled is 'yes', no bool", "p.timestampMethod is 'never'",
    ]  # fmt: skip
    assert differs({}, PLOT_PATH, "p") == [f"p.{name} is missing" for name in ("value", "enabled", "timestampMethod")]


def panels_of(tree: Any) -> Iterator[str]:
    """The panels of a layout's tree, which is one panel or two halves."""
    if isinstance(tree, str):
        yield tree
        return
    assert set(tree) == {"direction", "first", "second", "splitPercentage"}
    assert tree["direction"] in ("row", "column") and 0 < tree["splitPercentage"] < 100
    yield from panels_of(tree["first"])
    yield from panels_of(tree["second"])


def test_the_foxglove_layout_is_whole() -> None:
    """Each panel is in one place and has one configuration."""
    layout = foxglove()
    placed = list(panels_of(layout["layout"]))
    for name, config in layout["configById"].items():
        kind, _, number = name.partition("!")
        assert kind in PANELS and number, name
        if kind == "Tab":
            placed += [panel for tab in config["tabs"] for panel in panels_of(tab["layout"])]
            assert all(tab["title"] for tab in config["tabs"])
    assert sorted(placed) == sorted(layout["configById"])


def foxglove_paths() -> Iterator[tuple[str, str]]:
    """Every message path with its panel's kind."""
    for name, config in foxglove()["configById"].items():
        kind = name.partition("!")[0]
        for path in config.get("paths", ()):
            yield kind, path["value"]
        for key in ("topicPath", "topicToRender"):
            if key in config:
                yield kind, config[key]


def test_every_path_of_the_foxglove_layout_is_recorded(topics: dict[str, dict[str, str]]) -> None:
    paths = list(foxglove_paths())
    assert len(paths) > 60
    for kind, text in paths:
        path = PATH.match(text)
        assert path, text
        fields = topics.get(path["topic"])
        assert fields is not None, f"{text}: no such topic is recorded"
        if path["name"]:
            assert fields.get(path["name"]) == "string", text
        if kind in ("Plot", "StateTransitions"):
            assert path["field"] in fields, f"{text}: {path['topic']} has no such field"
        if kind == "Plot":
            assert NUMBERS.match(fields[path["field"]]), f"{text} is no number"


def test_one_side_of_a_link_is_chosen(topics: dict[str, dict[str, str]]) -> None:
    """Both sides come on one topic; a curve without a choice would jump between them."""
    for _, text in foxglove_paths():
        path = PATH.match(text)
        assert path
        assert ("side" in topics[path["topic"]]) == (path["name"] == "side"), text


def curves() -> list[str]:
    root = ET.parse(LAYOUTS / "plotjuggler.xml").getroot()
    return [str(curve.get("name")) for curve in root.iter("curve")]


def test_the_plotjuggler_layout_is_whole() -> None:
    root = ET.parse(LAYOUTS / "plotjuggler.xml").getroot()
    (window,) = root.findall("tabbed_widget")
    tabs = window.findall("Tab")
    assert len(tabs) >= 4 and all(tab.get("tab_name") for tab in tabs)
    for splitter in root.iter("DockSplitter"):
        areas = splitter.findall("DockArea")
        sizes = [float(size) for size in str(splitter.get("sizes")).split(";")]
        assert int(str(splitter.get("count"))) == len(areas) == len(sizes) and abs(sum(sizes) - 1) < 0.01
        assert all(len(area.findall("plot")) == 1 and area.findall("plot/curve") for area in areas)


# The same on both sides, so that it may be drawn without choosing one, which PlotJuggler cannot do.
OF_BOTH_SIDES = {"rtt_ms", "rtt_min_ms", "clock_offset_ms"}


def test_every_curve_of_the_plotjuggler_layout_is_recorded(topics: dict[str, dict[str, str]]) -> None:
    assert len(curves()) > 30
    for curve in curves():
        topic, _, field = curve.rpartition("/")
        assert topic in topics, f"{curve}: no such topic is recorded"
        assert NUMBERS.match(topics[topic].get(field, "")), f"{curve} is no number of {topic}"
        assert "side" not in topics[topic] or field in OF_BOTH_SIDES, curve


def test_a_renamed_field_is_noticed(topics: dict[str, dict[str, str]]) -> None:
    renamed = {topic: dict(fields) for topic, fields in topics.items()}
    renamed["/drone/battery"]["volts"] = renamed["/drone/battery"].pop("voltage_v")
    for check in (
        test_every_path_of_the_foxglove_layout_is_recorded,
        test_every_curve_of_the_plotjuggler_layout_is_recorded,
    ):
        with pytest.raises(AssertionError, match="voltage_v"):
            check(renamed)
