# SPDX-License-Identifier: Apache-2.0
"""Every loss has a counter, and a loss without one shows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from accounting import Account, EndCounts, Way, account, backlog_drops, summed

STATS = (
    *("plain_rx_packets", "plain_dropped_kernel", "plain_dropped_no_session", "plain_dropped_too_big"),
    *("plain_dropped_no_peer", "plain_dropped_send", "enc_dropped_send", "enc_tx_packets", "delivered_datagrams"),
    "plain_tx_packets",
)
TOTALS = (
    *("delivered", "control", "drop_kernel", "drop_yield", "drop_malformed", "drop_unknown", "drop_seq_old"),
    *("drop_replay", "drop_auth_fail", "drop_decrypt_fail", "drop_standby", "drop_copy", "drop_late"),
)


def end(stats: dict[str, int], totals: dict[str, int]) -> EndCounts:
    return EndCounts(dict.fromkeys(STATS, 0) | stats, dict.fromkeys(TOTALS, 0) | totals)


def flow(
    *, way: dict[str, int] | None = None, a: dict[str, int] | None = None, a_totals: dict[str, int] | None = None,
    b: dict[str, int] | None = None, b_totals: dict[str, int] | None = None,
) -> Account:  # fmt: skip
    """100 messages that all arrive, but for what is changed."""
    seen: dict[str, Any] = {"sent": 100, "send_errors": 0, "received": 100, "kernel_dropped": 0} | (way or {})
    sender = end({"plain_rx_packets": 100, "enc_tx_packets": 110} | (a or {}), a_totals or {})
    receiver = end(
        {"delivered_datagrams": 100, "plain_tx_packets": 100} | (b or {}),
        {"delivered": 100, "control": 10} | (b_totals or {}),
    )
    return account(Way(**seen), sender, receiver)


def test_nothing_lost_nothing_to_explain() -> None:
    assert flow() == Account(0, {}, 0)


@pytest.mark.parametrize(
    ("changes", "name", "count"),
    [
        ({"way": {"received": 97}, "a": {"plain_rx_packets": 97, "plain_dropped_kernel": 3, "enc_tx_packets": 107},
          "b": {"delivered_datagrams": 97, "plain_tx_packets": 97}, "b_totals": {"delivered": 97}}, "plain_kernel", 3),
        ({"way": {"received": 97}, "a": {"plain_dropped_no_session": 3, "enc_tx_packets": 107},
          "b": {"delivered_datagrams": 97, "plain_tx_packets": 97}, "b_totals": {"delivered": 97}}, "no_session", 3),
        ({"way": {"received": 97}, "b": {"delivered_datagrams": 97, "plain_tx_packets": 97},
          "b_totals": {"delivered": 97, "drop_kernel": 3}}, "data_kernel", 3),
        ({"way": {"received": 97}, "b": {"delivered_datagrams": 97, "plain_tx_packets": 97},
          "b_totals": {"delivered": 97, "drop_auth_fail": 5}}, "drop_auth_fail", 3),
        ({"way": {"received": 97}, "b": {"plain_tx_packets": 97, "plain_dropped_no_peer": 3}}, "no_peer", 3),
        ({"way": {"received": 97, "kernel_dropped": 3}}, "application_kernel", 3),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)  # fmt: skip
def test_each_loss_has_its_counter_and_without_it_none(changes: dict[str, Any], name: str, count: int) -> None:
    assert flow(**changes) == Account(3, {name: count}, 0)
    for part, counters in changes.items():
        for counter in list(counters):
            if "drop" not in counter:
                continue
            silent = {**changes, part: {key: value for key, value in counters.items() if key != counter}}
            assert flow(**silent).unexplained == 3, counter


def test_engines_are_summed_and_lists_left_out() -> None:
    both = summed([{"a": 1, "list": [1], "id": "x"}, {"a": 2}], [{"t": 3}, {"t": 4}])
    assert both == EndCounts({"a": 3}, {"t": 7})


def test_the_backlog_is_that_of_all_processors(tmp_path: Path) -> None:
    file = tmp_path / "softnet_stat"
    file.write_text("0010c45e 0000000a 0\n000b744b 00000001 0\n")
    assert backlog_drops(file) == 11
    assert backlog_drops() >= 0, "the kernel's"
