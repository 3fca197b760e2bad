# SPDX-License-Identifier: Apache-2.0
"""What an engine would answer, without one; and control sockets that answer well, badly or not at all."""

from __future__ import annotations

import copy
import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

STATUS: dict[str, Any] = {
    "role": "drone", "gcs_id": "", "version": "0.1.0", "pid": 7, "uptime_s": 12.5, "key_limit_s": 7200.0,
    "data_port": 46011, "dangers": ["a way around"],
    "tunnels": [{
        "drone_id": "d1", "state": "UP", "suite": "cs-mlkem768-aesgcm-mldsa65", "epoch": 3,
        "session_id": "00112233445566aa", "key_age_s": 61.5, "silence_s": 0.25, "peer": "10.0.0.7:46011",
        "plain_local": "127.0.0.1:14590", "plain_peer": "", "last_error": "No answer from 10.0.0.7.", "hybrid": True,
        "drone_signed": False, "compact": True, "ratchets": 2, "ratchet_for_s": 3000.0, "key_old": False,
        "shape_kbit": 64, "station": "south", "station_role": "active", "term": 4,
        "paths": [{"name": "lte", "via": "wwan0", "state": "good", "silence_s": 0.0, "rtt_ms": 61.0, "loss": 0.25,
                   "tx_packets": 1, "tx_bytes": 2, "rx_packets": 3, "rx_bytes": 4, "taken": 5, "problem": ""},
                  {"name": "radio", "via": "", "state": "dead", "silence_s": 7.5, "rtt_ms": None, "loss": None,
                   "tx_packets": 0, "tx_bytes": 0, "rx_packets": 0, "rx_bytes": 0, "taken": 0, "problem": ""}],
        "stations": ["south active 10.0.0.7:46011", "north standby 10.0.0.8:46011"],
        "handshakes_ok": 1, "handshakes_failed": 2, "rekeys_ok": 3, "blacklisted_suites": ["cs-hqc128-aesgcm-mldsa44"],
    }],
}  # fmt: skip
SERVER: dict[str, Any] = {
    "enc_rx_datagrams": 100, "delivered": 90, "drop_replay": 3, "hs_gate": 7, "hs_busy": 1, "novel": 11,
    "refused_network": "203.0.113.0/24", "refused_share": 0.5, "drone_ids": ["d1"], "opened": [90],
}  # fmt: skip
STATS: dict[str, Any] = {
    "totals": {}, "tunnels": [],  # of version 1; those of `picture` are taken
    "handshakes": {
        "le_ms": [1, 2, 5],
        "first": {"counts": [0, 1, 0, 0], "sum_ms": 1.5, "failed": {"timeout": 2}},
        "rekey": {"counts": [1, 2, 0, 4], "sum_ms": 4000.0, "failed": {}},
        "ratchet": {"counts": [0, 0, 0, 0], "sum_ms": 0, "failed": {}},
        "ratchet_plain": {"counts": [0, 0, 0, 0], "sum_ms": 0, "failed": {}},
    },
}  # fmt: skip
PICTURE: dict[str, Any] = {
    "server": SERVER,
    "stats": [{
        "drone_id": "d1", "plain_rx_packets": 5, "plain_dropped_no_session": 6, "drop_auth_fail": 8, "fresh": 9,
        "window_depth": [5, 2, *[0] * 11],
        "shape_taken": [4, 0, 0, 0, 0], "shape_sent": [3, 0, 0, 0, 0], "shape_replaced": [0, 0, 0, 0, 0],
        "shape_dropped": [1, 0, 0, 0, 0], "shape_oldest_ms": [250, 0, 0, 0, 0],
        "endpoints": [{"name": "serial:/dev/ttyAMA0:921600", "state": "open", "good": False, "text": "",
                       "rx_packets": 1, "rx_bytes": 2, "tx_packets": 3, "tx_bytes": 4, "dropped": 5, "skipped_bytes": 6,
                       "opened": 7, "refused": 8, "unheard": 9}],
        "seal_mean_ns": 1500.0, "open_mean_ns": 0.0, "tx_packets_per_s": 1.0, "tx_bytes_per_s": 1.0,
        "rx_packets_per_s": 1.0, "rx_bytes_per_s": 1.0,
    }],
}  # fmt: skip
_SIDE = {"window_s": 5.0, "packets_per_s": 50.0, "gap_p95_ms": 20.0, "longest_silence_ms": 30.0, "jitter_ms": 1.0,
         "loss": 0.25, "blackouts": 1, "drops": {"malformed": 0, "replay": 12}}  # fmt: skip
LINK: dict[str, Any] = {
    "tunnels": [{"drone_id": "d1", "local": _SIDE, "peer": None, "age_s": None, "rtt_ms": 42.0, "rtt_min_ms": None,
                 "clock_offset_ms": None,
                 "radio": {"kbit": 38.0, "rssi": 140.0, "remote_rssi": None, "noise": 40.0, "remote_noise": 41.0,
                           "fill": 0.25, "line_errors": 1, "not_mine": 2, "dropped": 3, "stuck": 4, "fresh": 5}}],
}  # fmt: skip


def results() -> dict[str, dict[str, Any]]:
    """The results of the commands, to be changed at will."""
    return copy.deepcopy({"status": STATUS, "stats": STATS, "link": LINK, "picture": PICTURE})


def good(line: bytes, given: dict[str, dict[str, Any]] | None = None) -> bytes:
    """As an engine answers a request."""
    asked = json.loads(line)
    result = (given or results())[asked["command"]]
    return json.dumps({"v": 1, "id": None, "ok": True, "result": result}).encode() + b"\n"


@contextmanager
def serving(path: Path, answer: Callable[[bytes], bytes | Iterator[bytes]]) -> Iterator[list[bytes]]:
    """A control socket. Yields the requests that came; `answer` gives the bytes, or pieces of them, for each line."""
    asked: list[bytes] = []
    ending = threading.Event()

    def serve(connection: socket.socket) -> None:
        with connection, connection.makefile("rb") as lines:
            try:
                for line in lines:
                    asked.append(line)
                    pieces = answer(line)
                    for piece in [pieces] if isinstance(pieces, bytes) else pieces:
                        if ending.is_set():
                            return
                        connection.sendall(piece)
            except OSError:
                return

    def accept() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=serve, args=(connection,), daemon=True).start()

    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(path))
    listener.listen()
    thread = threading.Thread(target=accept, daemon=True)
    thread.start()
    try:
        yield asked
    finally:
        ending.set()
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        path.unlink(missing_ok=True)
        thread.join()


def samples(page: bytes) -> dict[str, float]:
    """The samples of a page by their names with labels, in the order of the page."""
    lines = [line for line in page.decode().splitlines() if not line.startswith("#")]
    found = {line.rpartition(" ")[0]: float(line.rpartition(" ")[2]) for line in lines}
    assert len(found) == len(lines), "a sample twice"
    return found
