# SPDX-License-Identifier: Apache-2.0
"""No field of any command of the control socket brings a line break or an escape into a line of the log."""

from __future__ import annotations

import unicodedata
from typing import Any

import pqc_mav_tunnel as tunnel
from test_console import Client
from tunnel_support import Pair

FORGED = "x\n[INFO] Asked through the control socket by uid 0\r\x1b[2K\x07\x9b1m\x00\u2028\u202e"
# Every command with what it needs to get as far as a log line; each of these fields, and each further one, is spoilt.
COMMANDS: dict[str, dict[str, Any]] = {
    "status": {"drone": "uav1"},
    "stats": {"drone": "uav1"},
    "link": {"drone": "uav1"},
    "handshakes": {"drone": "uav1", "limit": 1},
    "suites": {"available": True},
    "drones": {"action": "add", "drone": "uav1", "settings": {"plain_peer": "127.0.0.1:1"}},
    "rekey": {
        "drone": "uav1",
        "suite": "cs-mlkem768-aesgcm-mldsa65",
        "kind": "ratchet",
        "reason": "drill",
        "timeout_s": 0.1,
        "pin_for_s": 1,
    },
    "log_level": {"level": "info"},
    "reload": {"dry_run": True},
    "station": {"gcs_id": "gcs"},
    "path": {"path": "lte", "use": "on"},
    "avoid": {"families": ["codes"]},
    "picture": {"of": "status"},
    "schema": {},
    "config": {},
    "sockets": {},
    "dangers": {"lines": ["a way around"]},
    "alarm": {"level": 2, "kind": "flood", "from": "south"},
    "request_rekey": {"drone_id": "uav1", "suite": "", "kind": "ratchet", "reason": "drill", "pin_for_s": 1},
    "set": {"key": "station", "value": "gcs"},
    "diagnosis": {},
    "hello": {},
    "configure": {},
    "pause": {},
    "resume": {},
    "server_stats": {},
    "subscribe": {"events": ["log"], "since": 0, "boot": "x"},
}


def texts(value: Any) -> list[str]:
    """All texts in an event or an answer."""
    if isinstance(value, dict):
        return [text for pair in value.items() for each in pair for text in texts(each)]
    if isinstance(value, (list, tuple)):
        return [text for each in value for text in texts(each)]
    return [value] if isinstance(value, str) else []


def acts(text: str) -> bool:
    return any(unicodedata.category(each) in ("Cc", "Zl", "Zp") or each in "\u202e\u2066" for each in text)


def requests(command: str) -> list[dict[str, Any]]:
    """With one field spoilt each."""
    good = COMMANDS[command]
    made = [{**good, field: FORGED} for field in [*good, FORGED, "drone"]]
    if command == "drones":
        made += [
            {**good, "drone": "uav9", "settings": settings} for settings in ({FORGED: "x"}, {"plain_peer": FORGED})
        ]
        made += [{"action": "remove", "drone": FORGED}, {"action": "add", "drone": FORGED}]
    if command == "subscribe":
        made.append({"events": [FORGED]})
    if command == "avoid":
        made.append({"families": [FORGED]})
    if command == "dangers":
        made.append({"lines": [FORGED]})
    return made


def test_no_field_forges_a_line(pair: Pair) -> None:
    for engine in (pair.gcs, pair.drone):
        client = Client(engine.control_socket())
        known = client.ask("no such")["error"]["text"].partition("there are ")[2].rstrip(".").split(", ")
        assert set(known) == set(COMMANDS), "a new command has its fields here"
        client.ask("rekey", **{**COMMANDS["rekey"], "kind": "", "suite": "", "reason": FORGED, "timeout_s": 20.0})
        for command in [*known, FORGED]:
            for fields in requests(command) if command in COMMANDS else [{}]:
                fresh = Client(engine.control_socket())  # one that subscribed answers nothing else
                fresh.ask(command, **fields)
                fresh.close()
        client.close()
    said: list[str] = []
    for engine in (pair.gcs, pair.drone):
        while events := engine.wait_events(0.2):
            said += [text for event in events for text in texts(event)]
        client = Client(engine.control_socket())
        said += texts(engine.status()) + (dangers := client.ask("status")["result"]["dangers"])
        assert len(dangers) == 1, "what was told"
        client.close()
    assert any("(x\\n[INFO] Asked through the control socket by uid 0\\r\\x1b[2K" in text for text in said), said
    assert not [text for text in said if acts(text)]


def test_no_configuration_forges_an_error(keys: object) -> None:
    for config in ({"role": FORGED}, {"role": "drone", FORGED: 1}, {"role": "drone", "suite": FORGED}):
        try:
            tunnel.Engine(config)
        except tunnel.TunnelError as error:
            assert not acts(str(error)), config
        else:
            raise AssertionError(config)
