# SPDX-License-Identifier: Apache-2.0
"""Executors: timers, services, an orderly end, and that none of them waits indefinitely."""

from __future__ import annotations

import builtins
import threading
from collections.abc import Iterator
from typing import Any

import pytest
import rclpy
import rclpy.executors as rclpy_executors
from rclpy.executors import Executor, MultiThreadedExecutor, SingleThreadedExecutor
from std_srvs.srv import Trigger

from pqc_mav_common import executors
from pqc_mav_common.executors import WAIT_S, Spun, one_thread
from pqc_mav_common.process import Spinner
from pqc_mav_common.testing import DEADLINE_S


@pytest.fixture
def ros() -> Iterator[None]:
    rclpy.init()
    yield
    rclpy.try_shutdown()


def test_timers_and_services_are_served_in_one_thread_until_the_end(ros: None) -> None:
    threads: set[int] = set()
    ticked = threading.Event()

    def tick() -> None:
        threads.add(threading.get_ident())
        ticked.set()

    def answer(_request: Any, response: Any) -> Any:
        threads.add(threading.get_ident())
        response.success = True
        return response

    with Spinner(one_thread()) as spinner:
        node = rclpy.create_node("served")
        spinner.add(node)
        node.create_service(Trigger, "answer", answer)
        spinner.start()
        node.create_timer(0.05, tick)  # after the start: it is served all the same
        assert ticked.wait(DEADLINE_S)
        caller = node.create_client(Trigger, "answer")
        assert caller.wait_for_service(DEADLINE_S)
        answered = threading.Event()
        future = caller.call_async(Trigger.Request())
        future.add_done_callback(lambda _: answered.set())
        assert answered.wait(DEADLINE_S)
        assert future.result().success
    assert len(threads) == 1 and threading.get_ident() not in threads


def test_where_rclpy_has_no_events_its_ordinary_executor_serves(ros: None, monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name == "rclpy.experimental":
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    assert isinstance(one_thread()._executor, SingleThreadedExecutor)


class Waits:
    """In place of rclpy's executor: notes how long it is asked to wait."""

    def __init__(self) -> None:
        self.asked: list[float | None] = []
        self.ended_with: float | None = None
        self.enough = threading.Event()

    def spin_once(self, timeout_sec: float | None = None) -> None:
        self.asked.append(timeout_sec)
        if len(self.asked) == 3:
            self.enough.set()
        threading.Event().wait(0.001)

    def shutdown(self, timeout_sec: float | None = None) -> None:
        self.ended_with = timeout_sec


def test_it_never_waits_for_ever() -> None:
    inner = Waits()
    executor = Spun(inner)
    thread = threading.Thread(target=executor.spin)
    thread.start()
    assert inner.enough.wait(DEADLINE_S)
    executor.shutdown(4.0)
    thread.join(DEADLINE_S)
    assert not thread.is_alive()
    assert set(inner.asked) == {WAIT_S} and inner.ended_with == 4.0


@pytest.mark.parametrize("made", [SingleThreadedExecutor, MultiThreadedExecutor])
def test_it_ends_if_it_is_told_to_right_before_it_waits(
    ros: None, monkeypatch: pytest.MonkeyPatch, made: type[Executor]
) -> None:
    monkeypatch.setattr(executors, "WAIT_S", 0.2)
    about_to_wait, told = threading.Event(), threading.Event()
    counted = rclpy_executors.NumberOfEntities

    def late(*numbers: int) -> Any:
        """Called once all that may wake it is known, its guard, too; here its thread loses its turn."""
        about_to_wait.set()
        told.wait(DEADLINE_S)
        return counted(*numbers)

    monkeypatch.setattr(rclpy_executors, "NumberOfEntities", late)
    executor, node = Spun(made()), rclpy.create_node("waits")
    executor.add_node(node)
    thread = threading.Thread(target=executor.spin, daemon=True)
    thread.start()
    assert about_to_wait.wait(DEADLINE_S)
    executor.shutdown(0.0)
    told.set()
    thread.join(5.0)
    assert not thread.is_alive()
    node.destroy_node()


class Torn:
    """An executor whose guards go while it looks at them, as rclpy's may at `shutdown`."""

    def __init__(self) -> None:
        self.looks = threading.Event()
        self.gone = threading.Event()

    def spin_once(self, timeout_sec: float) -> None:
        self.looks.set()
        assert self.gone.wait(DEADLINE_S)
        raise AttributeError("'NoneType' object has no attribute 'handle'")

    def shutdown(self, timeout_sec: float | None) -> None:
        self.gone.set()


def test_what_breaks_by_the_end_alone_is_no_error() -> None:
    torn = Torn()
    spun = Spun(torn)
    failed: list[BaseException] = []

    def spin() -> None:
        try:
            spun.spin()
        except AttributeError as error:
            failed.append(error)

    thread = threading.Thread(target=spin)
    thread.start()
    assert torn.looks.wait(DEADLINE_S)
    spun.shutdown()
    thread.join(DEADLINE_S)
    assert not failed
    with pytest.raises(AttributeError):
        Spun(torn).spin()
