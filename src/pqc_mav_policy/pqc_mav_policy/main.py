"""The `pqc_policy` process: start, signals, orderly end, exit code."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Sequence

from pqc_mav_proxy import config_file
from pqc_mav_proxy.errors import ExitCode, ProxyError, one_line

PROGRAM = "pqc_policy"
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
        from rclpy.executors import SingleThreadedExecutor
        from rclpy.signals import SignalHandlerOptions

        from pqc_mav_policy.node import PqcPolicyNode
    except ImportError as error:
        raise ProxyError(f"{error}; 'pqcmav doctor' shows what is missing.", ExitCode.FAILED) from None

    try:
        # Signals are handled here: rclpy's own handlers would take the context away before everything is closed.
        rclpy.init(args=arguments, signal_handler_options=SignalHandlerOptions.NO)
    except Exception as error:  # rclpy raises RCLError, UnknownROSArgsError and others for bad arguments
        raise ProxyError(f"Bad arguments: {one_line(error)}") from None
    try:
        try:
            node = PqcPolicyNode()
        except (ValueError, pqc_mav_tunnel.TunnelError) as error:
            # Parameters, strategies, tables and suite names are refused with a sentence of their own.
            raise ProxyError(one_line(error)) from None
        executor = SingleThreadedExecutor()
        executor.add_node(node)
        spinning = threading.Thread(target=executor.spin, name="executor")
        try:
            spinning.start()
            stop.wait()
        finally:
            # The spin thread must be gone before anything it uses is destroyed.
            executor.shutdown(timeout_sec=SHUTDOWN_S)
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
