# SPDX-License-Identifier: Apache-2.0
"""What the processes of all nodes share: signals, ROS up and down, a spinning thread, one line for a failure."""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
import traceback
from _thread import start_new_thread
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn

from pqc_mav_common import ros_log
from pqc_mav_common.dds_sockets import warn_if_exposed
from pqc_mav_common.errors import ExitCode, ProcessError, one_line
from pqc_mav_common.executors import Spun, one_thread
from pqc_mav_common.lean_imports import lean

SHUTDOWN_S = 5.0
LOOK_S = 0.5
# Between being finalized and leaving: an answer that has not come to whoever asked for it is lost with this process.
ANSWERED_S = 0.5


def call_in_handler(what: Callable[[], object]) -> None:
    """Calls in a handler of signals what takes a lock, such as the `set` of an event.

    Not in the thread that the handler interrupts: where that one holds the lock already, in a wait for the event or in
    the handler of the signal before, the call would wait for ever.
    """
    start_new_thread(what, ())


_asked_to_end = threading.Event()


def stop_on_signals() -> threading.Event:
    """An event that SIGINT and SIGTERM set from now on."""
    _asked_to_end.clear()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: call_in_handler(_asked_to_end.set))
    return _asked_to_end


def asked_to_end() -> bool:
    """Whether one of them came: for what waits while the process starts."""
    return _asked_to_end.is_set()


def block_hangups() -> None:
    """Keeps SIGHUP for `on_hangups`. To be called before there is any other thread."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGHUP})


def on_hangups(reload: Callable[[], None], stop: threading.Event) -> None:
    """From now on `reload` is called, in a thread of its own, for each SIGHUP that a process sends.

    One from the kernel says that the terminal is gone: it sets `stop`, so that nothing stays behind that nobody sees.
    """

    def wait() -> None:
        while not stop.is_set():
            if signal.sigwaitinfo({signal.SIGHUP}).si_code > 0:  # SI_KERNEL; SI_USER and the like are not positive
                stop.set()
            else:
                reload()

    threading.Thread(target=wait, name="hangups", daemon=True).start()


def wait_until(stop: threading.Event, nodes: Sequence[Any] = ()) -> bool:
    """Until a signal has set `stop`, or a lifecycle manager has finalized all of `nodes`: then it returns True.

    Python runs a handler between two steps of the main thread. A signal that comes just before that thread blocks would
    not be handled until the next one, so the thread looks up now and then.
    """
    while not stop.wait(LOOK_S):
        if nodes and all(node.finalized for node in nodes):
            stop.wait(ANSWERED_S)
            return True
    return False


def run_process(
    program: str,
    serve: Callable[[list[str], threading.Event], int],
    argv: Sequence[str] | None = None,
    *,
    package: str,
) -> int:
    """Calls `serve(arguments, stop)`, where SIGINT and SIGTERM set `stop`.

    Returns its exit code, or that of the ProcessError it ended in, which is one line on stderr. With `--version` it
    only prints the name of the program and the version of its package.
    """
    arguments = list(sys.argv if argv is None else argv)
    if "--version" in arguments[1:]:
        from importlib.metadata import version  # 1 MB that a process which stays does not need

        print(f"{program} {version(package)}")
        return ExitCode.OK
    lean()
    try:
        return serve(arguments, stop_on_signals())
    except ProcessError as error:
        if said := one_line(error):
            print(f"{program}: error: {said}", file=sys.stderr, flush=True)
        code = error.exit_code
    # A node whose start failed half-way is held by the error alone. Freed now, it leaves the ROS graph; otherwise
    # others would see it until its participant's lease is over, some 20 s.
    gc.collect()
    return code


def run_nodes(
    program: str,
    load: Callable[[list[str]], Sequence[Callable[[], Any]]],
    argv: Sequence[str] | None = None,
    *,
    package: str,
) -> int:
    """Runs nodes in one thread until SIGINT or SIGTERM; as `run_process` otherwise.

    `load(arguments)` imports their classes, takes its own arguments out and returns what makes the nodes, in the order
    in which they need each other.
    """

    def serve(arguments: list[str], stop: threading.Event) -> int:
        with needed_imports():
            from pqc_mav_common.config_file import without_a_block
            from pqc_mav_common.lifecycle import serving

            makers = load(arguments)
        with ros(arguments), serving(one_thread(), makers) as nodes:
            names = [node.get_fully_qualified_name() for node in nodes]
            for path in without_a_block(arguments, names):
                nodes[0].get_logger().warning(f"{path} says nothing for {' or '.join(names)}: nothing of it counts.")
            wait_until(stop, nodes)
        return ExitCode.OK

    return run_process(program, serve, argv, package=package)


@contextmanager
def needed_imports() -> Iterator[None]:
    """Around imports of what may not be installed. Turns an ImportError into a ProcessError."""
    try:
        yield
    except ImportError as error:
        raise ProcessError(f"{error}; 'pqcmav doctor' shows what is missing.", ExitCode.FAILED) from None


@contextmanager
def ros(arguments: list[str]) -> Iterator[None]:
    """Initialises ROS for the duration of the block. Raises ProcessError for bad arguments or parameter files."""
    # Not above: the command imports this module for its signals even where there is neither ROS nor PyYAML.
    from pqc_mav_common.config_file import check_params_files

    check_params_files(arguments)
    import rclpy
    from rclpy.signals import SignalHandlerOptions

    try:
        # Signals are handled here: rclpy's own handlers would shut the context down before everything is closed.
        rclpy.init(args=[*arguments, *ros_log.arguments(os.environ)], signal_handler_options=SignalHandlerOptions.NO)
    except Exception as error:  # rclpy raises RCLError, UnknownROSArgsError and others for bad arguments
        raise ProcessError(f"Bad arguments: {one_line(error)}") from None
    try:
        yield
    finally:
        rclpy.try_shutdown()


class Spinner:
    """Spins an executor in its own thread, from `start` to the end of the block, and then destroys the nodes added."""

    def __init__(self, executor: Spun) -> None:
        self._executor = executor
        self._thread = threading.Thread(target=self._spin, name="executor")
        self._nodes: list[Any] = []
        self._failure: Exception | None = None

    def add(self, node: Any) -> None:
        """Adds a node, which is destroyed at the end. The first one warns when ROS is open to other machines."""
        if not self._nodes:
            warn_if_exposed(node)
        self._nodes.append(node)
        self._executor.add_node(node)

    def start(self) -> None:
        """Starts the thread."""
        self._thread.start()

    def _spin(self) -> None:
        try:
            self._executor.spin()
        except Exception as error:
            # A process whose nodes answer nobody any more must not look as if it lived: whoever started it would wait.
            traceback.print_exc()
            if not _asked_to_end.is_set():
                self._failure = error
                _asked_to_end.set()

    def __enter__(self) -> Spinner:
        return self

    def __exit__(self, *exc: object) -> None:
        # The thread must be gone before anything it uses is destroyed.
        self._executor.shutdown(timeout_sec=SHUTDOWN_S)
        if self._thread.ident is not None:
            self._thread.join()
        for node in self._nodes:
            node.destroy_node()
        if self._failure is not None and exc[0] is None:
            what = f"{type(self._failure).__name__}: {one_line(self._failure)}"
            raise ProcessError(f"A callback of a node failed, so nothing is served any more: {what}", ExitCode.FAILED)


def leave(code: int) -> NoReturn:
    """Ends the process. All of ours is closed; a normal exit would only run the middleware's static destructors."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
