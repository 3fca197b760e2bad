# SPDX-License-Identifier: Apache-2.0
import socket

import pytest

from pqc_mav_sim.endpoint import EndpointError, any_port_towards, resolve


@pytest.mark.parametrize(
    ("text", "shown"), [("127.0.0.1:14550", "127.0.0.1:14550"), ("[::1]:14550", "[::1]:14550"), ("localhost:9", ":9")]
)
def test_good_addresses(text, shown):
    assert str(resolve(text)).endswith(shown)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("127.0.0.1", "has no port"),
        (":14550", "has no port"),
        ("", "has no port"),
        ("::1:14550", "in brackets"),
        ("127.0.0.1:http", "not a number"),
        ("127.0.0.1:65536", "not a number from 1 to 65535"),
        ("127.0.0.1:0", "from 1 to 65535"),
        ("127.0.0.1:-1", "not a number"),
        ("no-such-host.invalid:1", "does not resolve"),
    ],
)
def test_bad_addresses_say_what_is_wrong(text, says):
    with pytest.raises(EndpointError, match=says):
        resolve(text)


def test_port_zero_is_for_binding():
    assert resolve("127.0.0.1:0", passive=True).sockaddr[1] == 0


@pytest.mark.parametrize(
    ("peer", "own"),
    [("127.0.0.1:5", "127.0.0.1:0"), ("10.0.0.1:5", "0.0.0.0:0"), ("[::1]:5", "[::1]:0"), ("[fe80::1]:5", "[::]:0")],
)
def test_own_address_stays_on_loopback_with_a_loopback_peer(peer, own):
    endpoint = any_port_towards(resolve(peer))
    assert str(endpoint) == own
    assert endpoint.family == (socket.AF_INET6 if "[" in peer else socket.AF_INET)
