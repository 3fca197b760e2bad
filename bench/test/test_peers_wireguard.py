# SPDX-License-Identifier: Apache-2.0
"""The settings that WireGuard's interface is given, and its answers."""

from __future__ import annotations

import base64

from peers.wireguard import settings, value_of

KEY, OTHER = (base64.b64encode(bytes([value]) * 32).decode() for value in (1, 2))


def test_a_drone_names_its_peer_and_keeps_the_way_open() -> None:
    assert settings(KEY, 46011, OTHER, "10.99.0.1", "10.0.0.1:46011").splitlines() == [
        "set=1", f"private_key={'01' * 32}", "listen_port=46011", "replace_peers=true", f"public_key={'02' * 32}",
        "allowed_ip=10.99.0.1/32", "endpoint=10.0.0.1:46011", "persistent_keepalive_interval=25", "",
    ]  # fmt: skip


def test_a_ground_learns_where_the_drone_is() -> None:
    text = settings(KEY, 46011, OTHER, "10.99.0.2")
    assert "endpoint" not in text
    assert text.endswith("\n\n")


def test_without_a_peer_none_is_named() -> None:
    assert "public_key" not in settings(KEY, 46011)


def test_values_are_found_in_answers() -> None:
    answer = "private_key=00\nlast_handshake_time_sec=17\nerrno=0\n\n"
    assert value_of(answer, "last_handshake_time_sec") == "17"
    assert value_of(answer, "errno") == "0"
    assert value_of(answer, "endpoint") == ""
