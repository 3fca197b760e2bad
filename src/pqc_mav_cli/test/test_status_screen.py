# SPDX-License-Identifier: Apache-2.0
import io

import pytest
from pqc_mav_interfaces.msg import TunnelStatus
from rich.console import Console
from test_status_view import view

from pqc_mav_cli import status_screen
from pqc_mav_cli.ros_session import TunnelView
from pqc_mav_cli.wording import counted

NOW_S = 102.0


def shown(views: list[TunnelView], width: int, height: int | None, *dangers: str) -> list[str]:
    out = Console(file=io.StringIO(), width=width, height=height or 24)
    out.print(status_screen.fitted(out, views, dangers, NOW_S, height))
    return [line.rstrip() for line in out.file.getvalue().splitlines()]


def fleet(count: int, **changes: object) -> list[TunnelView]:
    views = []
    for index in range(count):
        made = view(drone_id=f"drone{index}", **changes)
        made.node, made.drone_id = "/gcs/pqc_proxy", f"drone{index}"
        views.append(made)
    return views


def pair(**changes: object) -> list[TunnelView]:
    return [view(**changes), *fleet(1, **changes)]


def test_80_columns_and_24_lines_show_everything_about_two_ends_and_shaping() -> None:
    lines = shown(pair(shape_kbit=64), 80, 24)
    text = "\n".join(lines)
    assert "epoch, key age" in lines[1] and "10.0.0.1:46011" in text and "320/s 320.0 kb/s" in text
    assert text.count("64 kbit/s") == 2 and text.count("transfers") == 2
    assert "wider" not in text and "taller" not in text


def test_a_wide_terminal_has_one_line_for_each() -> None:
    lines = shown(pair(), 140, 24)
    assert len(lines) == 3 and "key age" in lines[0]


def test_without_room_for_shaping_that_is_said() -> None:
    assert shown(pair(shape_kbit=64), 80, 10)[-1] == "A taller terminal also shows what shaping did."


def test_a_narrow_one_names_what_it_leaves_out() -> None:
    lines = shown(pair(), 60, 24)
    assert [line.split()[:3] for line in lines[1:3]] == [["drone", "d1", "UP"], ["gcs", "drone0", "UP"]]
    assert " ".join(lines[3:]).startswith("A wider terminal adds: handshakes, peer, epoch")


def test_of_a_fleet_the_tunnels_that_need_someone_come_first() -> None:
    bad = view(state=TunnelStatus.DOWN, suite="", last_error="wrong key")
    bad.node, bad.drone_id = "/gcs/pqc_proxy", "lost"
    lines = shown([*fleet(98), bad], 80, 23)
    assert lines[1].split()[:3] == ["gcs", "lost", "DOWN"]
    (rest,) = [line for line in lines if "more" in line]
    hidden = 99 - sum(line.startswith("gcs") for line in lines) + 1  # one of these lines is a remark
    assert rest == f"... and {counted(hidden, 'tunnel')} more: {hidden} UP"
    assert lines[-1] == "gcs lost: wrong key"


def test_without_a_limit_all_are_shown() -> None:
    assert sum(line.startswith("gcs") for line in shown(fleet(99), 80, None)) == 99


@pytest.mark.parametrize(
    ("count", "state"), [(1, TunnelStatus.HANDSHAKING), (2, TunnelStatus.UP), (9, TunnelStatus.DEGRADED), (200, 3)]
)
def test_no_size_is_exceeded(count: int, state: int) -> None:
    views = fleet(count, state=state, shape_kbit=64, last_error="The ground station did not answer. " * 3)
    for width in (60, 80, 120, 200):
        for height in (5, 9, 23):
            lines = shown(views, width, height, "/gcs: a socket is open to the network, past the tunnel")
            assert 1 < len(lines) <= height, (width, height)
            assert max(map(len, lines)) <= width
