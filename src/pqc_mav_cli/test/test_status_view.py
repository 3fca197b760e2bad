# SPDX-License-Identifier: Apache-2.0
import io
import math
from pathlib import Path

import pytest
from pqc_mav_interfaces.msg import LinkQuality, TunnelStats, TunnelStatus
from rich.console import Console

from pqc_mav_cli import status_view
from pqc_mav_cli.ros_session import TunnelView
from pqc_mav_proxy.names import KEY_OLD, STATES


def view(**changes: object) -> TunnelView:
    status = TunnelStatus(
        state=TunnelStatus.UP,
        drone_id="d1",
        suite="cs-mlkem768-aesgcm-mldsa65",
        epoch=2,
        key_age_s=10.0,
        peer="10.0.0.1:46011",
        hybrid=True,
        handshakes_ok=1,
        rekeys_ok=12,
    )
    for field, value in changes.items():
        setattr(status, field, value)
    stats = TunnelStats(tx_packets_per_s=320.0, tx_bytes_per_s=40_000.0, drop_replay=3, drop_unknown=4)
    local = LinkQuality(side="local", loss=0.015, rtt_ms=1.234)
    return TunnelView("/drone/pqc_proxy", "d1", status, stats, {"local": local}, status_at_s=100.0, stats_at_s=101.0)


def lines(made: TunnelView, now_s: float = 102.0) -> list[str]:
    out = Console(file=io.StringIO(), width=80)
    out.print(status_view.tall_table([status_view.cells_of(made, now_s)]))
    return out.file.getvalue().splitlines()


def text(made: TunnelView, now_s: float = 102.0) -> str:
    out = Console(file=io.StringIO(), width=200)
    out.print(status_view.table([status_view.cells_of(made, now_s)]))
    return out.file.getvalue().splitlines()[1]


def test_a_row_says_it_all() -> None:
    row = text(view())
    for words in (
        "UP",
        "ML-768-AG-MD-65",
        "2",
        "12.0 s",
        "10.0.0.1:46011",
        "320/s 320.0 kb/s",
        "7",
        "1.5%",
        "1.23 ms",
        "1 + 12",
    ):
        assert words in row


def test_an_old_latched_status_does_not_make_a_proxy_silent_before_it_could_speak() -> None:
    made = view()
    made.stats, made.stats_at_s, made.status_at_s, made.seen_at_s = None, 0.0, 10.0, 101.9
    assert status_view.word(made, 102.0) == "UP"
    assert status_view.word(made, 105.0) == "SILENT"


def test_two_lines_of_80_columns_say_it_too() -> None:
    head, below, first, second = lines(view())
    assert head.split() == ["end", "state", "suite", "sent", "loss", "RTT"]
    assert below.split() == ["drone", "peer", "epoch,", "key", "age", "received", "drops", "handshakes"]
    assert first.split() == ["drone", "UP", "ML-768-AG-MD-65", "320/s", "320.0", "kb/s", "1.5%", "1.23", "ms"]
    assert second.split() == ["d1", "10.0.0.1:46011", "2,", "12.0", "s", "0/s", "0", "b/s", "7", "1", "+", "12"]
    silent = lines(view(), now_s=200.0)
    assert silent[2].split()[1:4] == ["SILENT", "1:39", "ML-768-AG-MD-65"] and "320" not in "".join(silent)


def test_a_pure_suite_is_marked() -> None:
    assert "(pure)" in text(view(hybrid=False))


def test_a_node_that_fell_silent_is_not_called_up() -> None:
    row = text(view(), now_s=101.0 + status_view.STALE_S + 0.1)
    assert "SILENT 3.1 s" in row and " UP " not in row
    # What was true then is not shown as if it were now.
    assert not {"320/s", "1.5%", "1.23", "7"} & set(row.split())


def test_without_a_session_there_is_no_suite_and_no_age() -> None:
    made = view(state=TunnelStatus.DOWN, suite="", last_error="wrong key")
    assert "DOWN" in text(made) and "s  " not in text(made).split("DOWN")[1][:12]
    assert status_view.key_age_s(made, 102.0) is None
    assert status_view.problems([made]) == ["drone d1: wrong key"]
    assert status_view.problems([view(last_error="old")]) == []


@pytest.mark.parametrize("what", ["PLAIN_DOWN", "RADIO_DOWN"])
def test_a_lost_port_is_a_problem_while_the_link_is_up(what: str) -> None:
    assert status_view.problems([view(last_error=f"{what}: it was lost.")]) == [f"drone d1: {what}: it was lost."]


def test_an_alarm_of_the_other_end_is_a_problem() -> None:
    assert status_view.problems([view(role="drone", peer_alarm=2, peer_alarm_kind="forgery")]) == [
        "drone d1: the ground station tells of an attack: forgery"
    ]
    made = view(role="gcs", peer_alarm=1, peer_alarm_kind="loss")
    made.node = "/gcs/pqc_proxy"
    assert status_view.problems([made]) == ["gcs d1: the drone tells of a suspicion: loss"]


def test_old_keys_are_shown_while_the_link_is_up() -> None:
    made = view(last_error="KEY_OLD: handshakes fail.")
    assert "UP KEY_OLD" in text(made)
    assert status_view.problems([made]) == ["drone d1: KEY_OLD: handshakes fail."]
    assert status_view.as_json([made], 102.0)[0]["key_old"] is True
    assert "KEY_OLD" not in text(view(last_error="old"))


def test_a_radio_has_a_line() -> None:
    made = view()
    made.links["local"].radio_kbit = math.nan
    assert status_view.radios([made], 102.0) == []
    for name, value in (("kbit", 38.0), ("rssi", math.nan), ("line_errors", 3)):
        setattr(made.links["local"], f"radio_{name}", value)
    assert status_view.radios([made], 102.0) == ["drone d1: radio 38 kbit/s, 3 damaged"]
    said = {"rssi": 140.0, "remote_rssi": 138.0, "noise": 40.0, "remote_noise": 41.0, "fill": 0.25}
    for name, value in said.items():
        setattr(made.links["local"], f"radio_{name}", value)
    (line,) = status_view.radios([made], 102.0)
    assert line == "drone d1: radio 38 kbit/s, signal 140/138, noise 40/41, buffer 25%, 3 damaged"
    assert status_view.radios([made], 200.0) == []


def test_json_has_no_nan() -> None:
    made = view()
    made.links["local"].clock_offset_ms = math.nan
    (entry,) = status_view.as_json([made], 102.0)
    assert entry["links"]["local"]["clock_offset_ms"] is None
    assert entry["status"]["state"] == "UP" and entry["key_age_s"] == 12.0
    assert entry["silent"] is False
    assert entry["stats"]["drop_replay"] == 3 and entry["stats"]["shape_sent"] == [0] * 5


@pytest.mark.parametrize(("seconds", "shown"), [(0.0, "0.0 s"), (59.94, "59.9 s"), (125, "2:05"), (3723, "1:02:03")])
def test_durations(seconds: float, shown: str) -> None:
    assert status_view.duration(seconds) == shown


@pytest.mark.parametrize(("value", "shown"), [(None, "-"), (math.nan, "-"), (0.123, "0.12 ms"), (123.4, "123 ms")])
def test_milliseconds(value: float | None, shown: str) -> None:
    assert status_view.milliseconds(value) == shown


@pytest.mark.parametrize(
    ("packets", "octets", "shown"),
    [(1, 10, "1/s 80 b/s"), (320, 40_000, "320/s 320.0 kb/s"), (9, 2e6, "9/s 16.0 Mb/s")],
)
def test_rates(packets: float, octets: float, shown: str) -> None:
    assert status_view.rate(packets, octets) == shown


def test_every_word_for_a_state_is_explained() -> None:
    rows = (Path(__file__).parents[3] / "docs/monitoring.md").read_text().splitlines()
    explained = {row.split("|")[1].strip() for row in rows if row.startswith("|")}
    assert {*STATES, status_view.SILENT, KEY_OLD} <= explained
