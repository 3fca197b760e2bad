# SPDX-License-Identifier: Apache-2.0
"""What the store's server refuses has its reason, although its answer never comes."""

from __future__ import annotations

import asyncio
import socket
import subprocess
from pathlib import Path

import pytest
from world import SERVER

from pqc_mav_cli.errors import CliError
from pqc_mav_cli.fleet.store import registry
from pqc_mav_common.testing import until

USERS = """listen: 127.0.0.1:%d
jetstream { store_dir: "%s" }
authorization { users = [
  { user: operator, password: x }
  { user: north, password: x, permissions: { publish: { deny: ["$KV.pqcmav.view.>"] } } }
] }
"""


@pytest.mark.skipif(SERVER is None, reason="nats-server is not installed")
def test_a_user_without_the_right_to_write_hears_it(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    (tmp_path / "nats.conf").write_text(USERS % (port, tmp_path / "jetstream"))

    async def write(user: str, name: str) -> None:
        async with registry(f"nats://{user}:x@127.0.0.1:{port}") as opened:
            await opened.put(name, b"x")

    def ready() -> bool:
        try:
            asyncio.run(write("operator", "view.north"))
        except CliError:
            return False
        return True

    server = subprocess.Popen([str(SERVER), "-c", str(tmp_path / "nats.conf")], stderr=subprocess.DEVNULL)
    try:
        until(ready, "the operator may write", 30)
        asyncio.run(write("north", "receipt.north.drone.d1"))
        with pytest.raises(CliError, match=r"does not do that: permissions violation for publish to.*view.north"):
            asyncio.run(write("north", "view.north"))
    finally:
        server.terminate()
        server.wait(20)
