# SPDX-License-Identifier: Apache-2.0
"""Runs a link between two TAP descriptors that the caller opened: `python -m pqc_mav_sim.impairment A B --seed N`.

Commands come as JSON lines on the standard input, each is answered by one line; at the end of the input the link ends.

    {"impair": {"loss": 0.1}, "directions": ["a_to_b"]}   change settings; without "directions" both ways
    {"counters": true}                                     what happened so far
    {"rebind": true}                                       the NAT forgets its bindings (with --nat)
"""

import argparse
import json
import os
import signal
import sys
from typing import Any

from pqc_mav_sim.impairment.link import A_TO_B, B_TO_A, Link
from pqc_mav_sim.impairment.settings import ImpairmentError

_STDIN = 0


class _Control:
    """Reads commands from the standard input without ever blocking on half a line."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self._pending = b""

    def read(self) -> bool:
        """Obey what has arrived; False at the end of the input."""
        data = os.read(_STDIN, 65_536)
        if not data:
            return False
        *lines, self._pending = (self._pending + data).split(b"\n")
        for line in lines:
            print(json.dumps(self._obey(line)), flush=True)
        return True

    def _obey(self, line: bytes) -> dict[str, Any]:
        try:
            command = json.loads(line)
            if "impair" in command:
                self._link.impair(command["impair"], tuple(command.get("directions", (A_TO_B, B_TO_A))))
            if command.get("rebind"):
                if self._link.nat is None:
                    raise ImpairmentError("this link has no NAT: start it with --nat")
                self._link.nat.rebind()
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            return {"ok": False, "error": str(error) or type(error).__name__}
        return {"ok": True, "counters": self._link.counters() if command.get("counters") else None}


def main() -> int:
    """Run the link until the input ends."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("a", type=int, help="descriptor of the one TAP device (inherited)")
    parser.add_argument("b", type=int, help="descriptor of the other")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--nat", action="store_true", help="side a is behind a port-translating NAT")
    options = parser.parse_args()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the one who holds the other end of the input decides
    for descriptor in (options.a, options.b):
        os.set_blocking(descriptor, False)
    link = Link(options.a, options.b, options.seed, options.nat)
    link.run(_STDIN, _Control(link).read)
    return 0


if __name__ == "__main__":
    sys.exit(main())
