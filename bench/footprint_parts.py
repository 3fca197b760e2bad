# SPDX-License-Identifier: Apache-2.0
"""What the memory of a process is made of, in a few groups of mappings."""

import re
from collections.abc import Mapping

from pqc_mav_common import markdown

# The first that fits the name of a mapping counts.
GROUPS: Mapping[str, str] = {
    "made at run time: objects, buffers, stacks": r"|\[.*\]",
    "shared memory between DDS participants": r"/dev/shm/.*",  # noqa: S108 - a name to recognise
    "programs and libraries of the suite": r".*/(pqc_[a-z]+|pqcmav[^/]*|_engine\.[^/]*)",
    "types of messages": r".*/[^/]*(rosidl|_msgs|_interfaces|_srvs)[^/]*",
    "Fast DDS": r".*/lib(fast|rmw)[^/]*",
    "rclcpp": r".*/librclcpp[^/]*",
    "rclpy, rcl, logging, tracing": r".*/(_?lib)?_?(rcl|rcutils|rcpputils|spdlog|fmt|tracetools|lttng|urcu)[^/]*",
    "OpenSSL, liboqs": r".*/lib(crypto|ssl|oqs)[^/]*",
    "Python and its modules": r".*/(python3[^/]*|libpython[^/]*|[^/]*\.cpython-[^/]*)",
    "libc, libstdc++ and others": r".*",
}


def grouped(parts: Mapping[str, float]) -> dict[str, int]:
    """KiB by group, of KiB by mapping."""
    found = dict.fromkeys(GROUPS, 0.0)
    for name, kib in parts.items():
        found[next(group for group, pattern in GROUPS.items() if re.fullmatch(pattern, name))] += kib
    return {group: round(kib) for group, kib in found.items()}


def table(memory: Mapping[str, Mapping[str, Mapping[str, int]]]) -> str:
    """The groups of every process [MB of a million bytes]; "" where they were not looked at."""
    if not all(each.get("parts_kib") for each in memory.values()):
        return ""
    rows = []
    for group in next(iter(memory.values()))["parts_kib"]:
        kib = [each["parts_kib"][group] for each in memory.values()]
        rows.append((group, *(f"{one * 1024 / 1e6:.1f}" for one in (*kib, sum(kib)))))
    return "\n`alone` by what it is [MB]:\n\n" + markdown.table(("", *memory, "together"), rows)
