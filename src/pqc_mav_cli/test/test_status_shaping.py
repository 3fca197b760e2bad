# SPDX-License-Identifier: Apache-2.0
import io

from rich.console import Console
from test_status_view import view

from pqc_mav_cli import status_shaping

NOW_S = 102.0


def test_every_class_of_a_shaped_tunnel_has_a_row() -> None:
    made = view(shape_kbit=64)
    made.stats.shape_taken = [10, 20, 3000, 4, 1]
    made.stats.shape_sent = [10, 19, 1200, 1, 1]
    made.stats.shape_replaced = [0, 0, 1795, 0, 0]
    made.stats.shape_dropped = [0, 0, 5, 2, 0]
    made.stats.shape_oldest_ms = [0, 12, 1500, 40, 0]
    assert status_shaping.shaped([made], NOW_S) == [made]
    out = Console(file=io.StringIO(), width=80)
    out.print(status_shaping.table([made]))
    rows = [line.split() for line in out.file.getvalue().splitlines()]
    assert rows[1] == ["drone", "d1", "64", "kbit/s", "commands", "10", "10", "0", "0", "0", "ms"]
    assert rows[3] == ["streams", "3,000", "1,200", "1,795", "5", "1,500", "ms"]
    assert [row[0] for row in rows[2:]] == ["transfers", "streams", "rest", "rekey"]


def test_a_tunnel_that_is_not_shaped_or_silent_has_none() -> None:
    assert status_shaping.shaped([view()], NOW_S) == []
    assert status_shaping.shaped([view(shape_kbit=64)], NOW_S + 100.0) == []
