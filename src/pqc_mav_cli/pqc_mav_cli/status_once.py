# SPDX-License-Identifier: Apache-2.0
"""`pqcmav status --once` and `--json`: everything as it is, and an exit code that says whether it is good."""

import time
from collections.abc import Sequence
from typing import Any

from pqc_mav_cli.console import console, note, print_json

# Proxies that were found have this long to show all their tunnels; two rounds of figures take two seconds.
ANSWER_S = 5.0


def show(watcher: Any, *, as_json: bool) -> int:
    """The exit code is 0 if every tunnel is up and nothing endangers it, otherwise 1."""
    from pqc_mav_cli import status_view

    watcher.wait_for(lambda _: watcher.complete(), ANSWER_S)
    views, silent = watcher.views(), watcher.silent()
    dangers = watcher.dangers()
    if as_json:
        print_json(status_view.as_json(views, time.monotonic()))
    else:
        print_all(views)
    for danger in dangers:
        note(danger)
    for proxy in silent:
        note(f"{proxy} does not answer: it is starting, not active, or has just ended.")
    now_s = time.monotonic()
    good = all(status_view.word(view, now_s) in ("UP", "REKEYING") for view in views)
    return 0 if good and not (silent or dangers) else 1


def print_all(views: Sequence[Any], dangers: Sequence[str] = ()) -> None:
    """As much of it as fits, what needs someone first."""
    from pqc_mav_cli import status_screen

    out = console()
    out.print(status_screen.fitted(out, views, dangers, time.monotonic()))
