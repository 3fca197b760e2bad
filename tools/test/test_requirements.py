# SPDX-License-Identifier: Apache-2.0
"""What pip may install: the locked lists hold what the plain ones ask for, each package with version and hashes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

REQUIREMENTS = Path(__file__).resolve().parent.parent.parent / "requirements"
LAYERS = {
    "system": ["base"], "wheels": ["wheels"], "ros-jazzy": ["ros-jazzy"], "ros-kilted": ["ros-kilted"],
    "analysis": ["analysis"], "test": ["test"], "lint": ["lint"], "dashboard": ["dashboard"],
    "test-nodeps": ["test-nodeps"],
}  # fmt: skip
DISTRIBUTIONS = ("ros-jazzy", "ros-kilted")
PIN = re.compile(r"^([A-Za-z0-9._-]+)(?:\[[^\]]*\])?==([^\s;\\]+)")


def pins(file: Path) -> set[tuple[str, str]]:
    found = (PIN.match(line) for line in file.read_text().splitlines())
    return {(re.sub(r"[-_.]+", "-", match[1]).lower(), match[2]) for match in found if match}


def entries(file: Path) -> list[str]:
    """Each requirement with its continuation lines."""
    lines = [line for line in file.read_text().splitlines() if line and not line.lstrip().startswith("#")]
    return "\n".join(lines).replace("\\\n", " ").splitlines()


@pytest.mark.parametrize("layer", LAYERS)
def test_every_entry_is_pinned_and_has_hashes(layer: str) -> None:
    listed = entries(REQUIREMENTS / "locked" / f"{layer}.txt")
    assert listed
    for entry in listed:
        assert PIN.match(entry), entry
        assert re.search(r"--hash=sha256:[0-9a-f]{64}", entry), entry


@pytest.mark.parametrize("layer", LAYERS)
def test_the_locked_list_follows_the_plain_ones(layer: str) -> None:
    locked = pins(REQUIREMENTS / "locked" / f"{layer}.txt")
    python_310_only = {("numpy", "2.2.6")}
    for name in LAYERS[layer]:
        missing = pins(REQUIREMENTS / f"{name}.txt") - locked - python_310_only
        assert not missing, f"{missing}: run tools/lock_requirements.sh"


@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
def test_one_version_of_everything_in_all_layers(distribution: str) -> None:
    layers = {layer for layer in LAYERS if layer not in DISTRIBUTIONS} | {distribution}
    everything = set().union(*(pins(REQUIREMENTS / "locked" / f"{layer}.txt") for layer in layers))
    names = [name for name, _ in everything]
    assert len(names) == len(set(names)), sorted(name for name in set(names) if names.count(name) > 1)


@pytest.mark.parametrize(
    ("layer", "below"), [("wheels", "system"), ("lint", "test"), *((of, "wheels") for of in DISTRIBUTIONS)]
)
def test_what_is_installed_together_is_listed_once(layer: str, below: str) -> None:
    assert not pins(REQUIREMENTS / "locked" / f"{layer}.txt") & pins(REQUIREMENTS / "locked" / f"{below}.txt")


def test_distributions_differ_in_packages_of_ros_alone() -> None:
    for distribution in DISTRIBUTIONS:
        names = {name for name, _ in pins(REQUIREMENTS / "locked" / f"{distribution}.txt")}
        assert {name for name in names if not name.startswith("ros-")} == set()
        others = {of.removeprefix("ros-") for of in DISTRIBUTIONS} - {distribution.removeprefix("ros-")}
        assert not {name for name in names for other in others if name.startswith(f"ros-{other}-")}
