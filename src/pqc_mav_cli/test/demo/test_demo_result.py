# SPDX-License-Identifier: Apache-2.0
import dataclasses
import json

import pytest

from pqc_mav_cli.demo import result as demo_result
from pqc_mav_cli.demo.result import DemoResult, Direction, Handshake, Wire
from pqc_mav_proxy.names import DROP_REASONS

DIRECTION = Direction(
    sent=100, received=100, duplicates=0, reordered=0, bad=0, rate_hz=50.0, latency_us={"p50_us": 1.0}
)
WIRE = Wire(
    packets=200,
    plain_bytes=10_000,
    encrypted_bytes=17_800,
    drops=dict.fromkeys(DROP_REASONS, 0),
    accounted=True,
    rtt_ms=0.5,
    capture={"leaked": False, "conclusive": True, "datagrams": 150, "examples": [], "unseen_bytes": 0},
)


def good() -> DemoResult:
    return DemoResult(
        duration_s=10.0,
        handshake=Handshake("cs-x", True, 5.0, 1.0, 10, 20),
        downlink=DIRECTION,
        uplink=DIRECTION,
        wire=WIRE,
        steps=dict.fromkeys(demo_result.FLIGHT_STEPS, True),
        max_altitude_m=5.0,
        exit_codes={"vehicle": 0, "drone/pqc_proxy": 0},
    )


def test_a_good_demo_passes_and_survives_json() -> None:
    result = good()
    assert result.passed
    values = json.loads(json.dumps(result.as_json(), allow_nan=False))
    assert values["passed"] and values["downlink"]["lost"] == 0 and values["wire"]["overhead_per_packet"] == 39.0


def failing(result: DemoResult) -> list[str]:
    return [check.name for check in result.checks() if check.ok is False]


@pytest.mark.parametrize(
    ("changes", "check"),
    [
        ({"handshake": None}, "handshake"),
        ({"downlink": None}, "drone to ground"),
        ({"downlink": dataclasses.replace(DIRECTION, received=99)}, "drone to ground"),
        ({"downlink": dataclasses.replace(DIRECTION, received=101, duplicates=1)}, "drone to ground"),
        ({"downlink": dataclasses.replace(DIRECTION, bad=1)}, "drone to ground"),
        ({"downlink": dataclasses.replace(DIRECTION, sent=0, received=0)}, "drone to ground"),
        ({"uplink": dataclasses.replace(DIRECTION, received=90)}, "ground to drone"),
        ({"steps": {"arm": True, "take off": True}}, "commands"),
        ({"steps": {"arm": True, "take off": False, "land": True}}, "commands"),
        ({"wire": None}, "packets"),
        ({"wire": dataclasses.replace(WIRE, drops={"replay": 1})}, "packets"),
        ({"wire": dataclasses.replace(WIRE, accounted=False)}, "packets"),
        ({"wire": dataclasses.replace(WIRE, capture={**WIRE.capture, "leaked": True, "examples": ["x"]})}, "wire"),
        ({"wire": dataclasses.replace(WIRE, capture={**WIRE.capture, "unseen_bytes": 38})}, "wire"),
        ({"planned_altitude_m": 8.0}, "commands"),
        ({"exit_codes": {"vehicle": 0, "gcs/pqc_proxy": -9}}, "shutdown"),
        ({"exit_codes": {}}, "shutdown"),
    ],
)
def test_every_flaw_fails_the_demo(changes: dict, check: str) -> None:
    result = dataclasses.replace(good(), **changes)
    assert not result.passed and check in failing(result)


def test_the_altitude_must_be_the_planned_one() -> None:
    assert dataclasses.replace(good(), planned_altitude_m=5.4).passed
    assert not dataclasses.replace(good(), planned_altitude_m=4.4).passed


class Seen:
    """A capture that saw 100 bytes leave at 1.0 s and 40 more at 2.0 s."""

    def bytes_until(self, port: int, time_s: float) -> int:
        assert port == 7
        return 0 if time_s < 1.0 else 100 if time_s < 2.0 else 140


@pytest.mark.parametrize(
    ("earliest_s", "latest_s", "sent", "amiss"),
    [
        (1.2, 1.3, 100, 0),
        (1.2, 1.3, 101, 1),
        (1.2, 1.3, 99, 1),
        (1.9, 2.1, 100, 0),  # the second packet left while the counters were read
        (1.9, 2.1, 140, 0),
        (1.9, 2.1, 141, 1),
        (1.9, 2.1, 62, 38),
    ],
)
def test_every_byte_sent_must_have_been_seen(earliest_s: float, latest_s: float, sent: int, amiss: int) -> None:
    from pqc_mav_interfaces.msg import TunnelStats

    reading = demo_result.Reading(earliest_s, latest_s, TunnelStats(enc_tx_bytes=sent))
    assert demo_result.unseen([reading], Seen(), 7) == amiss
    good_one = demo_result.Reading(2.5, 2.6, TunnelStats(enc_tx_bytes=140))
    assert demo_result.unseen([reading, good_one], Seen(), 7) == 0


def test_an_error_fails_it_whatever_else() -> None:
    assert not dataclasses.replace(good(), error="x").passed


def test_a_wire_nobody_may_look_at_is_said_and_does_not_fail() -> None:
    result = dataclasses.replace(good(), wire=dataclasses.replace(WIRE, capture=None, capture_note="not allowed"))
    (check,) = [check for check in result.checks() if check.name == "wire"]
    assert result.passed and check.ok is None and check.text == "not allowed"
    blind = dataclasses.replace(WIRE, capture={**WIRE.capture, "conclusive": False})
    (check,) = [check for check in dataclasses.replace(good(), wire=blind).checks() if check.name == "wire"]
    assert check.ok is None


def test_directions_from_the_reports_of_both_applications() -> None:
    vehicle = {
        "sent": 1000,
        "elapsed_s": 10.0,
        "uplink": {"255:190": {"received": 49, "duplicates": 1, "reordered": 2}},
        "frame_errors": {"bad_crc": 3},
        "uplink_latency": {"p50_us": 9.0},
    }
    ground = {
        "sent": 50,
        "received": 998,
        "duplicates": 0,
        "reordered": 1,
        "frame_errors": {},
        "rate_hz": 100.0,
        "downlink_latency": None,
    }
    down, up = demo_result.downlink(vehicle, ground), demo_result.uplink(vehicle, ground)
    assert (down.lost, down.bad, down.latency_us) == (2, 0, {})
    assert (up.lost, up.duplicates, up.bad, up.rate_hz) == (2, 1, 3, 4.9)


def test_counters_are_summed_over_both_ends_and_checked_for_each() -> None:
    from pqc_mav_interfaces.msg import TunnelStats

    drone = TunnelStats(
        enc_tx_packets=10, enc_tx_bytes=1380, plain_rx_bytes=1000, enc_rx_packets=5, delivered=4, control=1
    )
    gcs = TunnelStats(enc_tx_packets=5, enc_tx_bytes=200, enc_rx_packets=10, delivered=9, drop_replay=1)
    made = demo_result.wire(drone, gcs, float("nan"), None, "why")
    assert (made.packets, made.encrypted_bytes, made.plain_bytes, made.drops["replay"]) == (15, 1580, 1000, 1)
    assert made.accounted and made.rtt_ms is None and made.capture_note == "why"
    gcs.delivered = 8
    assert not demo_result.wire(drone, gcs, None, None, "").accounted
