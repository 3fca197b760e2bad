# SPDX-License-Identifier: Apache-2.0
"""The same impairments through the kernel's own `tc netem`, where it has it: command lines for one interface.

What netem cannot do is refused, never left out in silence: keeping order under jitter needs the userspace link.
"""

from __future__ import annotations

import subprocess

from pqc_mav_sim.impairment.netns import Namespace
from pqc_mav_sim.impairment.settings import NORMAL, Impairment, ImpairmentError

_LIMIT_FRAMES = 100_000
_LEAST_BURST_BYTES = 1_600


def _number(value: float) -> str:
    return f"{value:.6f}".rstrip("0").rstrip(".")


def _percent(share: float) -> str:
    return _number(share * 100) + "%"


def netem_arguments(rules: Impairment) -> list[str]:
    """Return the words after `netem`. Raises ImpairmentError for what netem cannot express."""
    words = ["limit", str(_LIMIT_FRAMES)]
    if rules.down:
        return [*words, "loss", "100%"]
    if rules.jitter_ms > 0 and rules.keep_order:
        raise ImpairmentError("netem reorders under jitter: give keep_order = false, or use the userspace link")
    if rules.only:
        raise ImpairmentError("netem loses frames of any kind: use the userspace link for only")
    if rules.dead_ms > 0:
        raise ImpairmentError("netem loses by frames, not by time: use the userspace link for dead_ms")
    if rules.overhead_bytes:
        raise ImpairmentError("netem counts frames as they are: use the userspace link for overhead_bytes")
    if rules.reorder > 0 and (rules.delay_ms > 0 or rules.jitter_ms > 0):
        raise ImpairmentError("netem cannot hold frames back on top of a delay: use the userspace link")
    if rules.delay_ms > 0 or rules.jitter_ms > 0:
        words += ["delay", f"{_number(rules.delay_ms)}ms"]
        if rules.jitter_ms > 0:
            words.append(f"{_number(rules.jitter_ms)}ms")
            if rules.distribution == NORMAL:
                words += ["distribution", "normal"]
    if rules.reorder > 0:
        # netem delays all and lets the share named after `reorder` overtake at once: the others are the ones held back
        words += ["delay", f"{_number(rules.reorder_ms)}ms", "reorder", _percent(1 - rules.reorder)]
    if rules.loss > 0 and rules.burst > 1:
        leave = 1 / rules.burst
        words += ["loss", "gemodel", _percent(rules.loss * leave / (1 - rules.loss)), _percent(leave)]
    elif rules.loss > 0:
        words += ["loss", "random", _percent(rules.loss)]
    if rules.duplicate > 0:
        words += ["duplicate", _percent(rules.duplicate)]
    return words


def commands(interface: str, rules: Impairment, *, had_rate: bool = False) -> list[list[str]]:
    """Return the `tc` command lines that give an interface these settings, whatever it had before.

    Netem is the root; for a rate a token bucket hangs below it, whose queue is bounded in bytes. With `had_rate` the
    one of the settings before is taken away. Raises ImpairmentError for what the two cannot express.
    """
    lines = [["tc", "qdisc", "replace", "dev", interface, "root", "handle", "1:", "netem", *netem_arguments(rules)]]
    child = ["tc", "qdisc", "replace", "dev", interface, "parent", "1:1", "handle", "2:"]
    if rules.rate_bit_s > 0:
        child += ["tbf", "rate", f"{int(rules.rate_bit_s)}bit", "burst", str(_LEAST_BURST_BYTES)]
        lines.append([*child, "limit", str(int(rules.queue_bytes))])
    elif had_rate:
        lines.append([*child[:-2], "handle", "3:", "pfifo", "limit", str(_LIMIT_FRAMES)])
    return lines


def available() -> bool:
    """Tell whether this kernel has netem (tried on the loopback of a namespace of its own; needs root)."""
    try:
        space = Namespace()
    except OSError:
        return False
    command = ["tc", "qdisc", "add", "dev", "lo", "root", "netem", "loss", "1%"]
    try:
        return space.call(lambda: subprocess.run(command, capture_output=True, check=False)).returncode == 0
    except FileNotFoundError:
        return False
    finally:
        space.close()
