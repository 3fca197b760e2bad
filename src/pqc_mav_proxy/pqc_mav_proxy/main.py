"""The `pqc_proxy` process: start, signals, orderly end, exit code."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Sequence

from pqc_mav_proxy import config_file
from pqc_mav_proxy.errors import ExitCode, ProxyError, one_line

PROGRAM = "pqc_proxy"
SHUTDOWN_S = 5.0


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the node until SIGINT or SIGTERM. Returns an ExitCode; a failure is one line on stderr."""
    arguments = list(sys.argv if argv is None else argv)
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    try:
        config_file.check_params_files(arguments)
        _serve(arguments, stop)
    except ProxyError as error:
        print(f"{PROGRAM}: error: {one_line(error)}", file=sys.stderr, flush=True)
        return error.exit_code
    return ExitCode.OK


def _serve(arguments: list[str], stop: threading.Event) -> None:
    try:
        import pqc_mav_tunnel
        import rclpy
        from rclpy.executors import MultiThreadedExecutor
        from rclpy.signals import SignalHandlerOptions

        from pqc_mav_proxy.node import REKEYS_AT_ONCE, PqcProxyNode, bring_up
    except ImportError as error:
        raise ProxyError(f"{error}; 'pqcmav doctor' shows what is missing.", ExitCode.FAILED) from None

    # Before a key is read: session keys live in this process's memory.
    if said := pqc_mav_tunnel.forbid_core_dumps():
        print(f"{PROGRAM}: warning: {said}", file=sys.stderr, flush=True)
    try:
        # Signals are handled here: rclpy's own handlers would take the context away before the last status is out.
        rclpy.init(args=arguments, signal_handler_options=SignalHandlerOptions.NO)
    except Exception as error:  # rclpy raises RCLError, UnknownROSArgsError and others for bad arguments
        raise ProxyError(f"Bad arguments: {one_line(error)}") from None
    try:
        node = PqcProxyNode()
        # One thread stays free for topics while rekeys wait in the others.
        executor = MultiThreadedExecutor(num_threads=REKEYS_AT_ONCE + 1)
        executor.add_node(node)
        spinning = threading.Thread(target=executor.spin, name="executor")
        try:
            if node.autostart:
                bring_up(node)
            spinning.start()
            stop.wait()
        finally:
            node.close()
            # The spin thread must be gone before anything it uses is destroyed.
            executor.shutdown(timeout_sec=SHUTDOWN_S)
            if spinning.ident is not None:
                spinning.join()
            node.destroy_node()
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
