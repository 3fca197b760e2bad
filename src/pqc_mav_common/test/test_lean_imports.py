# SPDX-License-Identifier: Apache-2.0
"""A node works without the generator of message code. In processes of their own: imports cannot be undone."""

from __future__ import annotations

import subprocess
import sys

import pytest

NODE = """
import sys
{before}
import rclpy
from diagnostic_msgs.msg import DiagnosticArray
rclpy.init()
node = rclpy.create_node("lean")
node.create_publisher(DiagnosticArray, "lean", 1).publish(DiagnosticArray())
node.destroy_node()
rclpy.shutdown()
print("lark" in sys.modules, sys.modules.get("rosidl_generator_py.generate_py_impl") is None)
"""
LEAN = "from pqc_mav_common.lean_imports import without_code_generator; without_code_generator()"


@pytest.mark.parametrize(
    ("before", "printed"),
    [(LEAN, "False True"), (f"import rosidl_generator_py; {LEAN}", None)],
    ids=["kept out", "there already"],
)
def test_a_node_works(before: str, printed: str | None) -> None:
    ended = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", NODE.format(before=before)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    if printed is not None:
        assert ended.stdout.strip() == printed
