# SPDX-License-Identifier: Apache-2.0
"""Which of the two proxies runs: the one in C++, which only a ROS with rclcpp has, or the one in Python."""

from __future__ import annotations

from collections.abc import Mapping

from pqc_mav_bringup.description import Argument, ProcessDescription, Respawn, Setting
from pqc_mav_bringup.executables import of_package

NODE = "pqc_proxy"
PY, CPP = "py", "cpp"
PACKAGES: Mapping[str, str] = {PY: "pqc_mav_proxy", CPP: "pqc_mav_proxy_cpp"}
HINT = "proxy:=cpp needs the workspace built with rclcpp (a ROS 2 installation); proxy:=py works without it"


def best() -> str:
    """The one in C++ where it is installed: it is the smaller one."""
    return CPP if of_package(PACKAGES[CPP], NODE) else PY


ARGUMENT = Argument(
    "proxy",
    "Which proxy: cpp = in C++, py = in Python, auto = cpp where it is installed. They do the same.",
    "auto",
    ("auto", CPP, PY),
    automatic=best,
)


def processes(
    namespace: str, settings: Mapping[str, Setting], environment: Mapping[str, str] | None = None
) -> tuple[ProcessDescription, ...]:
    """A proxy node, of the kind that the argument `proxy` says; `settings` win over the configuration file."""
    return tuple(
        ProcessDescription(
            name=NODE,
            package=package,
            executable=NODE,
            node=NODE,
            namespace=namespace,
            config="{config}",
            settings=settings,
            environment=environment or {},
            when={ARGUMENT.name: kind},
            respawn=Respawn(most_deaths=None),
            hint=HINT if kind == CPP else "",
        )
        for kind, package in PACKAGES.items()
    )
