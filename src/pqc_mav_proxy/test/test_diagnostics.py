# SPDX-License-Identifier: Apache-2.0
import pytest

from pqc_mav_common.diagnostics import Level
from pqc_mav_proxy.diagnostics import SHAPE_FIGURES, SOCKET, STRANGERS, SUSPICIOUS, Diagnoser

STATUS = {
    "drone_id": "d1",
    "state_name": "UP",
    "suite": "cs-mlkem512-aesgcm-mldsa44",
    "epoch": 2,
    "peer": "p",
    "key_age_s": 1.0,
    "silence_s": 0.5,
    "shape_kbit": 0,
    "station": "",
    "station_role": "",
    "term": 0,
    "stations": [],
    "last_error": "",
}
STATS = dict.fromkeys((*SUSPICIOUS, "drop_unknown", "drop_seq_old", "delivered", "roams"), 0)


@pytest.mark.parametrize(
    ("role", "state", "error", "level", "said"),
    [
        ("drone", "UP", "", Level.OK, "up with ML-512-AG-MD-44, epoch 2"),
        ("drone", "UP", "old trouble", Level.OK, "up with ML-512"),
        ("drone", "REKEYING", "", Level.OK, "renewing"),
        ("drone", "DEGRADED", "", Level.WARN, "0.5 s"),
        ("drone", "HANDSHAKING", "", Level.WARN, "connecting"),
        ("drone", "HANDSHAKING", "refused", Level.WARN, "refused"),
        ("drone", "UP", "KEY_OLD: do something. A timeout.", Level.WARN, "KEY_OLD: do something. A timeout."),
        ("gcs", "REKEYING", "KEY_OLD: do something.", Level.WARN, "do something"),
        ("gcs", "DEGRADED", "KEY_OLD: do something.", Level.WARN, "do something"),
        ("drone", "UP", "PLAIN_DOWN: The serial port is not there.", Level.WARN, "The serial port is not there."),
        ("gcs", "UP", "KEY_OLD: do something. PLAIN_DOWN: lost.", Level.WARN, "PLAIN_DOWN: lost."),
        ("drone", "DOWN", "", Level.ERROR, "no session"),
        ("drone", "DOWN", "wrong key", Level.ERROR, "wrong key"),
        ("gcs", "DOWN", "", Level.WARN, "not connected yet"),
        ("gcs", "DOWN", "wrong key", Level.ERROR, "wrong key"),
    ],
)
def test_levels_and_words(role: str, state: str, error: str, level: Level, said: str) -> None:
    diagnoser = Diagnoser(role)
    made = diagnoser.tunnel({**STATUS, "state_name": state, "last_error": error}, STATS, None)
    assert made.level is level and said in made.message
    assert made.subcomponent == "tunnel d1" and made.values["epoch"] == 2
    assert made.values["key_old"] is error.startswith("KEY_OLD")


def test_each_endpoint_has_a_line() -> None:
    stats = {**STATS, "endpoints": [{"name": "serial:/dev/serial0:57600", "text": "open, rx_packets 3"}]}
    made = Diagnoser("drone").tunnel(STATUS, stats, None)
    assert made.values["endpoint serial:/dev/serial0:57600"] == "open, rx_packets 3"


def test_drops_warn_only_while_they_grow() -> None:
    diagnoser = Diagnoser("drone")
    old = {**STATS, "drop_auth_fail": 7}
    assert diagnoser.tunnel(STATUS, old, None).level is Level.OK  # what was counted before the first look is not new
    grown = diagnoser.tunnel(STATUS, {**old, "drop_auth_fail": 9}, {"rtt_ms": 1.5})
    assert grown.level is Level.WARN and "2 packets that failed authentication" in grown.message
    assert grown.values["rtt_ms"] == "1.500"
    assert diagnoser.tunnel(STATUS, {**old, "drop_auth_fail": 9}, None).level is Level.OK


def test_a_shaped_link_says_what_becomes_of_each_class() -> None:
    figures = {f"shape_{figure}": [n, 0, 0, 0, 7 * n] for n, figure in enumerate(SHAPE_FIGURES)}
    made = Diagnoser("drone").tunnel({**STATUS, "shape_kbit": 64}, {**STATS, **figures}, None)
    assert made.values["shape_kbit"] == 64
    assert made.values["shape_commands"] == "taken 0 sent 1 replaced 2 dropped 3 oldest_ms 4"
    assert made.values["shape_rekey"] == "taken 0 sent 7 replaced 14 dropped 21 oldest_ms 28"
    assert "shape_commands" not in Diagnoser("drone").tunnel(STATUS, STATS, None).values


def test_strangers_who_try_handshakes() -> None:
    diagnoser = Diagnoser("gcs")
    totals = {**dict.fromkeys(STRANGERS, 0), "keygens": 4, "enc_rx_datagrams": 1}
    assert diagnoser.handshake_server(totals).level is Level.OK
    made = diagnoser.handshake_server({**totals, "hs_tag": 3})
    assert made.level is Level.WARN and "3 handshake datagrams" in made.message
    assert "enc_rx_datagrams" not in made.values and made.values["keygens"] == 4


def test_what_the_kernel_drops() -> None:
    diagnoser = Diagnoser("gcs")
    totals = dict.fromkeys(SOCKET, 0)
    made = diagnoser.data_port(totals)
    assert (made.subcomponent, made.level, made.values) == ("data port", Level.OK, {"drop_kernel": 0})
    made = diagnoser.data_port({**totals, "drop_kernel": 3})
    assert made.level is Level.WARN and "3 times" in made.message and "socket_buffer_kib" in made.message
    assert diagnoser.data_port({**totals, "drop_kernel": 3}).level is Level.OK
    diagnoser.tunnel(STATUS, STATS, None)
    made = diagnoser.tunnel(STATUS, {**STATS, "plain_dropped_kernel": 2}, None)
    assert made.level is Level.WARN and "2 plaintext packets that the kernel" in made.message
    assert made.values["plain_dropped_kernel"] == 2


def test_a_standby_is_no_fault_and_what_is_said_to_it_no_loss():
    diagnoser = Diagnoser("gcs")
    waiting = {**STATUS, "station": "south", "station_role": "standby", "term": 7}
    diagnoser.tunnel(waiting, STATS, None)
    made = diagnoser.tunnel(waiting, {**STATS, "plain_dropped_no_session": 40}, None)
    assert (made.level, made.values["station_role"], made.values["term"]) == (Level.OK, "standby", 7)
    assert "another ground station" in made.message
    assert diagnoser.tunnel(waiting, {**STATS, "drop_auth_fail": 1}, None).level is Level.WARN
    active = {**waiting, "station_role": "active"}
    made = diagnoser.tunnel(active, {**STATS, "drop_auth_fail": 1, "plain_dropped_no_session": 43}, None)
    assert "43 plaintext" in made.message, "what was left out before is no reason to fail now"


def test_a_drone_says_which_of_its_stations_it_hears():
    heard = {**STATUS, "station": "south", "station_role": "active", "stations": ["north none a:1", "south active b:1"]}
    assert Diagnoser("drone").tunnel(heard, STATS, None).message.endswith("ground station south")
