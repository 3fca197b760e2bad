# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pqc_mav_tunnel as tunnel
import pytest
from tunnel_support import LIGHT

PSK = bytes(range(32))
ZERO = bytes(8)


@pytest.fixture(scope="module")
def gcs_pair() -> tuple[bytes, bytes]:
    return tunnel.sig_keypair("mldsa44")


def pump(drone: tunnel.Initiator, gcs: tunnel.Responder) -> tuple[str, str]:
    """Run a handshake to its end in memory."""
    drone_status = gcs_status = "working"
    frame = drone.start()
    for _ in range(2):
        gcs_status, frame = gcs.on_data(frame)
        if not frame:
            break
        drone_status, frame = drone.on_data(frame)
        if not frame:
            break
    return drone_status, gcs_status


def test_both_ends_get_the_same_keys(gcs_pair: tuple[bytes, bytes]) -> None:
    public, secret = gcs_pair
    for hybrid in (True, False):
        drone = tunnel.Initiator(LIGHT, "uav1", PSK, public, hybrid=hybrid)
        gcs = tunnel.Responder({"uav1": PSK}, {"mldsa44": secret})
        assert pump(drone, gcs) == ("done", "done")
        ours, theirs = drone.take_keys(), gcs.take_keys()
        assert (ours.k_d2g, ours.k_g2d, ours.session_id, ours.epoch) == (
            theirs.k_d2g,
            theirs.k_g2d,
            theirs.session_id,
            theirs.epoch,
        )
        assert ours.k_d2g != ours.k_g2d
        assert ours.hybrid is theirs.hybrid is hybrid
        assert ours.suite == LIGHT
        assert ours.session_id != ZERO
        assert gcs.drone_id == "uav1"
        assert gcs.gated_keygens == 1
        assert (drone.times()["primitives_ms"]["x25519"] > 0) is hybrid
        assert gcs.times()["sizes"]["bytes_sent"] == drone.times()["sizes"]["bytes_received"]
        with pytest.raises(tunnel.TunnelError) as caught:
            drone.take_keys()
        assert caught.value.code == "state"


def test_with_the_drones_signature(gcs_pair: tuple[bytes, bytes]) -> None:
    public, secret = gcs_pair
    own_public, own_secret = tunnel.sig_keypair("mldsa44")
    drone = tunnel.Initiator(LIGHT, "uav1", PSK, public, own_secret=own_secret)
    gcs = tunnel.Responder(
        {"uav1": PSK}, {"mldsa44": secret}, {("uav1", "mldsa44"): own_public}, require_signature=True
    )
    assert pump(drone, gcs) == ("done", "done")
    assert gcs.take_keys().drone_signed


def test_a_rekey(gcs_pair: tuple[bytes, bytes]) -> None:
    public, secret = gcs_pair
    running = (b"sessions", 4, bytes(range(32)))
    drone = tunnel.Initiator(LIGHT, "uav1", PSK, public, session=running)
    gcs = tunnel.Responder({"uav1": PSK}, {"mldsa44": secret}, session=running)
    assert pump(drone, gcs) == ("done", "done")
    keys = drone.take_keys()
    assert keys.epoch == 5
    assert keys.chain == gcs.take_keys().chain != running[2]


def test_a_rekey_needs_the_chain_of_its_session(gcs_pair: tuple[bytes, bytes]) -> None:
    public, secret = gcs_pair
    drone = tunnel.Initiator(LIGHT, "uav1", PSK, public, session=(b"sessions", 4, bytes(32)))
    gcs = tunnel.Responder({"uav1": PSK}, {"mldsa44": secret}, session=(b"sessions", 4, bytes(range(32))))
    assert pump(drone, gcs)[1] == "failed"
    assert gcs.error == "bad_confirm"


def test_busy(gcs_pair: tuple[bytes, bytes]) -> None:
    public, secret = gcs_pair
    drone = tunnel.Initiator(LIGHT, "uav1", PSK, public)
    m1 = drone.start()
    assert drone.on_data(tunnel.Responder({"uav1": PSK}, {"mldsa44": secret}).refuse_busy(m1, 700)) == ("working", b"")
    assert drone.busy_ms == 700
    status, m3 = drone.on_data(tunnel.Responder({"uav1": PSK}, {"mldsa44": secret}).on_data(m1)[1])
    assert (status, drone.busy_ms) == ("working", None)
    assert m3


@pytest.mark.parametrize(
    ("drone_changes", "gcs_changes", "drone_error", "gcs_error", "code"),
    [
        ({"psk": bytes(32)}, {}, "none", "bad_gate", 0),
        ({"drone_id": "uav2"}, {}, "none", "unknown_drone", 0),
        ({}, {"require_signature": True}, "rejected", "refused_locally", 2),
        ({"hybrid": False}, {"allow_pure": False}, "rejected", "refused_locally", 2),
        ({"gcs_id": "north"}, {}, "none", "other_gcs", 0),
        ({"session": (b"sessions", 0, bytes(32))}, {}, "none", "malformed", 0),
        (
            {"session": (b"sessions", 0, bytes(32))},
            {"session": (b"sessions", 1, bytes(32))},
            "rejected",
            "refused_locally",
            4,
        ),
    ],
)
def test_refusals(
    gcs_pair: tuple[bytes, bytes],
    drone_changes: dict,
    gcs_changes: dict,
    drone_error: str,
    gcs_error: str,
    code: int,
) -> None:
    public, secret = gcs_pair
    drone = tunnel.Initiator(
        **{"suite": LIGHT, "drone_id": "uav1", "psk": PSK, "gcs_public_key": public, **drone_changes}
    )
    gcs = tunnel.Responder({"uav1": PSK}, {"mldsa44": secret}, **gcs_changes)
    pump(drone, gcs)
    assert (drone.error, gcs.error) == (drone_error, gcs_error)
    assert drone.reject_code == gcs.reject_code == code
    assert gcs.gated_keygens == 0
    assert gcs.describe().endswith(".")


def test_the_wrong_gcs_key(gcs_pair: tuple[bytes, bytes]) -> None:
    drone = tunnel.Initiator(LIGHT, "uav1", PSK, tunnel.sig_keypair("mldsa44")[0])
    assert pump(drone, tunnel.Responder({"uav1": PSK}, {"mldsa44": gcs_pair[1]}))[0] == "failed"
    assert drone.error == "bad_signature"
    assert "signature" in drone.describe()


def test_arguments_are_checked(gcs_pair: tuple[bytes, bytes]) -> None:
    public, _ = gcs_pair
    for arguments, words in (
        ((LIGHT, "uav1", bytes(31), public), "PSK has 31 bytes"),
        (("cs-rot13", "uav1", PSK, public), "cs-rot13"),
        ((LIGHT, "uav1", PSK, public, True, None, (bytes(9), 0, bytes(32))), "session id has 9 bytes"),
        ((LIGHT, "uav1", PSK, public, True, None, (bytes(8), 0, bytes(31))), "chain secret has 31 bytes"),
    ):
        with pytest.raises(tunnel.TunnelError, match=words):
            tunnel.Initiator(*arguments)
    with pytest.raises(tunnel.TunnelError, match="rsa"):
        tunnel.Responder({}, {"rsa": b""})
