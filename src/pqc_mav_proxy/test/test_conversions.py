# SPDX-License-Identifier: Apache-2.0
import math
from pathlib import Path

import pqc_mav_tunnel
import pytest
from pqc_mav_interfaces.msg import TunnelStats, TunnelStatus
from std_msgs.msg import Header

from pqc_mav_common.testing_proxies import gcs_parameters
from pqc_mav_proxy import conversions
from pqc_mav_proxy.names import STATES, state_name
from pqc_mav_proxy.rates import RATES

STATUS = {
    "drone_id": "d1",
    "state": "DEGRADED",
    "suite": "cs-mlkem768-aesgcm-mldsa65",
    "epoch": 3,
    "session_id": "00112233445566aa",
    "key_age_s": 1.5,
    "silence_s": 3.25,
    "peer": "127.0.0.1:9",
    "plain_local": "127.0.0.1:1",
    "plain_peer": "",
    "last_error": "",
    "shape_kbit": 64,
    "station": "south",
    "station_role": "active",
    "term": 7,
    "stations": ["north none 10.0.0.1:46011", "south active 10.0.1.1:46011"],
    "hybrid": True,
    "drone_signed": False,
    "handshakes_ok": 1,
    "handshakes_failed": 2,
    "rekeys_ok": 3,
    "ratchets": 2,
    "ratchet_for_s": 3000.0,
}
VIEW = {
    "packets_per_s": 320.5,
    "gap_p95_ms": 4.0,
    "longest_silence_ms": 9.0,
    "jitter_ms": 0.5,
    "loss": 0.25,
    "blackouts": 2,
    "drops": {"malformed": 1, "unknown": 2, "seq_old": 3, "replay": 4, "auth_fail": 5, "decrypt_fail": 6},
}
HANDSHAKE = {
    "type": "handshake",
    "drone_id": "d1",
    "ok": True,
    "error": "",
    "reason": "",
    "suite": "s",
    "hybrid": True,
    "epoch": 0,
    "rekey": False,
    "kind": "first",
    "role": "drone",
    "peer": "p",
    "handshake_ms": 5.0,
    "phases_ms": {
        "hello": 0.3,
        "server_hello": 1.0,
        "finish": 0.5,
        "server_finish": 0.25,
    },
    "primitives_ms": {"kem_keygen": 0.125, "sig_verify": 0.5},
    "keygen_pooled": True,
    "sizes": {"public_key": 1184, "ciphertext": 1088, "signature": 3309, "bytes_sent": 1300, "bytes_received": 4700},
}


@pytest.mark.parametrize("name", STATES)
def test_every_state_has_its_constant(name: str) -> None:
    message = conversions.status_message({**STATUS, "state": name}, "gcs", Header())
    assert message.state == getattr(TunnelStatus, name)
    assert state_name(message.state) == name


def test_status_carries_every_field() -> None:
    message = conversions.status_message(STATUS, "drone", Header())
    assert message.role == "drone"
    for field, value in STATUS.items():
        if field != "state":
            assert getattr(message, field) == value


def test_message_fields_are_what_the_engine_reports(keys: Path) -> None:
    engine = pqc_mav_tunnel.Engine(gcs_parameters(keys))
    engine.start()
    reports = (
        (TunnelStatus, engine.status()[0], {"role"}),
        (TunnelStats, engine.stats()[0], set(RATES)),
    )
    engine.stop()
    for kind, report, ours in reports:
        assert set(kind.get_fields_and_field_types()) - {"header"} - ours <= set(report)


def test_stats_and_rates_are_copied() -> None:
    fields = TunnelStats.get_fields_and_field_types()
    counters = {name: number for number, name in enumerate(fields) if name not in ("header", "drone_id")}
    by_class = {name: [counters[name]] * 5 for name in counters if name.startswith("shape_")}
    stats = {"drone_id": "d1", **counters, **by_class, "window_depth": list(range(13))}
    message = conversions.stats_message(stats, {"tx_packets_per_s": 7.0}, Header())
    assert list(message.shape_sent) == by_class["shape_sent"] and len(by_class) == 5
    assert list(message.window_depth) == list(range(13))
    assert message.drone_id == "d1" and message.tx_packets_per_s == 7.0
    assert message.delivered == counters["delivered"] and message.drop_replay == counters["drop_replay"]


def test_link_before_the_first_report_and_probe() -> None:
    link = {"drone_id": "d1", "local": VIEW, "peer": None, "age_s": None}
    link |= {"rtt_ms": None, "rtt_min_ms": None, "clock_offset_ms": None}
    (local,) = conversions.link_messages(link, Header())
    assert local.side == "local" and local.age_s == 0.0
    assert math.isnan(local.rtt_ms) and math.isnan(local.clock_offset_ms)
    assert (local.loss, local.blackouts, local.drop_auth_fail, local.drop_decrypt_fail) == (0.25, 2, 5, 6)


def test_link_with_a_peer_report() -> None:
    link = {"drone_id": "d1", "local": VIEW, "peer": {**VIEW, "loss": 0.5}, "age_s": 0.75}
    link |= {"rtt_ms": 2.0, "rtt_min_ms": 1.0, "clock_offset_ms": -3.0}
    local, peer = conversions.link_messages(link, Header())
    assert (local.side, peer.side) == ("local", "peer")
    assert (peer.loss, peer.age_s, peer.rtt_ms, peer.clock_offset_ms) == (0.5, 0.75, 2.0, -3.0)


def test_handshake_sums_the_finishing_phases_and_leaves_missing_parts_zero() -> None:
    message = conversions.handshake_message(HANDSHAKE, Header())
    assert message.phase_finish_ms == pytest.approx(0.75)
    assert message.kem_keygen_ms == 0.125 and message.sig_sign_ms == 0.0
    assert (message.public_key_bytes, message.drone_signature_bytes) == (1184, 0)
    assert message.keygen_pooled and message.ok and message.suite == "s"


def test_suite_messages_of_the_whole_registry() -> None:
    for suite in pqc_mav_tunnel.suites(view="extended"):
        values = suite.as_dict()
        message = conversions.suite_message(values)
        assert message.id == values["id"]
        assert message.public_key_bytes == values["public_key_bytes"] > 0
        assert message.available == values["available"]
