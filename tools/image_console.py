# SPDX-License-Identifier: Apache-2.0
"""Ends in containers, asked from the host by a member of their sockets' group: what it takes, and the goals for it."""

import os
import re
import statistics
import subprocess
import sys
import time
from pathlib import Path

from containers import USER
from two_ends import check

PQCMAV = (sys.executable, "-c", "from pqc_mav_cli.entry import run; run()")
NOBODY = 65534
LIMIT_S = 60.0
GOAL_S = 0.4  # of docs/control-socket.md; for a rekey beside its handshake
REPETITIONS = 20
HANDSHAKE = re.compile(r"epoch \d+, after ([\d.]+) ms")


def asked(run_folder: Path, groups: list[int], *words: str) -> tuple[float, str]:
    """What a user who is neither root nor the engines' is told, and the seconds it took."""
    began = time.monotonic()
    ended = subprocess.run(
        [*PQCMAV, *words], env={**os.environ, "PQCMAV_RUN_DIR": str(run_folder)}, user=NOBODY, group=NOBODY,
        extra_groups=groups, capture_output=True, text=True, timeout=LIMIT_S, check=False,
    )  # fmt: skip
    took = time.monotonic() - began
    member = USER in groups
    check((ended.returncode == 0) == member, f"pqcmav {' '.join(words)}, member {member}: {ended.stdout}{ended.stderr}")
    return took, ended.stdout if member else ended.stderr


def ask(run_folder: Path, judge: bool) -> str:
    """Status of both ends and rekeys, as a member of the group and as a stranger; with `judge` the goals count."""
    words: dict[str, list[float]] = {}
    for _ in range(REPETITIONS):
        took, told = asked(run_folder, [USER], "status", "--once")
        rows = [line.split()[:3] for line in told.splitlines()[1:]]
        up = [row[:2] for row in rows if row[2] in ("UP", "REKEYING")]  # the slower end of a rekey may be at it yet
        check(up == [["drone-drone1", "drone1"], ["gcs", "drone1"]], f"status says {told}")
        words.setdefault("status --once", []).append(took)
        for end in ("drone", "gcs"):
            took, told = asked(run_folder, [USER], "rekey", "--on", end)
            handshake = HANDSHAKE.search(told)
            check(handshake is not None, f"a rekey says {told}")
            assert handshake is not None
            words.setdefault(f"rekey --on {end}, beside its handshake", []).append(took - float(handshake[1]) / 1000)
    for command in ("status", "rekey"):
        told = asked(run_folder, [], command, *(["--once"] if command == "status" else []))[1]
        check("members of the group" in told, f"a stranger is told {told}")
    said = []
    for name, seconds in words.items():
        middle = statistics.median(seconds)
        check(not judge or middle <= GOAL_S, f"pqcmav {name} takes {middle:.2f} s")
        p95 = sorted(seconds)[-1 - len(seconds) // 20]
        said.append(f"{name}: median {middle:.2f} s, 95 % {p95:.2f} s, longest {max(seconds):.2f} s, N {len(seconds)}")
    return "; ".join(said)
