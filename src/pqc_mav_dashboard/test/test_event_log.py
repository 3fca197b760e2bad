# SPDX-License-Identifier: Apache-2.0
"""Each viewer gets each event once, and old ones give way."""

from __future__ import annotations

from pqc_mav_dashboard.event_log import EventLog


def test_events_are_numbered_and_bounded() -> None:
    log = EventLog(3)
    assert log.after(0) == (0, [])
    for number in range(5):
        log.add("gcs", {"event": "log", "text": str(number)})
    newest, events = log.after(0)
    assert newest == 5 and [event["text"] for event in events] == ["2", "3", "4"] and events[0]["end"] == "gcs"
    assert log.after(newest) == (5, [])
    assert [event["text"] for event in log.after(4)[1]] == ["4"]
    log.clear()
    assert log.after(0) == (5, [])
