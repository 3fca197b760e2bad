# SPDX-License-Identifier: Apache-2.0
"""mavros' connection URLs: what mavros would bind and reach, and why we would not start it that way. Pure.

The grammar and the defaults are those of libmavconn 2.12, mavros' own library; where it stays vague (it takes whatever
begins with digits for a port) this is stricter. Its UDP and TCP servers bind 0.0.0.0 when a URL names no host: then
anybody on the network can command the vehicle without a key, past the tunnel.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Collection
from dataclasses import dataclass
from enum import Enum

ANY = "0.0.0.0"  # noqa: S104  what mavros binds, not we
LOOPBACK = "127.0.0.1"
BROADCAST = "255.255.255.255"
BIND_PORT, REMOTE_PORT, TCP_PORT = 14555, 14550, 5760
SERIAL_DEVICE, BAUDRATE = "/dev/ttyACM0", 57600
FORMS = "udp://BIND_HOST:PORT@HOST:PORT, tcp://HOST:PORT, tcp-l://BIND_HOST:PORT or /dev/DEVICE:BAUDRATE"


class UrlError(ValueError):
    """mavros would not understand this URL: one sentence."""


class Kind(str, Enum):
    """The schemes of libmavconn; a text without one is the path of a serial device."""

    UDP = "udp"
    UDP_BROADCAST = "udp-b"  # broadcasts until somebody answers
    UDP_BROADCAST_ALWAYS = "udp-pb"
    TCP_CLIENT = "tcp"
    TCP_SERVER = "tcp-l"
    SERIAL = "serial"
    SERIAL_FLOW_CONTROL = "serial-hwfc"


_BROADCASTS = (Kind.UDP_BROADCAST, Kind.UDP_BROADCAST_ALWAYS)
_SERIAL = (Kind.SERIAL, Kind.SERIAL_FLOW_CONTROL)


@dataclass(frozen=True)
class Endpoint:
    """A host and a port, as written or by mavros' defaults."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"


@dataclass(frozen=True)
class MavrosUrl:
    """What mavros makes of a URL: where it listens, where it sends, which ids it was given."""

    kind: Kind
    bind: Endpoint | None = None
    remote: Endpoint | None = None
    device: str = ""
    baudrate: int = 0
    ids: tuple[int, int] | None = None

    def __str__(self) -> str:
        ids = "" if self.ids is None else f"ids={self.ids[0]},{self.ids[1]}"
        if self.kind in _SERIAL:
            return f"{self.kind.value}://{self.device}:{self.baudrate}{ids and '?' + ids}"
        ids = ids and "/?" + ids
        if self.bind is not None and self.kind is not Kind.TCP_SERVER:
            # Where the first packet comes from, if no host is named; a broadcast names only the port.
            named = self.remote is not None and self.kind not in _BROADCASTS
            remote = str(self.remote) if named else f":{self.remote.port}" if self.remote else ""
            return f"{self.kind.value}://{self.bind}@{remote}{ids}"
        return f"{self.kind.value}://{self.bind or self.remote}{ids}"


def parse(text: str) -> MavrosUrl:
    """A URL as mavros reads it. Raises UrlError."""
    scheme, separator, rest = text.partition("://")
    if not separator:
        if not text.startswith("/"):
            raise UrlError(f"'{text}' is no URL of mavros: write {FORMS}.")
        return _serial(Kind.SERIAL, *_cut(text, "?"))
    try:
        kind = Kind(scheme.lower())
    except ValueError:
        raise UrlError(f"'{text}': mavros knows no '{scheme}://'; write {FORMS}.") from None
    if kind in _SERIAL:
        return _serial(kind, *_cut(rest, "?"))
    hosts, rest = _cut(rest, "/")
    ids = _ids(_cut(rest, "?")[1])
    hosts = hosts.lower()
    if kind is Kind.TCP_CLIENT:
        return MavrosUrl(kind, remote=_endpoint(hosts, "localhost", TCP_PORT), ids=ids)
    if kind is Kind.TCP_SERVER:
        return MavrosUrl(kind, bind=_endpoint(hosts, ANY, TCP_PORT), ids=ids)
    bound, at, remote = hosts.partition("@")
    if not at:
        raise UrlError(f"'{text}' has no '@': write udp://BIND_HOST:PORT@HOST:PORT.")
    bind, to = _endpoint(bound, ANY, BIND_PORT), _endpoint(remote, "", REMOTE_PORT)
    if kind in _BROADCASTS:
        to = Endpoint(BROADCAST, to.port)
    return MavrosUrl(kind, bind, to if to.host else None, ids=ids)


def is_loopback(host: str) -> bool:
    """Whether only this machine is there. A name other than localhost may be anywhere; so may 127.1, a short form."""
    try:
        return ipaddress.IPv4Address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def refusal(name: str, text: str, allowed: Collection[str] = ()) -> str:
    """Why mavros is not started with this URL, in one sentence with the cure; empty = it may be.

    Each address in it has to be on loopback or among `allowed`. `name` is the argument's name.
    """
    if not text:
        return ""
    try:
        url = parse(text)
    except UrlError as error:
        return f"{name}: {error}"
    known = {host.lower() for host in allowed}

    def stranger(end: Endpoint | None) -> str:
        return end.host if end is not None and not is_loopback(end.host) and end.host not in known else ""

    bound, remote = stranger(url.bind), stranger(url.remote)
    advice = "list the address in mavros_allow if you mean it"
    if url.kind in _BROADCASTS and remote:
        return f"{name} '{text}' would broadcast MAVLink in the clear; use udp:// with an address of this machine."
    if bound:
        assert url.bind is not None
        # From loopback nothing goes to another machine.
        cure = MavrosUrl(url.kind, Endpoint(LOOPBACK, url.bind.port), None if remote else url.remote, ids=url.ids)
        return (
            f"{name} '{text}' would make mavros listen on {url.bind}, where the network can command the vehicle "
            f"without a key; write '{cure}', or {advice}."
        )
    if remote:
        return (
            f"{name} '{text}' would carry MAVLink in the clear to {remote}, past the tunnel; name 127.0.0.1, "
            f"or {advice}."
        )
    return ""


def _cut(text: str, separator: str) -> tuple[str, str]:
    before, _, after = text.partition(separator)
    return before, after


def _endpoint(text: str, host: str, port: int) -> Endpoint:
    """host, host:port, :port or nothing, with the defaults of the others."""
    name, colon, number = text.partition(":")
    if name.startswith("["):
        raise UrlError(f"'{text}': mavros knows IPv4 addresses only.")
    if "@" in name:
        raise UrlError(f"'{text}' has a second '@'.")
    return Endpoint(name or host, _number(number, "port", 65535) if colon else port)


def _serial(kind: Kind, path: str, query: str) -> MavrosUrl:
    device, colon, rate = path.partition(":")
    baudrate = _number(rate, "baudrate", 100_000_000) if colon else BAUDRATE
    return MavrosUrl(kind, device=device or SERIAL_DEVICE, baudrate=baudrate, ids=_ids(query))


def _ids(query: str) -> tuple[int, int] | None:
    if not query:
        return None
    name, _, value = query.partition("=")
    system, comma, component = value.partition(",")
    if name != "ids" or not comma:
        raise UrlError(f"'?{query}' is not '?ids=SYSTEM,COMPONENT'.")
    return _number(system, "system id", 255), _number(component, "component id", 255)


def _number(text: str, what: str, largest: int) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 9 and int(text) <= largest):
        raise UrlError(f"'{text}' is no {what}: it must be a whole number up to {largest}.")
    return int(text)
