# SPDX-License-Identifier: Apache-2.0
"""The frame of a process: exit codes, one line for a failure, signals, and what ends before what."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from importlib.metadata import version
from types import SimpleNamespace

import pytest

from pqc_mav_common.errors import ExitCode, ProcessError
from pqc_mav_common.process import Spinner, needed_imports, ros, run_process, stop_on_signals, wait_until
from pqc_mav_common.testing import GONE_S, until
from pqc_mav_common.testing_onlooker import Onlooker

DEADLINE_S = 60.0
PACKAGE = "pqc_mav_common"


@pytest.fixture(autouse=True)
def handlers() -> Iterator[None]:
    """Pytest's own handlers come back after each test."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops(number: signal.Signals) -> None:
    stop = stop_on_signals()
    assert not stop.is_set()
    os.kill(os.getpid(), number)
    assert stop.wait(DEADLINE_S)


IN_THE_LOCK = """
import signal
from pqc_mav_common.process import stop_on_signals
stop = stop_on_signals()
with stop._cond:  # as Event.wait does, at its beginning and whenever it wakes up
    signal.raise_signal(signal.SIGTERM)
raise SystemExit(0 if stop.wait(10) else 1)
"""


def test_a_signal_that_comes_while_the_event_is_locked_stops_too() -> None:
    ended = subprocess.run([sys.executable, "-c", IN_THE_LOCK], timeout=DEADLINE_S, check=False)
    assert ended.returncode == 0


def test_a_signal_that_did_not_wake_the_wait_is_seen() -> None:
    class Overslept(threading.Event):
        """Its first wait ends only by its limit, as where the signal came just before it."""

        waits = 0

        def wait(self, timeout: float | None = None) -> bool:
            self.waits += 1
            if self.waits > 1:
                return super().wait(timeout)
            assert timeout is not None, "it would wait forever"
            self.set()
            return False

    stop = Overslept()
    wait_until(stop)
    assert stop.waits == 2


def test_the_exit_code_and_the_arguments_are_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[list[str]] = []

    def serve(arguments: list[str], stop: threading.Event) -> int:
        seen.append(arguments)
        os.kill(os.getpid(), signal.SIGTERM)
        assert stop.wait(DEADLINE_S)
        return 3

    monkeypatch.setattr(sys, "argv", ["from the shell"])
    assert run_process("p", serve, package=PACKAGE) == 3
    assert run_process("p", serve, ["given"], package=PACKAGE) == 3
    assert seen == [["from the shell"], ["given"]]


@pytest.mark.parametrize("code", [ExitCode.FAILED, ExitCode.CONFIG, ExitCode.START])
def test_a_refusal_is_one_line_and_its_code(code: ExitCode, capsys: pytest.CaptureFixture[str]) -> None:
    def serve(_arguments: list[str], _stop: threading.Event) -> int:
        raise ProcessError("Not\n  like this.", code)

    assert run_process("p", serve, [], package=PACKAGE) == code
    out, err = capsys.readouterr()
    assert (out, err) == ("", "p: error: Not like this.\n")


def test_an_unexpected_error_is_not_hidden() -> None:
    def serve(_arguments: list[str], _stop: threading.Event) -> int:
        raise KeyError("a bug")

    with pytest.raises(KeyError):
        run_process("p", serve, [], package=PACKAGE)


def test_the_version_is_asked_for_alone(capsys: pytest.CaptureFixture[str]) -> None:
    def serve(_arguments: list[str], _stop: threading.Event) -> int:
        raise AssertionError("nothing is to be served")

    assert run_process("p", serve, ["p", "--version"], package=PACKAGE) == ExitCode.OK
    assert capsys.readouterr() == (f"p {version(PACKAGE)}\n", "")


def test_a_missing_library_is_named() -> None:
    with pytest.raises(ProcessError, match="'nowhere_to_be_found'; 'pqcmav doctor'") as caught, needed_imports():
        import nowhere_to_be_found  # type: ignore[import-not-found]  # noqa: F401
    assert caught.value.exit_code is ExitCode.FAILED


def test_ros_is_up_in_the_block_only() -> None:
    import rclpy

    with pytest.raises(RuntimeError, match="inside"), ros(["p"]):
        assert rclpy.ok()
        raise RuntimeError("inside")
    assert not rclpy.ok()


def test_bad_arguments_are_refused() -> None:
    with pytest.raises(ProcessError, match=r"^Bad arguments: ") as caught, ros(["p", "--ros-args", "-r", "nonsense"]):
        pytest.fail("ROS came up")
    assert caught.value.exit_code is ExitCode.CONFIG


def test_a_parameter_file_that_is_not_there_is_refused() -> None:
    with (
        pytest.raises(ProcessError, match=r"^Cannot read the configuration file /none\.yaml: No such file") as caught,
        ros(["p", "--ros-args", "--params-file", "/none.yaml"]),
    ):
        pytest.fail("ROS came up")
    assert caught.value.exit_code is ExitCode.CONFIG


class Executor:
    """Spins until it is shut down; both it and its nodes write into `said`."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self._up = threading.Event()
        self._down = threading.Event()

    def add_node(self, node: Node) -> None:
        self.said.append(f"add {node.name}")

    def spin(self) -> None:
        self._up.set()
        assert self._down.wait(DEADLINE_S)
        self.said.append("spun")

    def shutdown(self, timeout_sec: float) -> None:
        assert timeout_sec > 0
        self.said.append("shutdown")
        self._down.set()

    def wait_until_up(self) -> None:
        assert self._up.wait(DEADLINE_S)


class Node:
    def __init__(self, name: str, executor: Executor) -> None:
        self.name = name
        self.context = SimpleNamespace(get_domain_id=lambda: 0)
        self._executor = executor

    def destroy_node(self) -> None:
        self._executor.said.append(f"destroy {self.name}")


def test_nodes_are_destroyed_when_the_thread_is_gone() -> None:
    executor = Executor()
    with Spinner(executor) as spinner:
        spinner.add(Node("a", executor))
        spinner.add(Node("b", executor))
        spinner.start()
        executor.wait_until_up()
        executor.said.append("work")
    assert executor.said == ["add a", "add b", "work", "shutdown", "spun", "destroy a", "destroy b"]


def test_nodes_are_destroyed_when_the_start_failed() -> None:
    executor = Executor()
    with pytest.raises(ProcessError, match="port"), Spinner(executor) as spinner:
        spinner.add(Node("a", executor))
        raise ProcessError("The port is in use.", ExitCode.START)
    assert executor.said == ["add a", "shutdown", "destroy a"]


class Broken(Executor):
    def spin(self) -> None:
        raise RuntimeError("a callback of\nours")


def test_a_callback_that_fails_ends_the_process(capfd: pytest.CaptureFixture[str]) -> None:
    stop = stop_on_signals()
    executor = Broken()
    with pytest.raises(ProcessError, match="RuntimeError: a callback of ours") as raised, Spinner(executor) as spinner:
        spinner.add(Node("a", executor))
        spinner.start()
        assert stop.wait(DEADLINE_S)
    assert raised.value.exit_code == ExitCode.FAILED and executor.said[-1] == "destroy a"
    assert "Traceback" in capfd.readouterr().err


FAILING = """
import sys, time
from rclpy.node import Node
from pqc_mav_common.errors import ProcessError
from pqc_mav_common.process import leave, ros, run_process

class Failing(Node):
    def __init__(self):
        super().__init__("failing_late")
        self.create_timer(1.0, lambda: None)
        print("made", flush=True)
        sys.stdin.readline()
        raise ProcessError("No.")

def serve(arguments, _stop):
    with ros(arguments):
        Failing()

leave(run_process("p", serve, package="pqc_mav_common"))
"""


def test_a_node_whose_start_failed_leaves_the_graph() -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", FAILING], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    with Onlooker() as onlooker:
        try:
            until(lambda: onlooker.sees("/failing_late"), "the node")
            _, said = process.communicate(b"\n", DEADLINE_S)
            assert (process.returncode, said) == (ExitCode.CONFIG, b"p: error: No.\n")
            until(lambda: not onlooker.sees("/failing_late"), "the node gone from the graph", GONE_S)
        finally:
            process.kill()
            process.wait()


def test_leaving_writes_what_was_printed_and_skips_the_teardown() -> None:
    line = (
        "import atexit; from pqc_mav_common.process import leave;"
        "atexit.register(print, 'teardown'); print('last words'); leave(3)"
    )
    ended = subprocess.run(
        [sys.executable, "-c", line], capture_output=True, text=True, timeout=DEADLINE_S, check=False
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (3, "last words\n", "")


HANGUPS = """
import os, pty, signal, sys, threading
from pqc_mav_common.process import block_hangups, on_hangups, stop_on_signals, wait_until
block_hangups()
stop, read = stop_on_signals(), threading.Semaphore(0)
on_hangups(read.release, stop)
for _ in range(2):
    os.kill(os.getpid(), signal.SIGHUP)
    assert read.acquire(timeout=10)
assert not stop.is_set()
if sys.argv[1] == "terminal":
    print("ready", flush=True)
    wait_until(stop)
"""


def test_a_hangup_that_a_process_sends_reloads() -> None:
    ended = subprocess.run([sys.executable, "-c", HANGUPS, "alone"], timeout=DEADLINE_S, check=False)
    assert ended.returncode == 0


def test_a_terminal_that_is_gone_ends_it() -> None:
    pid, terminal = pty.fork()
    if pid == 0:
        os.execv(sys.executable, [sys.executable, "-c", HANGUPS, "terminal"])
    said = b""
    while b"ready\r\n" not in said:  # all that it writes: a terminal that closes in between fails the write
        said += os.read(terminal, 100)
    os.close(terminal)
    _, status = os.waitpid(pid, 0)
    assert os.waitstatus_to_exitcode(status) == 0
