# SPDX-License-Identifier: Apache-2.0
"""Facts about this machine for `~/get_info`, read from the kernel's files. Nothing secret is among them."""

from __future__ import annotations

import os
import platform
import socket
from pathlib import Path


def _value_of(text: str, key: str, separator: str) -> str:
    for line in text.splitlines():
        name, found, value = line.partition(separator)
        if found and name.strip() == key:
            return value.strip().strip('"')
    return ""


def _read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def os_name(os_release: str) -> str:
    """PRETTY_NAME of the text of /etc/os-release, e.g. "Debian GNU/Linux 12 (bookworm)"."""
    return _value_of(os_release, "PRETTY_NAME", "=")


def cpu_model(cpuinfo: str, device_tree_model: str = "") -> str:
    """Processor name from the text of /proc/cpuinfo; on Arm boards, which have none there, the board's model."""
    return _value_of(cpuinfo, "model name", ":") or _value_of(cpuinfo, "Model", ":") or device_tree_model.strip("\0\n ")


def ram_mib(meminfo: str) -> int:
    """MemTotal of the text of /proc/meminfo in MiB; 0 when unknown."""
    value = _value_of(meminfo, "MemTotal", ":").removesuffix("kB").strip()
    return int(value) // 1024 if value.isdigit() else 0


def host_info() -> dict[str, str | int]:
    """Fields of GetInfo that describe the machine."""
    return {
        "host": socket.gethostname(),
        "os": os_name(_read("/etc/os-release")),
        "kernel": platform.release(),
        "machine": platform.machine(),
        "cpu_model": cpu_model(_read("/proc/cpuinfo"), _read("/proc/device-tree/model")),
        "cpu_count": os.cpu_count() or 0,
        "ram_mib": ram_mib(_read("/proc/meminfo")),
        "python_version": platform.python_version(),
    }
