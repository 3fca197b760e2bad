"""The sensing processes: all nodes in one (`pqc_sensing`), or each for itself (`pqc_battery`, `pqc_thermal`, ...)."""

from __future__ import annotations

import importlib
import os
import signal
import sys
import threading
from collections.abc import Mapping, Sequence
from typing import Any

from pqc_mav_sensing.errors import ExitCode, SensingError, one_line

# Node -> where its class and parameters are. Imported only when it runs: each has libraries of its own.
NODES: Mapping[str, tuple[str, str]] = {
    "battery": ("pqc_mav_sensing.battery_node", "BatteryNode"),
    "thermal": ("pqc_mav_sensing.thermal_node", "ThermalNode"),
    "power": ("pqc_mav_sensing.power_node", "PowerNode"),
    "system": ("pqc_mav_sensing.system_node", "SystemNode"),
}
FLAG = "--nodes"
SHUTDOWN_S = 5.0


def wanted_nodes(arguments: list[str]) -> list[str]:
    """Takes `--nodes battery,thermal` out of the arguments; all nodes without it. Raises SensingError."""
    if FLAG not in arguments:
        return list(NODES)
    at = arguments.index(FLAG)
    if at + 1 >= len(arguments):
        raise SensingError(f"{FLAG} needs a list: some of {','.join(NODES)}.")
    names = [name.strip() for name in arguments[at + 1].split(",") if name.strip()]
    unknown = [name for name in names if name not in NODES]
    if unknown or not names:
        raise SensingError(f"{FLAG} {arguments[at + 1]}: give some of {','.join(NODES)}.")
    del arguments[at : at + 2]
    return list(dict.fromkeys(names))


def main(program: str, nodes: Sequence[str] | None = None, argv: Sequence[str] | None = None) -> int:
    """Runs nodes until SIGINT or SIGTERM. Returns an ExitCode; a failure is one line on stderr."""
    arguments = list(sys.argv if argv is None else argv)
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    try:
        _serve(list(nodes) if nodes else wanted_nodes(arguments), arguments, stop)
    except SensingError as error:
        print(f"{program}: error: {one_line(error)}", file=sys.stderr, flush=True)
        return error.exit_code
    return ExitCode.OK


def _serve(names: Sequence[str], arguments: list[str], stop: threading.Event) -> None:
    try:
        import rclpy
        from rclpy.executors import SingleThreadedExecutor
        from rclpy.signals import SignalHandlerOptions

        modules = {name: importlib.import_module(NODES[name][0]) for name in names}
    except ImportError as error:
        raise SensingError(f"{error}; 'pqcmav doctor' shows what is missing.", ExitCode.FAILED) from None
    try:
        # Signals are handled here: rclpy's own handlers would take the context away before everything is closed.
        rclpy.init(args=arguments, signal_handler_options=SignalHandlerOptions.NO)
    except Exception as error:  # rclpy raises RCLError, UnknownROSArgsError and others for bad arguments
        raise SensingError(f"Bad arguments: {one_line(error)}") from None
    made: list[Any] = []
    try:
        siblings = [spec.name for module in modules.values() for spec in module.PARAMETERS]
        executor = SingleThreadedExecutor()
        spinning = threading.Thread(target=executor.spin, name="executor")
        try:
            for name, module in modules.items():
                made.append(getattr(module, NODES[name][1])(siblings))
                executor.add_node(made[-1])
            spinning.start()
            stop.wait()
        finally:
            for node in made:
                node.close()
            # The spin thread must be gone before anything it uses is destroyed.
            executor.shutdown(timeout_sec=SHUTDOWN_S)
            if spinning.ident is not None:
                spinning.join()
            for node in made:
                node.destroy_node()
    finally:
        rclpy.try_shutdown()


def _end(code: int) -> None:
    sys.stdout.flush()
    sys.stderr.flush()
    # Everything of ours is closed by now. Interpreter teardown would only run the middleware's static destructors.
    os._exit(code)


def run() -> None:
    """Console script `pqc_sensing`."""
    _end(main("pqc_sensing"))


def run_battery() -> None:
    """Console script `pqc_battery`."""
    _end(main("pqc_battery", ["battery"]))


def run_thermal() -> None:
    """Console script `pqc_thermal`."""
    _end(main("pqc_thermal", ["thermal"]))


def run_power() -> None:
    """Console script `pqc_power`."""
    _end(main("pqc_power", ["power"]))


def run_system() -> None:
    """Console script `pqc_system`."""
    _end(main("pqc_system", ["system"]))


if __name__ == "__main__":
    run()
