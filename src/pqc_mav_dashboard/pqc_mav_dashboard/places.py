# SPDX-License-Identifier: Apache-2.0
"""Who has a connection: one that asks for nothing has no place that another one needs.

Every user of this machine may connect to a port on loopback, also those who are told no. Were places first come, first
served, seventy connections that say nothing would shut everybody out.
"""

import asyncio

from uvicorn.protocols.http.h11_impl import H11Protocol

CONNECTIONS = 256  # at once; of them hub.VIEWERS WebSockets
IDLE = 128  # of them so many that have not asked, or were answered


class FairProtocol(H11Protocol):
    """Gives the place of the connection that has been idle for longest to a new one."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take one, and make room."""
        super().connection_made(transport)
        self._since = self.loop.time()
        idle = [each for each in self.connections if isinstance(each, FairProtocol) and each.idle]
        if len(idle) > IDLE:
            oldest = min(idle, key=lambda each: each._since)
            self.connections.discard(oldest)
            oldest.transport.abort()

    def on_response_complete(self) -> None:
        """Idle from now on."""
        self._since = self.loop.time()
        super().on_response_complete()

    @property
    def idle(self) -> bool:
        """Whether nothing that was asked waits for its answer."""
        return self.cycle is None or self.cycle.response_complete
