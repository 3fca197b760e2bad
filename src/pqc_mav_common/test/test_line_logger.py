# SPDX-License-Identifier: Apache-2.0
import pytest

from pqc_mav_common.line_logger import LineLogger

LEVELS = ("debug", "info", "warning", "warn", "error", "fatal")


class Recorder:
    name = "node"

    def __init__(self) -> None:
        self.said: list[tuple[str, str]] = []

    def __getattr__(self, level: str):
        return lambda text, **_: self.said.append((level, text)) is None


@pytest.mark.parametrize("level", LEVELS)
def test_no_message_forges_a_line(level: str) -> None:
    inner = Recorder()
    getattr(LineLogger(inner), level)("drill\n[INFO] Asked by uid 0\x1b[2K", once=True)
    ((_, said),) = inner.said
    assert said == "drill\\x0a[INFO] Asked by uid 0\\x1b[2K"


def test_all_else_is_the_loggers_own() -> None:
    assert LineLogger(Recorder()).name == "node"


def test_calls_are_told_apart_by_their_places() -> None:
    """Or rclpy would refuse the second one, whose filter is another."""
    from rclpy.logging import get_logger

    logger = LineLogger(get_logger("drill"))
    assert logger.error("one")
    assert logger.error("another", throttle_duration_sec=10.0)


def test_a_node_has_one(capfd: pytest.CaptureFixture[str]) -> None:
    import rclpy

    from pqc_mav_common.lifecycle import ManagedNode

    context = rclpy.Context()
    rclpy.init(args=[], context=context)
    node = ManagedNode("forged", context=context)
    try:
        node.get_logger().info("one\ntwo\x1b")
    finally:
        node.destroy_node()
        context.try_shutdown()
    said = capfd.readouterr().err
    assert "one\\x0atwo\\x1b" in said and "\x1b" not in said
