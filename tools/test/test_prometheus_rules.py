# SPDX-License-Identifier: Apache-2.0
"""The alerts in packaging/prometheus: about metrics and labels that there are, each with a test for and against it."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from pqc_mav_cli.metrics import families
from pqc_mav_cli.metrics.families import PREFIX, Family
from pqc_mav_proxy.names import SHAPE_CLASSES, STATES

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "packaging" / "prometheus"
PROMTOOL = shutil.which("promtool")
needs_promtool = pytest.mark.skipif(PROMTOOL is None, reason="promtool is not here: 'apt-get install prometheus'")
# Labels of Prometheus itself, and of alerts.
FOREIGN = {"job", "instance", "severity"}


def rules() -> list[dict[str, Any]]:
    groups = yaml.safe_load((FOLDER / "pqcmav.rules.yml").read_text(encoding="utf-8"))["groups"]
    return [rule for group in groups for rule in group["rules"]]


RULES = rules()


def exported() -> dict[str, Family]:
    """By the names of their samples."""
    found = [value for value in vars(families).values() if isinstance(value, Family)]
    for table in (value for value in vars(families).values() if isinstance(value, dict)):
        entries = [each[0] if isinstance(each, tuple) else each for each in table.values()]
        found += [each for each in entries if isinstance(each, Family)]
    suffix = {"counter": "_total", "info": "_info", "gauge": "", "histogram": "_bucket"}
    return {PREFIX + each.name + suffix[each.kind]: each for each in found}


EXPORTED = exported()
SELECTOR = re.compile(r"\b(pqcmav_\w+)(?:\{([^}]*)\})?")


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule["alert"])
def test_an_alert_is_about_metrics_that_there_are(rule: dict[str, Any]) -> None:
    selectors = SELECTOR.findall(rule["expr"])
    assert selectors or "up{job=" in rule["expr"]
    known = set(FOREIGN)
    for name, matchers in selectors:
        assert name in EXPORTED, name
        labels = EXPORTED[name].labels
        known |= set(labels)
        assert set(re.findall(r"(\w+)\s*[=!]", matchers)) <= set(labels), (name, matchers)
    for used in re.findall(r"\$labels\.(\w+)", rule["annotations"]["summary"]):
        assert used in known, f"{rule['alert']} has no {used}"
    assert rule["labels"]["severity"] in ("critical", "warning")
    assert rule["annotations"]["summary"].endswith(".")


def test_the_values_of_labels_are_those_of_the_engine() -> None:
    """Reasons and outcomes that nobody counts would never fire."""
    counted = {
        "reason": {
            label for table in (families.TUNNEL_COUNTERS, families.PORT_COUNTERS) for _, label in table.values()
        },
        "outcome": {label for _, label in families.PORT_COUNTERS.values()},
        "state": set(STATES),
        "class": set(SHAPE_CLASSES),
        "part": set(families.STATION_PARTS),
        "role": {"drone", "gcs"},
    }
    errors = (ROOT / "src/pqc_mav_tunnel/include/pqc_mav_tunnel/handshake_outcome.hpp").read_text(encoding="utf-8")
    names = re.search(r"enum class HandshakeError \{(.*?)\n\};", errors, re.DOTALL)
    assert names
    counted["reason"] |= set(re.findall(r"^\s+(\w+),", names[1], re.MULTILINE))
    text = " ".join(rule["expr"] for rule in RULES)
    matched = re.findall(r'(\w+)\s*(?:=~|!=|=)\s*"([^"]*)"', text)
    assert len(matched) > 20
    for label, values in matched:
        if label != "job":
            assert set(values.split("|")) <= counted[label], (label, values)


def test_every_kind_of_drop_has_its_alert() -> None:
    text = " ".join(rule["expr"] for rule in RULES)
    for family, reason in {**families.TUNNEL_COUNTERS, **families.PORT_COUNTERS}.values():
        if family is families.PORT_DROPS:
            assert f'reason="{reason}"' in text, reason
    kernel, sending = families.PORT_COUNTERS["drop_kernel"][0], families.TUNNEL_COUNTERS["enc_dropped_send"][0]
    for family in (families.PLAIN_DROPS, kernel, sending):
        assert f"{PREFIX}{family.name}_total" in text


def test_every_alert_is_tried_for_and_against() -> None:
    tests = yaml.safe_load((FOLDER / "pqcmav.rules.test.yml").read_text(encoding="utf-8"))["tests"]
    fires: set[str] = set()
    silent: set[str] = set()
    for check in (check for test in tests for check in test["alert_rule_test"]):
        (fires if check["exp_alerts"] else silent).add(check["alertname"])
    alerts = {rule["alert"] for rule in RULES}
    assert fires == silent == alerts and len(alerts) == len(RULES)


def test_the_job_alone_scrapes_often_enough() -> None:
    """It is copied into configurations that have another interval: a rate needs two samples within its range."""
    (job,) = yaml.safe_load((FOLDER / "prometheus.yml").read_text(encoding="utf-8"))["scrape_configs"]
    assert job["scrape_interval"] == "15s" and "[1m]" in " ".join(rule["expr"] for rule in RULES)


def test_every_alert_says_what_to_do() -> None:
    for rule in RULES:
        action = rule["annotations"]["action"]
        assert action.endswith((".", "?")), action
        assert all((ROOT / page).is_file() for page in re.findall(r"docs/[\w-]+\.md", action)), action


@needs_promtool
@pytest.mark.parametrize(
    "arguments",
    [
        ("check", "rules", "pqcmav.rules.yml"),
        ("check", "config", "prometheus.yml"),
        ("test", "rules", "pqcmav.rules.test.yml"),
    ],
    ids=" ".join,
)
def test_promtool(arguments: tuple[str, ...]) -> None:
    ended = subprocess.run(
        [str(PROMTOOL), *arguments], cwd=FOLDER, capture_output=True, text=True, timeout=120, check=False
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr


@needs_promtool
def test_promtool_finds_a_rule_that_fires_for_nothing(tmp_path: Path) -> None:
    """The tests of the rules can fail."""
    for path in FOLDER.iterdir():
        text = path.read_text(encoding="utf-8")
        (tmp_path / path.name).write_text(text.replace("pqcmav_key_old == 1", "pqcmav_key_old >= 0"), encoding="utf-8")
    ended = subprocess.run(
        [str(PROMTOOL), "test", "rules", "pqcmav.rules.test.yml"],
        cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert ended.returncode != 0 and "PqcmavKeyOld" in ended.stdout + ended.stderr
