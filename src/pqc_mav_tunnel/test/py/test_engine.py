# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import threading
import time
from pathlib import Path

import pqc_mav_tunnel as tunnel
import pytest
from tunnel_support import LIGHT, Pair, drone_config, eventually, gcs_config, udp

DROPS = ("malformed", "unknown", "seq_old", "replay", "auth_fail", "decrypt_fail")
HANDSHAKE_OUTCOMES = ("taken", "repeated", "malformed", "unknown", "tag", "gate", "replay", "limit")


def gather(engine: tunnel.Engine, kind: str, limit_s: float = 20.0) -> dict:
    """The next event of a kind."""
    deadline = time.monotonic() + limit_s
    while time.monotonic() < deadline:
        for event in engine.wait_events(0.1, 1):
            if event["type"] == kind:
                return event
    pytest.fail(f"no {kind} event")


def test_packets_go_both_ways(pair: Pair) -> None:
    for size in (0, 1, 280, 1432):
        pair.send_up(bytes(size))
        assert pair.ground.recv(2000) == bytes(size)
        pair.send_down(bytes(size))
        assert pair.autopilot.recv(2000) == bytes(size)


def test_status_has_every_field(pair: Pair) -> None:
    for engine, other in ((pair.gcs, pair.drone), (pair.drone, pair.gcs)):
        (status,) = engine.status()
        assert set(status) >= {
            "drone_id", "state", "suite", "epoch", "session_id", "key_age_s", "silence_s", "peer", "plain_local",
            "plain_peer", "last_error", "hybrid", "drone_signed", "handshakes_ok", "handshakes_failed", "rekeys_ok",
            "shape_kbit", "ratchets", "ratchet_for_s",
        }  # fmt: skip
        assert status["drone_id"] == "uav1"
        assert status["suite"] == LIGHT
        assert status["hybrid"] is True
        assert status["drone_signed"] is True  # it has a key pair
        assert status["session_id"] == other.status()[0]["session_id"]
        assert bytes.fromhex(status["session_id"])
        assert 0 <= status["key_age_s"] < 60
        # The keys are in use a moment before the handshake is counted.
        assert eventually(lambda engine=engine: engine.status()[0]["handshakes_ok"] == 1)
        assert status["peer"].startswith("127.0.0.1:")


def test_ports(pair: Pair) -> None:
    gcs, drone = pair.gcs.ports(), pair.drone.ports()
    assert "handshake" not in gcs
    for ports in (gcs, drone):
        assert ports["data"] > 0
        assert list(ports["plain"]) == ["uav1"]
    assert pair.drone.status()[0]["peer"] == f"127.0.0.1:{gcs['data']}"


def test_shaping_is_set_while_it_runs(pair: Pair) -> None:
    assert pair.drone.set_shape_kbit(64)
    assert eventually(lambda: pair.drone.status()[0]["shape_kbit"] == 64)
    pair.send_up(b"unreadable: the rest")
    assert pair.ground.recv(100) == b"unreadable: the rest"
    assert eventually(lambda: pair.drone.stats()[0]["shape_sent"][3] == 1)
    assert set(pair.drone.stats()[0]) >= {"shape_taken", "shape_replaced", "shape_dropped", "shape_oldest_ms"}
    with pytest.raises(tunnel.TunnelError, match="'shape_kbit' is -2"):
        pair.drone.set_shape_kbit(-2)
    assert pair.drone.set_shape_kbit(0)


def test_stats_and_totals_add_up(pair: Pair) -> None:
    for i in range(10):
        pair.send_up(b"x" * i)
        pair.ground.recv(100)
    # A datagram may be read a moment before it is counted as sent.
    assert eventually(lambda: pair.gcs.stats()[0]["plain_tx_packets"] == 10)
    (stats,) = pair.gcs.stats()
    assert stats["delivered"] == 10
    assert stats["plain_tx_bytes"] == 45
    assert {f"drop_{drop}" for drop in DROPS} <= set(stats)
    assert isinstance(stats["open_mean_ns"], float)

    def accounted() -> bool:
        totals = pair.gcs.totals()
        parts = totals["delivered"] + totals["control"] + sum(totals[f"drop_{drop}"] for drop in DROPS)
        parts += sum(totals[f"hs_{outcome}"] for outcome in HANDSHAKE_OUTCOMES)
        return totals["enc_rx_datagrams"] == parts

    assert eventually(accounted)
    totals = pair.gcs.totals()
    assert totals["hs_gated"] == totals["hs_completed"] == totals["keygens"] == 1
    assert totals["hs_taken"] >= 2
    assert "keygens" not in pair.drone.totals()


def test_links(pair: Pair) -> None:
    def complete() -> bool:
        pair.send_up(b"telemetry")
        (link,) = pair.gcs.links()
        return link["peer"] is not None and link["rtt_ms"] is not None

    assert eventually(complete)
    (link,) = pair.gcs.links()
    assert set(link) == {"drone_id", "local", "peer", "age_s", "rtt_ms", "rtt_min_ms", "clock_offset_ms"}
    fields = {
        "window_s",
        "packets_per_s",
        "gap_p95_ms",
        "longest_silence_ms",
        "jitter_ms",
        "loss",
        "blackouts",
        "drops",
    }
    assert set(link["local"]) == set(link["peer"]) == fields
    assert set(link["local"]["drops"]) == set(DROPS)
    assert 0 < link["rtt_min_ms"] <= link["rtt_ms"]
    assert link["local"]["loss"] == 0.0


def test_events_of_a_handshake_and_of_states(pair: Pair) -> None:
    started = time.monotonic_ns()
    outcome = pair.drone.request_rekey("uav1", reason="test")
    assert outcome["ok"], outcome["message"]
    assert outcome["epoch"] == 1
    assert outcome["suite"] == LIGHT
    assert outcome["rekey_ms"] > 0

    def rekeyed(engine: tunnel.Engine) -> dict:
        while True:
            event = gather(engine, "handshake")
            if event["rekey"]:
                return event

    for engine, role in ((pair.drone, "drone"), (pair.gcs, "gcs")):
        event = rekeyed(engine)
        assert event["ok"] is True
        assert event["error"] == "none"
        assert event["role"] == role
        assert event["drone_id"] == "uav1"
        assert event["monotonic_ns"] > started
        assert set(event["phases_ms"]) == {"hello", "server_hello", "finish", "server_finish"}
        assert event["sizes"]["public_key"] == 800
        assert event["sizes"]["ciphertext"] == 768
        assert event["sizes"]["signature"] == 2420
        assert event["primitives_ms"]["x25519"] > 0
        if role == "gcs":
            assert event["primitives_ms"]["kem_keygen"] > 0
            assert event["keygen_pooled"] is False
        else:
            assert event["primitives_ms"]["sig_verify"] > 0

    pair.gcs.stop()
    seen = []
    while not seen or seen[-1]["old"] != "UP" or seen[-1]["new"] not in ("DOWN", "HANDSHAKING"):
        seen.append(gather(pair.drone, "state"))
        assert seen[-1]["reason"].endswith(".")
    assert "UP" in [event["new"] for event in seen]  # after the rekey


def test_a_gcs_asks_its_drone(pair: Pair) -> None:
    outcome = pair.gcs.request_rekey("uav1", suite="ML-768-CP-MD-65", reason="threat")
    assert outcome["ok"], outcome["message"]
    assert outcome["suite"] == "cs-mlkem768-chacha20poly1305-mldsa65"
    assert "threat" in outcome["message"]
    refused = pair.gcs.request_rekey("nobody", timeout_s=1)
    assert refused == {
        "ok": False,
        "suite": "",
        "epoch": 0,
        "rekey_ms": 0.0,
        "message": "There is no drone 'nobody' here.",
        "pin_for_s": 0.0,
    }


def test_waiting_leaves_the_interpreter_to_others(pair: Pair) -> None:
    for engine in (pair.gcs, pair.drone):
        while engine.wait_events(0.0):
            pass
    waiting = threading.Event()
    events: list[dict] = []

    def wait() -> None:
        waiting.set()
        events.extend(pair.drone.wait_events(60.0))

    thread = threading.Thread(target=wait)
    thread.start()
    assert waiting.wait(10)
    # With the GIL held over there this line would not be reached for a minute.
    assert pair.drone.request_rekey("uav1")["ok"]
    thread.join(30)
    assert not thread.is_alive()
    assert events


@pytest.mark.parametrize("timeout", [-1.0, 0.0, float("nan"), float("-inf")])
def test_timeouts_that_are_none_return_at_once(pair: Pair, timeout: float) -> None:
    while pair.gcs.wait_events(0.0):
        pass
    assert pair.gcs.wait_events(timeout) == []


def test_waiting_for_ever_ends_with_the_engine(pair: Pair) -> None:
    while pair.gcs.wait_events(0.0):
        pass
    results: list[list[dict]] = []
    thread = threading.Thread(target=lambda: results.append(pair.gcs.wait_events(float("inf"))))
    thread.start()
    pair.gcs.stop()
    thread.join(30)
    assert not thread.is_alive()
    assert len(results) == 1


def test_config_shows_paths_and_no_keys(pair: Pair, keys: Path) -> None:
    config = pair.gcs.config()
    assert config["keys"] == str(keys / "gcs")
    assert config["drones"] == ["uav1"]
    assert "drone.uav1.require_signature" not in config, "the default of one of maybe thousands"
    assert {entry["key"] for entry in tunnel.config_schema("gcs")} <= set(config)
    secret = (keys / "gcs" / "psk" / "uav1.key").read_text().splitlines()[-1]
    assert len(secret) > 40
    everything = repr([config, pair.gcs.status(), pair.gcs.stats(), pair.gcs.links(), pair.gcs.wait_events(0.0, 1000)])
    assert secret not in everything
    assert secret[:16] not in everything


def test_nested_and_flat_configuration_are_one(keys: Path) -> None:
    nested = tunnel.Engine(gcs_config(keys, drone={"uav1": {"plain_peer": "127.0.0.1:1", "require_signature": True}}))
    flat = tunnel.Engine(
        gcs_config(keys, **{"drone.uav1.plain_peer": "127.0.0.1:1", "drone.uav1.require_signature": True})
    )
    assert nested.config() == flat.config()
    again = tunnel.Engine(nested.config())
    assert again.config() == nested.config()


@pytest.mark.parametrize(
    ("change", "code", "words"),
    [
        ({"keepalive": 1.0}, "config_unknown_key", "keepalive_s"),
        ({"max_payload": 1 << 80}, "config_invalid", "'max_payload'"),
        ({"max_payload": 10}, "config_invalid", "between 64 and 65469"),
        ({"max_payload": None}, "config_invalid", "NoneType"),
        ({"max_payload": b"1200"}, "config_invalid", "'max_payload'"),
        ({"hybrid": 1}, "config_invalid", "true or false"),
        ({"peer": ["a", 1]}, "config_invalid", "list of strings"),
        ({"suite": "cs-mlkem768-aesgcm-mldsa66"}, "suite_unknown", "mldsa65"),
        ({"keys": "/nowhere"}, "key_missing", "/nowhere"),
        ({"drone_id": "UAV"}, "config_invalid", "a-z"),
    ],
)
def test_refused_configurations(keys: Path, change: dict, code: str, words: str) -> None:
    with pytest.raises(tunnel.TunnelError) as caught:
        tunnel.Engine(drone_config(keys, {"data": 1}, **change))
    assert caught.value.code == code
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
    assert isinstance(caught.value, RuntimeError)


@pytest.mark.parametrize("config", [None, 5, "role: gcs", ["role"]])
def test_a_configuration_is_a_mapping(config: object) -> None:
    with pytest.raises(TypeError):
        tunnel.Engine(config)  # type: ignore[arg-type]


def test_errors_of_starting(keys: Path, pair: Pair) -> None:
    port = pair.gcs.ports()["data"]
    second = tunnel.Engine(gcs_config(keys, data_port=port))
    with pytest.raises(tunnel.TunnelError) as caught:
        second.start()
    assert caught.value.code == "port_in_use"
    assert str(port) in str(caught.value)
    with pytest.raises(tunnel.TunnelError) as caught:
        second.status()
    assert caught.value.code == "state"


def test_stopping_is_idempotent(pair: Pair) -> None:
    for _ in range(2):
        pair.drone.stop()
        pair.gcs.stop()
    assert pair.gcs.status()[0]["state"] == "DOWN"
    with pytest.raises(tunnel.TunnelError) as caught:
        pair.gcs.start()
    assert caught.value.code == "state"


def test_an_engine_that_is_dropped_ends(keys: Path) -> None:
    engine = tunnel.Engine(gcs_config(keys))
    engine.start()
    port = engine.ports()["data"]
    del engine
    again = tunnel.Engine(gcs_config(keys, data_port=port))
    again.start()
    again.stop()


def test_nothing_is_avoided_at_first(pair: Pair) -> None:
    assert pair.drone.status()[0]["blacklisted_suites"] == []
    assert pair.gcs.status()[0]["blacklisted_suites"] == []


def test_a_tap_gets_what_the_autopilot_sends(tmp_path: Path) -> None:
    with udp() as reader:
        address = f"127.0.0.1:{reader.getsockname()[1]}"
        tunnel.init_keys(str(tmp_path), ["uav1"], ["mldsa44"])
        drone = tunnel.Engine(drone_config(tmp_path, {"data": 1}, plain_tap=address))
        drone.start()
        try:
            with udp() as autopilot:
                autopilot.sendto(b"heartbeat", ("127.0.0.1", drone.ports()["plain"]["uav1"]))
                assert reader.recv(100) == b"heartbeat"
            assert eventually(lambda: drone.stats()[0]["plain_tap_packets"] == 1)
            assert drone.stats()[0]["plain_tap_dropped"] == 0
        finally:
            drone.stop()


def test_a_tap_beyond_this_machine_is_refused(tmp_path: Path) -> None:
    tunnel.init_keys(str(tmp_path), ["uav1"], ["mldsa44"])
    with pytest.raises(tunnel.TunnelError, match=r"plain_tap.*loopback") as refusal:
        tunnel.Engine(drone_config(tmp_path, {"data": 1}, plain_tap="192.0.2.1:14591"))
    assert refusal.value.code == "config_invalid"
