# SPDX-License-Identifier: Apache-2.0
"""A port-translating NAT that can forget its bindings, as mobile networks do in mid-flow.

The inside is one direction's sender. Each inside port gets an outside port on first use; after `rebind` every flow gets
another one and what still arrives for the old one is dropped. Addresses stay as they are.
"""

from pqc_mav_sim.impairment import ethernet

_FIRST_PORT = 20_000
_LAST_PORT = 30_000


class PortNat:
    """The table of bindings. `dropped` counts frames from outside that fit none, `rebinds` how often it forgot."""

    def __init__(self) -> None:
        self.dropped = 0
        self.rebinds = 0
        self._next = _FIRST_PORT
        self._outside: dict[tuple[int, bytes, int], int] = {}
        self._inside: dict[tuple[int, bytes, int], int] = {}

    def rebind(self) -> None:
        """Forget every binding."""
        self.rebinds += 1
        self._outside.clear()
        self._inside.clear()

    def outward(self, frame: bytes) -> bytes:
        """Translate a frame that leaves; what is neither TCP nor UDP passes unchanged."""
        packet = ethernet.parse(frame)
        if packet is None:
            return frame
        key = (packet.protocol, packet.source, packet.source_port)
        port = self._outside.get(key)
        if port is None:
            port = self._bind(key)
        changed = bytearray(frame)
        ethernet.set_port(changed, packet, source=True, port=port)
        return bytes(changed)

    def _bind(self, key: tuple[int, bytes, int]) -> int:
        protocol, source, inside_port = key
        port = self._next
        self._next = port + 1 if port < _LAST_PORT else _FIRST_PORT
        oldest = self._inside.pop((protocol, source, port), None)
        if oldest is not None:  # every port was used once: the oldest binding makes room
            del self._outside[(protocol, source, oldest)]
        self._outside[key] = port
        self._inside[(protocol, source, port)] = inside_port
        return port

    def inward(self, frame: bytes) -> bytes | None:
        """Translate a frame that comes in; None when no binding wants it."""
        packet = ethernet.parse(frame)
        if packet is None:
            return frame
        port = self._inside.get((packet.protocol, packet.destination, packet.destination_port))
        if port is None:
            self.dropped += 1
            return None
        changed = bytearray(frame)
        ethernet.set_port(changed, packet, source=False, port=port)
        return bytes(changed)
