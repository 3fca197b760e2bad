# SPDX-License-Identifier: Apache-2.0
"""A node works without what it does not use, and with what it does. In processes of their own: imports cannot be
undone."""

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
    said = run(NODE.format(before=before))
    if printed is not None:
        assert said == [printed]


# A service imports a message with an array of fixed length: it brings numpy in, and a node that serves it does not.
SERVICE = """
import sys
from pqc_mav_common.lean_imports import lean
lean()
import rclpy
from pqc_mav_interfaces.msg import LinkQuality
from pqc_mav_interfaces.srv import GetInfo
rclpy.init()
node = rclpy.create_node("lean")
node.create_service(GetInfo, "lean", print)
node.create_publisher(LinkQuality, "link", 1).publish(LinkQuality())
loaded = "service_msgs.msg._service_event_info" in sys.modules
print(loaded, "numpy.core" in sys.modules or "numpy._core" in sys.modules)
print("pqc_mav_interfaces.msg._tunnel_stats" in sys.modules)
"""
USED = """
import numpy as np
from pqc_mav_interfaces.msg import TunnelStats
stats = TunnelStats(shape_sent=[1, 2, 3, 4, 5])
assert isinstance(stats.shape_sent, np.ndarray), type(stats.shape_sent)
heard = []
node.create_subscription(TunnelStats, "stats", heard.append, 1)
sender = node.create_publisher(TunnelStats, "stats", 1)
while not heard:
    sender.publish(stats)
    rclpy.spin_once(node, timeout_sec=0.2)
import numpy.linalg
print(heard[0].shape_sent.tolist(), sys.modules["numpy"] is not np, numpy.linalg.norm(np.array([3, 4])))
"""
ENDED = "node.destroy_node(); rclpy.shutdown()"


def test_a_node_that_uses_no_array_has_no_numpy_and_no_other_messages() -> None:
    assert run(SERVICE + ENDED) == ["True False", "False"]


def test_an_array_is_numpys_all_the_same() -> None:
    assert run(SERVICE + USED + ENDED)[2:] == ["[1, 2, 3, 4, 5] True 5.0"]


def test_what_an_interface_package_does_not_have_is_refused_as_ever() -> None:
    lean = "from pqc_mav_common.lean_imports import lean; lean()"
    code = f"{lean}; import sensor_msgs.msg as m; print(hasattr(m, 'Nothing'), m.Imu.__name__, 'Imu' in m.__all__)"
    assert run(code) == ["False Imu True"]
    missing = subprocess.run(
        [sys.executable, "-c", f"{lean}; from sensor_msgs.msg import Nothing"],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert "ImportError: cannot import name 'Nothing' from 'sensor_msgs.msg'" in missing.stderr


def test_many_threads_may_use_numpy_first() -> None:
    code = """
import threading
from pqc_mav_common.lean_imports import lean
lean()
import numpy
barrier, sums = threading.Barrier(8), []
def use():
    barrier.wait()
    sums.append(int(numpy.arange(5).sum()))
threads = [threading.Thread(target=use) for _ in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
import numpy as now
print(sums == [10] * 8, numpy.ndarray is now.ndarray)
"""
    assert run(code) == ["True True"]


def run(code: str) -> list[str]:
    """What a program prints that ends well and complains of nothing.

    Fast DDS may complain: of a port of shared memory that another process holds or left locked, which it then avoids.
    """
    ended = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, timeout=60, check=False
    )
    complaints = [line for line in ended.stderr.splitlines() if "RTPS_TRANSPORT_SHM" not in line]
    assert (ended.returncode, complaints) == (0, [])
    return ended.stdout.splitlines()
