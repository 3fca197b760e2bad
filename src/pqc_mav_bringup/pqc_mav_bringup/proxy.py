# SPDX-License-Identifier: Apache-2.0
"""Which of the two proxies runs, the one in C++, which only a ROS with rclcpp has, or the one in Python; and whether
the engine is inside it or in a process of its own."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace

from pqc_mav_bringup.description import Argument, ProcessDescription, Setting
from pqc_mav_bringup.executables import TUNNELD, of_package
from pqc_mav_bringup.respawn import Respawn, describe
from pqc_mav_common.local_socket import DAEMON, INSIDE, TUNNELS

NODE = "pqc_proxy"
PY, CPP = "py", "cpp"
PACKAGES: Mapping[str, str] = {PY: "pqc_mav_proxy", CPP: "pqc_mav_proxy_cpp"}
HINT = "proxy:=cpp needs the workspace built with rclcpp (a ROS 2 installation); proxy:=py works without it"


LOOK_S = 20.0  # longest wait for its version
AUTO = "auto"


TUNNEL = Argument(
    "tunnel",
    "Where the engine runs: inside = in the proxy; daemon = in a pqcmav-tunneld beside it, whose link outlives the "
    "proxy; attach = in a pqcmav-tunneld that runs already, as from the Debian package, with a configuration of its "
    "own; auto = daemon, if there is a place for its control socket, else inside.",
    AUTO,
    (AUTO, *TUNNELS),
)


def best() -> str:
    """The one in C++ where it is installed and finds its libraries: it is the smaller one.

    Says on stderr why it is not taken where it is installed.
    """
    program = of_package(PACKAGES[CPP], NODE)
    if program is None:
        return PY
    if why := _hindrance(program):
        print(f"proxy: the one in C++ does not start here ({why}); the one in Python runs instead.", file=sys.stderr)
        return PY
    return CPP


def _hindrance(program: str) -> str:
    """Why a program cannot say its version, for which all of its libraries are loaded; "" where it can."""
    try:
        asked = subprocess.run(
            [program, "--version"], capture_output=True, text=True, errors="replace", timeout=LOOK_S, check=False
        )
    except subprocess.TimeoutExpired:
        return f"no answer within {LOOK_S:g} s"
    except OSError as error:
        return error.strerror or str(error)
    if asked.returncode == 0:
        return ""
    return (asked.stderr.strip().splitlines() or [describe(asked.returncode)])[-1].removeprefix(f"{program}: ")


ARGUMENT = Argument(
    "proxy",
    "Which proxy: cpp = in C++, py = in Python, auto = cpp where it is installed and its libraries are. They do the "
    "same.",
    "auto",
    ("auto", CPP, PY),
    automatic=best,
)


def processes(
    namespace: str, settings: Mapping[str, Setting], environment: Mapping[str, str] | None = None
) -> tuple[ProcessDescription, ...]:
    """A proxy node, of the kind that the argument `proxy` says, and its daemon, if it has one; `settings` win over the
    configuration file."""
    common = ProcessDescription(
        name=NODE,
        package="",
        executable=NODE,
        node=NODE,
        namespace=namespace,
        config="{config}",
        settings={**settings, TUNNEL.name: Setting("{tunnel}", unless={TUNNEL.name: INSIDE})},
        environment=environment or {},
        respawn=Respawn(most_deaths=None),
    )
    tunneld = replace(common, name="tunneld", package="pqc_mav_tunnel", executable=TUNNELD, settings=settings)
    return (
        replace(common, package=PACKAGES[PY], when={ARGUMENT.name: PY}),
        replace(common, package=PACKAGES[CPP], when={ARGUMENT.name: CPP}, hint=HINT),
        *(replace(tunneld, when={TUNNEL.name: tunnel}) for tunnel in (DAEMON, AUTO)),
    )
