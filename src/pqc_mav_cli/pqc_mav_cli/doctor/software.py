# SPDX-License-Identifier: Apache-2.0
"""Checks of the software: Python, ROS 2, the engine and its libraries, keys, and what is optional."""

import platform
import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module, metadata
from pathlib import Path
from typing import Any

from pqc_mav_cli.doctor import mavros, senses
from pqc_mav_cli.doctor.finding import Finding, fail, ok, warn
from pqc_mav_cli.errors import WITHOUT_ROS
from pqc_mav_cli.wording import counted

BUILD = "run 'make setup' in the workspace, or colcon build and source install/setup.bash"
MIN_PYTHON = (3, 10)
WHEELS = ("jazzy", "kilted")  # distributions of ROS 2 that the set-up installs where none is sourced


def python() -> Finding:
    """The interpreter."""
    text = f"{platform.python_version()} ({sys.executable})"
    if sys.version_info < MIN_PYTHON:
        return fail("Python", text, "Python 3.10 or newer is needed")
    return ok("Python", text)


def ros(environment: Mapping[str, str]) -> Finding:
    """rclpy and where it comes from: a sourced distribution or the wheels in a venv."""
    try:
        rclpy = import_module("rclpy")
        import_module("rclpy.lifecycle")
    except ImportError as error:
        return fail(
            "ROS 2",
            f"rclpy cannot be imported: {error}",
            "source ROS 2 Jazzy or newer, or run 'make setup' to install the wheels",
        )
    where = _wheels() or f"distribution {environment.get('ROS_DISTRO', 'unknown')}"
    return ok("ROS 2", f"{where} ({Path(rclpy.__file__ or '').parent})")


def _wheels() -> str | None:
    """Which wheels rclpy is from, unless it is from a ROS 2 installation."""
    for name in WHEELS:
        try:
            return f"wheels of {name.capitalize()}, rclpy {metadata.version(f'ros-{name}-rclpy')}"
        except metadata.PackageNotFoundError:
            continue
    return None


def discovery(environment: Mapping[str, str]) -> Finding:
    """Who on the network can see and call our topics and services: they are not encrypted."""
    reach = environment.get("ROS_AUTOMATIC_DISCOVERY_RANGE", "")
    domain = environment.get("ROS_DOMAIN_ID", "0")
    if reach in ("LOCALHOST", "OFF"):
        return ok("ROS discovery", f"{reach}, domain {domain}: topics stay on this machine")
    if reach not in ("", "SUBNET", "SYSTEM_DEFAULT"):  # rcl knows capital letters alone
        return ok("ROS discovery", f"'{reach}' is no range, so LOCALHOST, domain {domain}: topics stay on this machine")
    return warn(
        "ROS discovery",
        f"{reach or 'SUBNET (default)'}, domain {domain}: others on the network can read the topics and request rekeys",
        "export ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST",
    )


def packages(names: Iterable[str]) -> list[Finding]:
    """Our own Python packages; one line for all, or one per missing one."""
    names = list(names)
    missing = []
    for name in names:
        try:
            import_module(name)
        except ImportError as error:
            missing.append(fail("packages", f"{name} cannot be imported: {error}", BUILD))
    return missing or [ok("packages", ", ".join(names))]


def engine() -> list[Finding]:
    """The engine, its crypto libraries and their algorithms."""
    try:
        tunnel = import_module("pqc_mav_tunnel")
    except ImportError as error:
        return [fail("engine", f"pqc_mav_tunnel cannot be imported: {error}", BUILD)]
    try:
        core, standard = tunnel.suites(view="core"), tunnel.suites(view="standard")
    except tunnel.TunnelError as error:
        return [fail("engine", str(error), BUILD)]
    available = sum(suite.available for suite in core)
    text = f"version {tunnel.engine_version()}, {available} of {len(core)} core suites can run"
    text += f", {sum(suite.available for suite in standard)} of {len(standard)} of published standards alone"
    return [
        ok("engine", text) if available else fail("engine", text, BUILD),
        ok("OpenSSL", tunnel.openssl_version()),
        ok("liboqs", tunnel.liboqs_version()),
        *algorithms([dict(entry) for entry in tunnel.preflight()]),
    ]


def algorithms(preflight: Sequence[Mapping[str, Any]]) -> list[Finding]:
    """Who computes what: one line per kind, and one per missing algorithm of which there is one edition alone."""
    findings = []
    for kind, title in (("KEM", "key exchange"), ("SIG", "signatures")):
        entries = sorted((entry for entry in preflight if entry["kind"] == kind), key=lambda entry: not entry["by"])
        have: dict[str, list[str]] = {}
        for entry in entries:
            have.setdefault(entry["by"] or "not here", []).append(entry["display"])
        if have.keys() <= {"not here"}:
            if entries:
                findings.append(fail(title, "none of the algorithms is available", BUILD))
            continue
        findings.append(ok(title, "; ".join(f"{who}: {', '.join(names)}" for who, names in have.items())))
        findings += [
            warn(
                title, f"{entry['display']} is missing: {entry['reason']}", "suites that do not use it are not affected"
            )
            for entry in entries
            if not entry["available"] and entry["edition"] == "lasting"
        ]
    return findings


def keys(folder: Path) -> list[Finding]:
    """The long-term keys in `folder`, if any: permissions and formats."""
    if not folder.exists():
        return [warn("keys", f"{folder} does not exist", "'pqcmav keys init DRONE...' makes keys")]
    tunnel = import_module("pqc_mav_tunnel")
    try:
        entries = [dict(entry) for entry in tunnel.list_keys(str(folder))]
    except tunnel.TunnelError as error:
        return [fail("keys", str(error))]
    problems = [entry["problem"] for entry in entries if entry["problem"]]
    if problems:
        return [fail("keys", problem) for problem in problems]
    if not entries:
        return [warn("keys", f"{folder} holds no keys", "'pqcmav keys init DRONE...' makes keys")]
    return [ok("keys", f"{counted(len(entries), 'key')} in {folder}, readable only by the owner")]


def optional(name: str, module: str, there: str, without: str) -> Finding:
    """Something that is nice to have; its absence is said and is no fault."""
    try:
        import_module(module)
    except ImportError:
        return ok(name, f"not installed: {without}")
    return ok(name, there)


def wanted_ports() -> list[tuple[str, int, str]]:
    """The ports both ends use by default, from the engine's schema; empty without the engine."""
    try:
        tunnel = import_module("pqc_mav_tunnel")
        schemas = [tunnel.config_schema(role) for role in ("gcs", "drone")]
    except (ImportError, RuntimeError):
        return []
    defaults = {entry["key"]: entry["default"] for schema in schemas for entry in schema}
    host, _, plain = defaults["plain_bind"].rpartition(":")
    return [
        ("gcs UDP", defaults["data_port"], ""),
        ("drone UDP", defaults["local_data_port"], ""),
        ("plaintext UDP", int(plain), host),
    ]


def without_ros() -> Finding:
    """What carries the tunnel where nothing of ROS is installed on purpose."""
    if program := shutil.which("pqcmav-tunneld"):
        return ok("ROS 2", f"not part of this package: {program} carries the tunnel")
    return fail("ROS 2", "not part of this package, and pqcmav-tunneld is not here", "install pqcmav-tunneld")


def checks(keys_folder: Path, environment: Mapping[str, str]) -> list[Finding]:
    """All of the above here."""
    bare = bool(environment.get(WITHOUT_ROS))
    found = [python()]
    if bare:
        found.append(without_ros())
    else:
        found += [ros(environment), discovery(environment)]
        found += packages(("pqc_mav_interfaces.msg", "pqc_mav_proxy", "pqc_mav_bringup"))
    engine_findings = engine()
    found += engine_findings
    if len(engine_findings) > 1:
        found += keys(keys_folder)
    if bare:
        return found
    return [
        *found,
        optional("simulation", "pqc_mav_sim.vehicle", "vehicle and ground client for the demo", "the demo cannot run"),
        optional("launch", "launch_ros.actions", "'ros2 launch' works", "use 'pqcmav up' instead of 'ros2 launch'"),
        *mavros.checks(),
        *senses.checks(),
    ]
