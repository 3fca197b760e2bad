# SPDX-License-Identifier: Apache-2.0
"""Quality declarations: what is said of dependencies is so; test_docs.py compares the files."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("catkin_pkg", reason="comes with colcon")

import quality_doc


def package(*keys: str) -> Any:
    return SimpleNamespace(exec_depends=[SimpleNamespace(name=key) for key in keys], build_export_depends=[])


def test_a_key_by_pip_below_another_package_is_found_in_a_circle_too() -> None:
    packages = {
        "a": package("b", "rclpy"),
        "b": package("a", "c"),
        "c": package("python3-x-pip"),
        "d": package("rclpy"),
    }
    assert quality_doc.by_pip("a", packages) == ["python3-x-pip"]
    assert quality_doc.by_pip("d", packages) == []


def test_what_flies_needs_no_pip() -> None:
    """Engine and proxies can be released; the recorder's file format and the simulator's MAVLink cannot."""
    texts = {path.split("/")[1]: text for path, text in quality_doc.files().items()}
    free = {name for name, text in texts.items() if "the build farm has no pip" not in text}
    assert {"liboqs_vendor", "pqc_mav_tunnel", "pqc_mav_proxy", "pqc_mav_proxy_cpp", "pqc_mav_policy"} <= free
    assert {"pqc_mav_recorder", "pqc_mav_sim", "pqc_mav_cli"}.isdisjoint(free)
