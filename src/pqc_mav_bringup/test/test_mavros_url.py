# SPDX-License-Identifier: Apache-2.0
import re
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pqc_mav_bringup.mavros_url import Endpoint, Kind, MavrosUrl, UrlError, is_loopback, parse, refusal

E = Endpoint


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("udp://@", MavrosUrl(Kind.UDP, E("0.0.0.0", 14555))),
        ("udp://:14540@", MavrosUrl(Kind.UDP, E("0.0.0.0", 14540))),
        ("udp://@127.0.0.1:14590", MavrosUrl(Kind.UDP, E("0.0.0.0", 14555), E("127.0.0.1", 14590))),
        ("udp://127.0.0.1@127.0.0.1", MavrosUrl(Kind.UDP, E("127.0.0.1", 14555), E("127.0.0.1", 14550))),
        ("UDP://LOCALHOST:1@Far:2/?ids=255,190", MavrosUrl(Kind.UDP, E("localhost", 1), E("far", 2), ids=(255, 190))),
        ("udp-b://127.0.0.1:1@:2", MavrosUrl(Kind.UDP_BROADCAST, E("127.0.0.1", 1), E("255.255.255.255", 2))),
        ("udp-pb://@", MavrosUrl(Kind.UDP_BROADCAST_ALWAYS, E("0.0.0.0", 14555), E("255.255.255.255", 14550))),
        ("tcp://", MavrosUrl(Kind.TCP_CLIENT, remote=E("localhost", 5760))),
        ("tcp://10.0.0.2:5762", MavrosUrl(Kind.TCP_CLIENT, remote=E("10.0.0.2", 5762))),
        ("tcp-l://", MavrosUrl(Kind.TCP_SERVER, E("0.0.0.0", 5760))),
        ("tcp-l://127.0.0.1:5", MavrosUrl(Kind.TCP_SERVER, E("127.0.0.1", 5))),
        ("/dev/ttyS0", MavrosUrl(Kind.SERIAL, device="/dev/ttyS0", baudrate=57600)),
        ("/dev/ttyACM0:921600", MavrosUrl(Kind.SERIAL, device="/dev/ttyACM0", baudrate=921600)),
        ("serial://", MavrosUrl(Kind.SERIAL, device="/dev/ttyACM0", baudrate=57600)),
        ("serial:///dev/A?ids=1,191", MavrosUrl(Kind.SERIAL, device="/dev/A", baudrate=57600, ids=(1, 191))),
        ("serial-hwfc:///dev/A:5", MavrosUrl(Kind.SERIAL_FLOW_CONTROL, device="/dev/A", baudrate=5)),
    ],
)
def test_what_mavros_makes_of_a_url(text: str, url: MavrosUrl) -> None:
    assert parse(text) == url
    assert parse(str(url)) == url, str(url)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("ttyACM0:57600", "no URL of mavros"),
        ("udp:14550", "no URL of mavros"),
        ("udpin://:14550", "knows no 'udpin://'"),
        ("://", "knows no '://'"),
        ("udp://127.0.0.1:14550", "has no '@'"),
        ("udp://[::1]:1@", "IPv4 addresses only"),
        ("udp://a@b@c", "second '@'"),
        ("udp://127.0.0.1:14555abc@", "'14555abc' is no port"),
        ("udp://127.0.0.1:@", "'' is no port"),
        ("udp://127.0.0.1:65536@", "up to 65535"),
        ("udp://127.0.0.1:1@:2?ids=1,1", "no port"),
        ("udp://127.0.0.1:1@/?id=1,1", "not '?ids=SYSTEM,COMPONENT'"),
        ("udp://127.0.0.1:1@/?ids=1", "not '?ids=SYSTEM,COMPONENT'"),
        ("udp://127.0.0.1:1@/?ids=256,1", "no system id"),
        ("/dev/ttyS0:fast", "no baudrate"),
    ],
)
def test_what_mavros_would_choke_on(text: str, said: str) -> None:
    with pytest.raises(UrlError, match=re.escape(said)):
        parse(text)
    assert refusal("fcu_url", text).startswith("fcu_url: ")


def test_only_addresses_of_loopback_are_loopback() -> None:
    assert all(is_loopback(host) for host in ("127.0.0.1", "127.9.9.9", "localhost"))
    assert not any(is_loopback(h) for h in ("", "0.0.0.0", "127.1", "0127.0.0.1", "localhost.example.org", "128.0.0.1"))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "/dev/ttyACM0:57600",
        "udp://127.0.0.1:14555@127.0.0.1:14590",
        "udp://127.0.0.1:14550@",
        "tcp://localhost:5760",
        "tcp-l://127.0.0.1:5760",
    ],
)
def test_what_stays_on_this_machine_may_start(text: str) -> None:
    assert refusal("gcs_url", text) == ""


@pytest.mark.parametrize(
    ("text", "cure"),
    [
        ("udp://@127.0.0.1:14590", "udp://127.0.0.1:14555@127.0.0.1:14590"),
        ("udp://:14555@127.0.0.1:14590/?ids=1,240", "udp://127.0.0.1:14555@127.0.0.1:14590/?ids=1,240"),
        ("udp://0.0.0.0:14550@", "udp://127.0.0.1:14550@"),
        ("udp://192.0.2.7:1@", "udp://127.0.0.1:1@"),
        ("udp://192.0.2.7:1@192.0.2.8:2", "udp://127.0.0.1:1@"),
        ("tcp-l://", "tcp-l://127.0.0.1:5760"),
    ],
)
def test_a_listener_beyond_loopback_is_refused_with_the_cure(text: str, cure: str) -> None:
    said = refusal("gcs_url", text)
    assert said.startswith(f"gcs_url '{text}'") and f"'{cure}'" in said and "mavros_allow" in said
    assert said.count(". ") == 0 and said.endswith(".")
    assert refusal("gcs_url", cure) == ""


def test_nor_may_mavlink_leave_this_machine_in_the_clear() -> None:
    assert "to 192.0.2.7, past the tunnel" in refusal("gcs_url", "udp://127.0.0.1:1@192.0.2.7:2")
    assert "to ground.example.org" in refusal("gcs_url", "tcp://ground.example.org")
    assert "would broadcast" in refusal("gcs_url", "udp-b://127.0.0.1:1@")


def test_what_is_allowed_by_name_may_start() -> None:
    autopilot = "udp://192.0.2.1:14540@192.0.2.2:14540"
    assert "listen on 192.0.2.1:14540" in refusal("fcu_url", autopilot)
    assert "to 192.0.2.2" in refusal("fcu_url", autopilot, ["192.0.2.1"])
    assert refusal("fcu_url", autopilot, ["192.0.2.1", "192.0.2.2"]) == ""
    assert refusal("fcu_url", "tcp://Autopilot", ["autopilot"]) == refusal("fcu_url", "tcp://a", ["A"]) == ""
    assert refusal("gcs_url", "udp-b://127.0.0.1:1@", ["255.255.255.255"]) == ""


@given(st.text(string.printable, max_size=60), st.sampled_from(["", *(f"{kind.value}://" for kind in Kind)]))
def test_no_text_is_too_strange(rest: str, scheme: str) -> None:
    """Whatever is not refused binds and reaches loopback only, in the reading of mavros."""
    try:
        url = parse(scheme + rest)
    except UrlError as error:
        assert "\n" not in str(error) or "\n" in rest
        return
    hosts = [end.host for end in (url.bind, url.remote) if end is not None]
    assert (refusal("fcu_url", scheme + rest) == "") == (all(map(is_loopback, hosts)) or not scheme + rest)
    assert parse(str(url)).bind == url.bind
