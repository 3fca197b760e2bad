#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""NATS JetStream and Zenoh as the store of `pqcmav fleet`: how soon all stations have an entry, and what is kept.

``tools/run bench/stores.py [--stations 5] [--times 200] [--entries 1000]`` runs nats-server and zenohd on this
machine, the latter with its storage manager and a store in memory, the only one of its own. Stations watch; an
operator writes entries, by turns in either; another station then comes and fetches all; each server is killed and
started again. Writes bench/results/stores.json; ``--output DIR`` writes elsewhere. Both servers have to be on the path,
zenohd's plugin beside it; 'pip install eclipse-zenoh' brings the client.
"""

import argparse
import asyncio
import json
import os
import shutil
import socket
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import nats
import psutil
import rig

from pqc_mav_bench.analysis.statistics import median_interval
from pqc_mav_common.child import Program
from pqc_mav_common.free_ports import free_ports
from pqc_mav_common.waiting import wait_until

VALUE_BYTES = 3_000  # as an entry with keys for two stations has
LIMIT_S = 30.0


class Watchers:
    """Counts who has seen which value."""

    def __init__(self, stations: int) -> None:
        self._stations = stations
        self._seen = 0
        self._all = threading.Event()

    def expect(self) -> None:
        """A new value is about to be written."""
        self._seen = 0
        self._all.clear()

    def saw(self) -> None:
        """One of them has it."""
        self._seen += 1
        if self._seen == self._stations:
            self._all.set()

    def wait(self) -> None:
        """Until all have it."""
        if not self._all.wait(LIMIT_S):
            raise SystemExit(f"bench: not every station had the entry within {LIMIT_S:g} s")


class Store:
    """A server that is killed and started again."""

    def __init__(self, stations: int, port: int, command: list[str]) -> None:
        self.watchers = Watchers(stations)
        self._port, self._command = port, command
        self._start()

    def _start(self) -> None:
        self.server = Program(self._command[0], self._command)
        if not wait_until(self._accepts, LIMIT_S):
            raise SystemExit(f"bench: {self._command[0]} does not start")

    def _accepts(self) -> bool:
        with suppress(OSError), socket.create_connection((rig.HOST, self._port), 1.0):
            return True
        return False

    def again(self) -> None:
        """Kill the server and start it."""
        self.server.process.kill()
        self.server.process.wait()
        self._start()

    def close(self) -> None:
        """End the server, and whoever asks it."""
        rig.stop([self.server])


class Nats(Store):
    """A bucket as `pqcmav fleet` uses it."""

    name = "NATS JetStream"

    def __init__(self, folder: Path, stations: int) -> None:
        (port,) = free_ports(1)
        self._url = f"nats://{rig.HOST}:{port}"
        command = ["nats-server", "-a", rig.HOST, "-p", str(port), "-js", "-sd", str(folder / "nats")]
        super().__init__(stations, port, command)
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, daemon=True).start()
        self._bucket = self._do(self._open(make=True))
        for _ in range(stations):
            asyncio.run_coroutine_threadsafe(self._watch(), self._loop)

    def _do(self, what: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(what, self._loop).result(LIMIT_S)

    async def _open(self, *, make: bool = False) -> Any:
        async def unsaid(_: Exception) -> None:  # each connection notices that the server was killed
            pass

        client = await nats.connect(self._url, connect_timeout=LIMIT_S, max_reconnect_attempts=100, error_cb=unsaid)
        stream = client.jetstream()
        return await (stream.create_key_value(bucket="b", history=1) if make else stream.key_value("b"))

    async def _watch(self) -> None:
        watcher = await (await self._open()).watch("entry.>")
        async for found in watcher:
            if found is not None:
                self.watchers.saw()

    def put(self, key: int, value: bytes) -> None:
        """Written, and kept by the server, when this returns."""
        self._do(self._bucket.put(f"entry.{key}", value))

    def fetch(self) -> int:
        """How many entries a station that comes now is given."""

        async def all_of() -> int:
            watcher, count = await (await self._open()).watch("entry.>"), 0
            while await watcher.updates(timeout=LIMIT_S) is not None:
                count += 1
            return count

        return int(self._do(all_of()))


class Zenoh(Store):
    """A router with a storage in memory, and sessions of clients."""

    name = "Zenoh"

    def __init__(self, folder: Path, stations: int) -> None:
        (port,) = free_ports(1)
        self._end = f"tcp/{rig.HOST}:{port}"
        config = {
            "mode": "router", "listen": {"endpoints": [self._end]}, "scouting": {"multicast": {"enabled": False}},
            "plugins_loading": {"enabled": True, "search_dirs": [str(Path(shutil.which("zenohd") or "").parent)]},
            "plugins": {"storage_manager": {"storages": {"b": {"key_expr": "entry/**", "volume": "memory"}}}},
        }  # fmt: skip
        (folder / "zenoh.json5").write_text(json.dumps(config), encoding="utf-8")
        super().__init__(stations, port, ["zenohd", "-c", str(folder / "zenoh.json5")])
        self._sessions = [self._open() for _ in range(stations + 1)]
        self._subscribers = [
            each.declare_subscriber("entry/**", lambda _: self.watchers.saw()) for each in self._sessions[1:]
        ]

    def _open(self) -> Any:
        import zenoh

        config = zenoh.Config()
        config.insert_json5("mode", '"client"')
        config.insert_json5("connect/endpoints", json.dumps([self._end]))
        config.insert_json5("scouting/multicast/enabled", "false")
        return zenoh.open(config)

    def put(self, key: int, value: bytes) -> None:
        """Handed over when this returns; nobody confirms it."""
        self._sessions[0].put(f"entry/{key}", value)

    def fetch(self) -> int:
        """How many entries a station that comes now is given."""
        with self._open() as session:
            return sum(1 for reply in session.get("entry/**", timeout=LIMIT_S) if reply.ok is not None)

    def close(self) -> None:
        """Sessions that are open hold the program."""
        for each in self._sessions:
            each.close()
        super().close()


def measured(stores: list[Nats | Zenoh], times: int, entries: int) -> dict[str, Any]:
    """Of each store: seconds until all stations had an entry, and until one that came later had all of them."""
    found: dict[str, Any] = {each.name: {"seen_s": [], "fetched_s": []} for each in stores}
    value = os.urandom(VALUE_BYTES)
    for key in range(max(times, entries)):
        for store in stores:
            store.watchers.expect()
            begin = time.monotonic()
            store.put(key, value)
            store.watchers.wait()
            if key < times:
                found[store.name]["seen_s"].append(time.monotonic() - begin)
    for _ in range(times // 10):
        for store in stores:
            begin = time.monotonic()
            if store.fetch() != max(times, entries):
                raise SystemExit(f"bench: {store.name} did not give all entries")
            found[store.name]["fetched_s"].append(time.monotonic() - begin)
    for store in stores:
        found[store.name]["server_mib"] = psutil.Process(store.server.pid).memory_info().rss / 2**20
        store.again()
        found[store.name]["kept_after_kill"] = _kept(store.fetch)
    return found


def _kept(fetch: Callable[[], int]) -> int:
    """What is there once the server is up again."""
    time.sleep(2.0)
    return fetch()


def main() -> int:
    """Measures both, and writes what came."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stations", type=int, default=5)
    parser.add_argument("--times", type=int, default=200, help="entries whose way is timed")
    parser.add_argument("--entries", type=int, default=1000, help="that a station which comes later has to fetch")
    parser.add_argument("--output", type=Path, default=rig.RESULTS, help="folder for stores.json")
    options = parser.parse_args()
    if missing := [name for name in ("nats-server", "zenohd") if shutil.which(name) is None]:
        print(f"bench: {' and '.join(missing)} must be on the path.", file=sys.stderr)
        return 3
    results: dict[str, Any] = {**rig.environment(), **{k: v for k, v in vars(options).items() if k != "output"}}
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="pqcmav-bench-")))
        stores = [kind(folder, options.stations) for kind in (Nats, Zenoh)]
        for store in stores:
            stack.callback(store.close)
        time.sleep(1.0)
        found = results["stores"] = measured(stores, options.times, options.entries)
        for name, each in found.items():
            for what, key in (("all stations had it", "seen_s"), ("a new station had all", "fetched_s")):
                low, high = median_interval(each[key])
                middle = statistics.median(each[key])
                span = f"{middle * 1e3:.1f} ({low * 1e3:.1f}-{high * 1e3:.1f}) ms"
                print(f"{name}: {what} after {span}, N = {len(each[key])}")
            print(
                f"{name}: {each['server_mib']:.0f} MiB, {each['kept_after_kill']} entries kept after kill -9",
                flush=True,
            )
        rig.keep(options.output / "stores.json", json.dumps(results, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
