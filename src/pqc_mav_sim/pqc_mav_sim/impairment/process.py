# SPDX-License-Identifier: Apache-2.0
"""The bad link between two network namespaces: a TAP device in each, and a process of this package between them."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pqc_mav_common.child import end, start
from pqc_mav_sim.impairment.link import A_TO_B, B_TO_A
from pqc_mav_sim.impairment.netns import Namespace
from pqc_mav_sim.impairment.tap import open_tap


class NetworkError(RuntimeError):
    """A network could not be made; the text says what to do."""


def refusal(tools: Mapping[str, str]) -> str:
    """Why this machine cannot make such networks, in one line; empty when it can. `tools`: programs by package."""
    if os.geteuid() != 0:
        return "needs root for network namespaces and TAP devices: run it as root or with sudo"
    try:
        Namespace().close()
    except OSError as error:
        return f"needs network namespaces: {error}"
    if not os.access("/dev/net/tun", os.R_OK | os.W_OK):
        return "needs /dev/net/tun"
    missing = [(tool, package) for tool, package in tools.items() if shutil.which(tool) is None]
    return "".join(f"needs the program '{tool}': apt-get install {package}" for tool, package in missing[:1])


def batch(call: Callable[[Callable[[], Any]], Any], lines: Sequence[str], tool: str = "ip") -> None:
    """`ip` (or `bridge`) commands inside of a namespace, by its `call`. Raises NetworkError with the tool's words."""

    def run() -> subprocess.CompletedProcess[str]:
        text = "\n".join(lines) + "\n"
        return subprocess.run([tool, "-batch", "-"], input=text, capture_output=True, text=True, check=False)

    result = call(run)
    if result.returncode != 0:
        raise NetworkError(f"{tool}: {result.stderr.strip()}")


class LinkProcess:
    """The link, perfect until `impair` says otherwise; side a may be behind a NAT. It dies with the calling thread."""

    def __init__(self, a: tuple[Namespace, str], b: tuple[Namespace, str], *, seed: int, nat: bool = False) -> None:
        """`a`, `b`: a namespace each, and the name of the device there. Raises OSError."""
        taps = [space.call(lambda name=name: open_tap(name)) for space, name in (a, b)]  # type: ignore[misc]
        command = [sys.executable, "-m", "pqc_mav_sim.impairment", *map(str, taps), "--seed", str(seed)]
        # A group of its own keeps Ctrl-C for the parent; one session keeps all in one group of the scheduler.
        pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        try:
            self._process = start([*command, *(["--nat"] if nat else [])], pass_fds=taps, inside=os.setpgrp, **pipes)
        finally:
            for tap in taps:
                os.close(tap)

    def _tell(self, **command: Any) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(command).encode() + b"\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        answer = json.loads(line) if line else {"ok": False, "error": "the process ended"}
        if not answer["ok"]:
            raise NetworkError(f"link: {answer['error']}")
        return answer["counters"]

    def impair(self, settings: Mapping[str, Any], directions: Sequence[str] = (A_TO_B, B_TO_A)) -> None:
        """Changes settings from now on."""
        self._tell(impair=settings, directions=list(directions))

    def counters(self) -> dict[str, Any]:
        """Frames entered, lost by reason and doubled, by kind, per direction."""
        return dict(self._tell(counters=True))

    def rebind(self) -> None:
        """Makes the NAT forget."""
        self._tell(rebind=True)

    def close(self) -> None:
        """Ends it; the TAP devices go with it."""
        end(self._process)
