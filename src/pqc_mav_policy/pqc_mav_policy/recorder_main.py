"""The `flight_recorder` process: start, signals, an orderly end of the file, exit code."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Sequence

from pqc_mav_policy.recorder import MIB
from pqc_mav_policy.recorder_file import RecordingError

PROGRAM = "flight_recorder"
SHUTDOWN_S = 5.0
# As for the other nodes: a supervisor starts again after 1 and 3, never after 2.
OK, FAILED, CONFIG = 0, 1, 2


def main(argv: Sequence[str] | None = None) -> int:
    """Records until SIGINT or SIGTERM. Returns an exit code; a failure is one line on stderr."""
    arguments = list(sys.argv if argv is None else argv)
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    try:
        return _serve(arguments, stop)
    except RecordingError as error:
        print(f"{PROGRAM}: error: {' '.join(str(error).split())}", file=sys.stderr, flush=True)
        return CONFIG


def _serve(arguments: list[str], stop: threading.Event) -> int:
    try:
        import rclpy
        from rclpy.executors import SingleThreadedExecutor
        from rclpy.signals import SignalHandlerOptions

        from pqc_mav_policy.recorder_node import FlightRecorderNode
    except ImportError as error:
        print(f"{PROGRAM}: error: {error}; 'pqcmav doctor' shows what is missing.", file=sys.stderr, flush=True)
        return FAILED
    try:
        # Signals are handled here: the context must outlive the last message.
        rclpy.init(args=arguments, signal_handler_options=SignalHandlerOptions.NO)
    except Exception as error:  # rclpy raises RCLError, UnknownROSArgsError and others for bad arguments
        raise RecordingError(f"Bad arguments: {error}") from None
    try:
        node = FlightRecorderNode()
        executor = SingleThreadedExecutor()
        executor.add_node(node)
        spinning = threading.Thread(target=executor.spin, name="executor")
        spinning.start()
        try:
            stop.wait()
        finally:
            # The spin thread must be gone before anything it uses is destroyed.
            executor.shutdown(timeout_sec=SHUTDOWN_S)
            spinning.join()
        try:
            path = node.recorder.stop()
        except RecordingError as error:
            print(f"{PROGRAM}: error: {error}", file=sys.stderr, flush=True)
            return FAILED
        size = path.stat().st_size / MIB
        print(f"{PROGRAM}: {node.recorder.messages} messages of {node.topics} topics in {path}, {size:.1f} MiB")
        if node.recorder.problem:
            print(f"{PROGRAM}: it ended early: {node.recorder.problem}", file=sys.stderr, flush=True)
            return FAILED
        return OK
    finally:
        rclpy.try_shutdown()


def run() -> None:
    """Console script."""
    code = main()
    sys.stdout.flush()
    sys.stderr.flush()
    # Everything of ours is closed by now. Interpreter teardown would only run the middleware's static destructors.
    os._exit(code)


if __name__ == "__main__":
    run()
