# SPDX-License-Identifier: Apache-2.0
"""Both ends under DDS security with Enforce, from the shipped policy: what must work works, all else is refused.

Needs sros2 and a middleware with security, such as Cyclone DDS built with it; those of the wheels have none.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pqc_mav_tunnel
import pytest

from pqc_mav_bringup.executables import of_package
from pqc_mav_bringup.proxy import NODE, PACKAGES
from pqc_mav_bringup.security_policy import FILE, GUESTS
from pqc_mav_bringup.share import config_file
from pqc_mav_common.testing import Running
from pqc_mav_common.testing_proxies import drone_parameters, gcs_parameters, ros_arguments

# A node that does what the words after it say; each answer is a line.
PROBE = """
import sys, time
import rclpy
from pqc_mav_common import qos
from pqc_mav_interfaces.msg import TunnelStatus
from pqc_mav_interfaces.srv import GetInfo
from rcl_interfaces.msg import ParameterEvent
from std_msgs.msg import String

namespace, name, *wishes = sys.argv[1:]
rclpy.init(args=[])
node = rclpy.create_node(name, namespace=namespace)
heard = []
for wish in wishes:
    kind, topic = wish.split("=")
    try:
        if kind == "publish":
            node.create_publisher(String, topic, 10)
        elif kind == "events":
            node.create_subscription(ParameterEvent, topic, print, 10)
        elif kind == "hear":
            node.create_subscription(TunnelStatus, topic, heard.append, qos.latched(1))
            until = time.monotonic() + float(60)
            while not any(status.state == TunnelStatus.UP for status in heard) and time.monotonic() < until:
                rclpy.spin_once(node, timeout_sec=0.1)
            assert any(status.state == TunnelStatus.UP for status in heard), "nothing heard"
        else:
            client = node.create_client(GetInfo, topic)
            assert client.wait_for_service(60), "no service"
            future = client.call_async(GetInfo.Request())
            rclpy.spin_until_future_complete(node, future, timeout_sec=60)
            assert future.result() is not None and future.result().role, "no answer"
        print(f"{wish}: done", flush=True)
    except Exception as error:
        print(f"{wish}: refused: {type(error).__name__}: {error}", flush=True)
print("ends", flush=True)
"""
# In a process of its own: sros2 asks the middleware for its name, which then stays loaded. And no policy is freed: lxml
# 5.4 and 6.1 crash when they free a tree into which XInclude has brought others.
KEYSTORE = """
import os
import sys
from pathlib import Path
from sros2.api import _policy
from sros2.keystore import _enclave, _keystore, _permission

place, policy, *enclaves = sys.argv[1:]
load, kept = _policy.load_policy, []

def load_for_good(path):
    kept.append(load(path))
    return kept[-1]

_policy.load_policy = load_for_good
_keystore.create_keystore(Path(place))
for enclave in (*enclaves, "broken"):
    _enclave.create_enclave(Path(place), f"/{enclave}")
    if enclave in enclaves:
        _permission.create_permission(Path(place), f"/{enclave}", Path(policy))
sys.stdout.flush()
os._exit(0)
"""
LISTENS_S = 8.0  # in which an outsider would hear a status that is latched, as the operator does at once


def secured(keystore: Path, enclave: str) -> dict[str, str]:
    return {
        "ROS_SECURITY_KEYSTORE": str(keystore),
        "ROS_SECURITY_ENABLE": "true",
        "ROS_SECURITY_STRATEGY": "Enforce",
        "ROS_SECURITY_ENCLAVE_OVERRIDE": enclave,
    }


@pytest.fixture(scope="module")
def keystore(tmp_path_factory: pytest.TempPathFactory, own_domain: None) -> Path:
    """Made as the page says; skips where the middleware does not look at it."""
    pytest.importorskip("sros2", reason="sros2 is not installed")
    place = tmp_path_factory.mktemp("sros") / "keystore"
    making = Running([sys.executable, "-c", KEYSTORE, str(place), str(config_file(FILE)), *GUESTS])
    try:
        assert making.wait() == 0, making.lines
    finally:
        making.kill()
    (place / "enclaves" / "broken" / "permissions.p7s").write_text("nothing signed", encoding="utf-8")
    probe = Running([sys.executable, "-c", PROBE, "/", "probe"], secured(place, "/broken"))
    try:
        # One without security either does not look, or (Fast DDS) refuses every node.
        if probe.wait() == 0 or any("SECURITY=ON" in line for line in probe.lines):
            pytest.skip(f"{os.environ.get('RMW_IMPLEMENTATION', 'this middleware')} has no DDS security")
    finally:
        probe.kill()
    return place


def proxy(kind: str) -> str:
    """The program; skips where it is not here."""
    return of_package(PACKAGES[kind], NODE) or pytest.skip("no rclcpp: the proxy in C++ is not built here")


@pytest.fixture(scope="module", params=PACKAGES)
def ends(request: pytest.FixtureRequest, keystore: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The proxies of both ends, each in its enclave."""
    keys = tmp_path_factory.mktemp("keys") / "root"
    pqc_mav_tunnel.init_keys(str(keys), ["d1"])
    ground = gcs_parameters(keys)
    air = drone_parameters(keys, ground["data_port"])
    with ExitStack() as running:
        for end, parameters in (("gcs", ground), ("drone", air)):
            line = [proxy(request.param), *ros_arguments(parameters, end)]
            running.callback(Running(line, secured(keystore, f"/{end}")).kill)
        yield


def answers(namespace: str, name: str, wishes: list[str], environment: dict[str, str]) -> dict[str, str]:
    """What became of each wish."""
    probe = Running([sys.executable, "-c", PROBE, namespace, name, *wishes], environment)
    try:
        probe.wait_for("ends")
        return {wish: line.partition(": ")[2] for wish in wishes for line in probe.lines if line.startswith(wish)}
    finally:
        probe.kill()


def test_the_operator_hears_both_ends_and_asks_them(ends: None, keystore: Path) -> None:
    wishes = [
        f"{kind}/{end}/pqc_proxy/{name}"
        for end in ("drone", "gcs")
        for kind, name in (("hear=", "status"), ("ask=", "get_info"))
    ]
    found = answers("/", "pqcmav_watch", wishes, secured(keystore, "/operator"))
    assert found == dict.fromkeys(wishes, "done")


def test_a_node_of_rclcpp_hears_of_parameters(keystore: Path) -> None:
    found = answers("/drone", "pqc_thermal", ["events=/parameter_events"], secured(keystore, "/drone"))
    assert found == {"events=/parameter_events": "done"}


@pytest.mark.parametrize(
    ("end", "wish"),
    [
        ("drone", "publish=/elsewhere"),
        ("gcs", "publish=/drone/threat"),
        ("operator", "publish=/drone/pqc_proxy/status"),
    ],
)
def test_what_the_policy_does_not_name_is_refused(keystore: Path, end: str, wish: str) -> None:
    where = ("/", "pqcmav_watch") if end == "operator" else (f"/{end}", "pqc_detect")
    found = answers(*where, [wish], secured(keystore, f"/{end}"))
    assert found[wish].startswith("refused")


@pytest.mark.parametrize("kind", PACKAGES)
@pytest.mark.parametrize(
    ("changed", "environment"),
    [
        (["-r", "~/status:=/elsewhere"], {}),  # a topic that the policy does not name
        ([], {"ROS_SECURITY_ENCLAVE_OVERRIDE": "/nobody"}),  # no key
    ],
    ids=["elsewhere", "keyless"],
)
def test_a_proxy_ends_where_the_policy_ends(
    keystore: Path, tmp_path: Path, kind: str, changed: list[str], environment: dict[str, str]
) -> None:
    keys = tmp_path / "root"
    pqc_mav_tunnel.init_keys(str(keys), ["d1"])
    line = [proxy(kind), *ros_arguments(gcs_parameters(keys), "gcs"), *changed]
    running = Running(line, {**secured(keystore, "/gcs"), **environment})
    try:
        assert running.wait() != 0, running.lines
    finally:
        running.kill()


def outsider(wish: str) -> str:
    """What became of the wish of a node without security."""
    program = PROBE.replace("float(60)", f"float({LISTENS_S})")
    probe = Running([sys.executable, "-c", program, "/", "outsider", wish])
    try:
        return str(probe.wait_for(wish).string)
    finally:
        probe.kill()


def test_an_outsider_hears_nothing(ends: None, keystore: Path) -> None:
    """Not without security, and not under a key that this keystore has not signed."""
    wish = "hear=/drone/pqc_proxy/status"
    assert answers("/", "pqcmav_watch", [wish], secured(keystore, "/operator")) == {wish: "done"}
    assert "nothing heard" in outsider(wish)
