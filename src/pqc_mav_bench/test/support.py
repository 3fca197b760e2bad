# SPDX-License-Identifier: Apache-2.0
"""Both ends of a campaign as fakes that measure nothing and take no time: plausible figures, and faults on demand."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from pqc_mav_bench.aggregator import MetricsAggregator
from pqc_mav_bench.campaign import Campaign, Progress
from pqc_mav_bench.canonical import run_sha256
from pqc_mav_bench.clock import Exchange
from pqc_mav_bench.collectors.counters import COUNTERS, DEPTH, difference
from pqc_mav_bench.collectors.environment import FIELDS, VERSIONS
from pqc_mav_bench.errors import AgentLostError, AgentTakenError
from pqc_mav_bench.manifest import begun
from pqc_mav_bench.options import CampaignOptions, options_from
from pqc_mav_bench.rekey_result import RekeyResult
from pqc_mav_bench.schedule import Item, Schedule, ordered_runs
from pqc_mav_bench.schema import history
from pqc_mav_bench.schema.run import RunMetrics
from pqc_mav_bench.store import CampaignStore
from pqc_mav_bench.suite_session import SuiteSession

SUITES = ("cs-a", "cs-b", "cs-c")
OPTIONS = options_from({"suites": list(SUITES), "duration_s": 0.5, "machine_name": "test machine"})


def suite_info(suite: str) -> dict[str, Any]:
    return {
        "short_code": suite.upper(),
        "kem": "ML-KEM-768",
        "kem_family": "ML-KEM",
        "level": 3,
        "sig": "ML-DSA-65",
        "sig_family": "ML-DSA",
        "aead": "AES-256-GCM",
    }


def handshake(suite: str, **changes: Any) -> dict[str, Any]:
    """A drone's or ground's report, as the proxy gives it."""
    times = ("hello", "server_hello", "finish")
    primitives = ("kem_keygen", "kem_encaps", "kem_decaps", "sig_sign", "sig_verify", "x25519", "kdf")
    return {
        "drone_id": "d", "ok": True, "error": "", "reason": "", "suite": suite, "hybrid": True, "epoch": 3,
        "rekey": True, "kind": "rekey", "role": "drone", "peer": "127.0.0.1:1", "handshake_ms": 12.0,
        **{f"phase_{name}_ms": 2.0 for name in times}, **{f"{name}_ms": 0.25 for name in primitives},
        "keygen_pooled": False, "public_key_bytes": 1184, "ciphertext_bytes": 1088, "signature_bytes": 3309,
        "drone_signature_bytes": 0, "bytes_sent": 1500, "bytes_received": 4800, **changes,
    }  # fmt: skip


def counters(rx: int, tx: int, **changes: Any) -> dict[str, Any]:
    """A proxy's counters: `rx` packets from its application, `tx` to it."""
    values = dict.fromkeys(COUNTERS, 0) | {
        "plain_rx_packets": rx, "plain_rx_bytes": 40 * rx, "plain_tx_packets": tx, "plain_tx_bytes": 40 * tx,
        "enc_tx_packets": rx + 5, "enc_tx_bytes": 78 * (rx + 5),
        "enc_rx_packets": tx + 5, "enc_rx_bytes": 78 * (tx + 5), "delivered": tx, "control": 5,
    }  # fmt: skip
    nothing = dict.fromkeys(COUNTERS, 0) | {"seal_mean_ns": 0.0, "open_mean_ns": 0.0, DEPTH: [0] * 13}
    delta = difference(nothing, {**nothing, **values, DEPTH: changes.pop(DEPTH, [0] * 13), **changes})
    return {**delta, "seal_mean_ns": 900.0, "open_mean_ns": 1100.0, **changes}


DELAYS = {
    "count": 50, "mean_ms": 0.5, "p50_ms": 0.4, "p95_ms": 0.9, "p99_ms": 1.5, "max_ms": 2.0,
    "classes": {"0.4": 30, "1": 18, "2": 2},
}  # fmt: skip


def mavlink(sent: int, received: int, **changes: Any) -> dict[str, Any]:
    return {
        "kind": "mavlink", "simulated": True, "sent": sent, "sent_bytes": 40 * sent, "sent_s": 0.5,
        "sent_by_type": {"HEARTBEAT": 1, "ATTITUDE": sent - 1}, "send_failed": 0, "skipped": 0, "received": received,
        "received_bytes": 40 * received, "received_by_type": {"PING": received}, "heartbeats": 1, "sequence_gaps": 0,
        "duplicates": 0, "reordered": 0, "crc_errors": 0, "max_gap": 0, "longest_silence_ms": 11.0, "owd": DELAYS,
        "rtt": DELAYS, **changes,
    }  # fmt: skip


def side(suite: str, role: str, **changes: Any) -> dict[str, Any]:
    """One side's measurement: the drone sends 160 messages, the ground 150, and all of them arrive."""
    drone = role == "drone"
    values: dict[str, Any] = {
        "suite": suite,
        "epoch": 3,
        "keys": [[suite, 3]],
        "counters": counters(160, 150) if drone else counters(150, 160),
        "counted_s": 0.5,
        "handed_bytes_per_s": 40 * (150 if drone else 160) / 0.5,
        "handshakes": [handshake(suite, role=role)],
        "link": {"jitter_ms": 1.0, "gap_p95_ms": 4.0, "rtt_ms": 0.05, "rtt_min_ms": 0.03},
        "system": {
            "samples": 3, "interval_s": 0.5, "cpu_mean_percent": 30.0, "cpu_peak_percent": 35.0,
            "cpu_min_percent": 25.0, "cpu_std_percent": 5.0, "core_mean_percent": [20.0, 40.0],
            "tunnel_cpu_percent": 2.0, "bench_cpu_percent": 1.0, "workload_cpu_percent": 4.0, "memory_mean_mib": 900.0,
            "memory_peak_mib": 910.0, "load_1": 0.4,
        },
        "network": {
            "interface": "lo", "rx_bytes": 1, "tx_bytes": 1, "rx_packets": 1, "tx_packets": 1, "errors": 0, "drops": 0,
        },
        "workload": mavlink(160, 150) if drone else mavlink(150, 160),
        "wall_ns": 1_000_000_000_000,
        "monotonic_ns": 5_000_000_000,
    }  # fmt: skip
    return {**values, **changes}


def environment(clock: str = "same") -> dict[str, Any]:
    return dict.fromkeys((*FIELDS, *VERSIONS), "x") | {"cpu_count": 2, "ram_mib": 1000, "clock_id": clock}


POWER = {
    "power_source": "ina219", "measured": True, "duration_s": 0.5, "power_mean_w": 4.0, "power_peak_w": 5.0,
    "power_min_w": 3.0, "energy_j": 2.0, "voltage_v": 5.0, "current_a": 0.8, "samples": 500, "rate_hz": 1000.0,
    "duplicates": 0, "errors": 0,
}  # fmt: skip


class FakeGround:
    """`clock_ahead_ns`: its monotonic clock; `dies_at`: suite at whose end it is lost, `deaths` times; `taken`: how
    often it refuses a suite because of another controller."""

    def __init__(self) -> None:
        self.clock_ahead_ns = 0
        self.clock_id = "same"
        self.wall_ahead_ns = 0
        self.dies_at, self.deaths = "", 0
        self.taken = self.times_kept = 0
        self.gone = False
        self.comes_back = True
        self.calls: list[str] = []
        self.changes: dict[str, Any] = {}

    def ready(self) -> bool:
        self.gone = self.gone and not self.comes_back
        return not self.gone

    def _alive(self) -> None:
        if self.gone:
            raise AgentLostError("The agent is lost.")

    def info(self) -> dict[str, Any]:
        return environment(self.clock_id)

    def exchange(self) -> Exchange:
        self._alive()
        now = time.monotonic_ns()
        return Exchange(now, now + self.clock_ahead_ns + 10_000, now + self.clock_ahead_ns + 11_000, now + 21_000)

    def start_suite(self, suite: str, handshakes: int) -> int:
        self._alive()
        self.taken -= 1
        if self.taken >= 0:
            raise AgentTakenError("The agent refused: The agent works for another controller (one).")
        self.calls.append(f"start {suite}")
        return time.monotonic_ns() + self.clock_ahead_ns

    def kept(self) -> nullcontext[None]:
        self.times_kept += 1
        return nullcontext()

    def start_traffic(self, workload: Mapping[str, Any]) -> None:
        self._alive()

    def quiet(self) -> int:
        self._alive()
        return 150

    def stop_traffic(self, expected: int) -> None:
        self._alive()
        assert expected == 160

    def begin_stop(self, suite: str) -> Any:
        if suite == self.dies_at and self.deaths > 0:
            self.deaths -= 1
            self.gone = True
        return suite

    def end_stop(self, pending: Any) -> dict[str, Any]:
        self._alive()
        ahead = {"wall_ns": 1_000_000_000_000 + self.wall_ahead_ns, "monotonic_ns": 5_000_000_000 + self.clock_ahead_ns}
        return {**side(pending, "gcs"), **ahead, **self.changes}

    def abort(self, suite: str) -> None:
        self.calls.append(f"abort {suite}")

    def shutdown(self) -> None:
        self.calls.append("shutdown")


class FakeDrone:
    """`refuses`: suites whose change fails, with what the proxy says."""

    def __init__(self) -> None:
        self.refuses: dict[str, str] = {}
        self.reports: list[dict[str, Any]] = []
        self.changes: dict[str, Any] = {}
        self.power_figures: dict[str, Any] = dict(POWER)
        self.up = True
        self.aborted = 0
        self.load = ""
        self._suite = ""

    def info(self) -> dict[str, Any]:
        return environment()

    def wait_up(self, limit_s: float) -> bool:
        return self.up

    def begin(self, suite: str, handshakes: int) -> None:
        self._suite = suite

    def plain_address(self) -> str:
        return "127.0.0.1:14590"

    def start_traffic(self, spec: Any) -> None:
        return

    def rekey(self, suite: str) -> RekeyResult:
        if suite in self.refuses:
            return RekeyResult(False, 0.0, self.refuses[suite])
        return RekeyResult(True, 13.0, "done")

    def begin_window(self) -> None:
        return

    def quiet(self) -> None:
        return

    def stop_traffic(self, expected: int) -> int:
        assert expected == 150
        return 160

    def finish(self) -> dict[str, Any]:
        return {**side(self._suite, "drone"), **self.changes}

    def abort(self) -> None:
        self.aborted += 1

    def handshakes(self) -> list[dict[str, Any]]:
        return self.reports

    def power(self) -> dict[str, Any]:
        return self.power_figures

    def set_load(self, scenario: str, *, emulate: bool) -> str:
        self.load = scenario
        return "none" if scenario == "baseline" else "emulated" if emulate else "detector"


class NoWait(threading.Event):
    """A stop that is never asked for and whose waits take no time."""

    def wait(self, timeout: float | None = None) -> bool:
        return self.is_set()


class Bench:
    """A campaign with fakes, in a folder."""

    def __init__(
        self, root: Path, name: str = "c", options: CampaignOptions = OPTIONS, suites: tuple[str, ...] = SUITES
    ) -> None:
        self.drone, self.ground, self.stop = FakeDrone(), FakeGround(), NoWait()
        self.options, self.log, self.progress = options, list[str](), list[Progress]()
        folder = root / name
        if folder.is_dir():
            self.store = CampaignStore.open(folder)
            self.schedule, self.lost = self.store.load_schedule()
        else:
            self.store = CampaignStore.create(root, name)
            items = ordered_runs(
                options.scenarios, suites, options.repetitions, randomise=options.randomise, seed=options.seed
            )
            self.schedule, self.lost = Schedule(items, options.attempts), []
            self.store.save_manifest(begun(name, options, suites, {}))
            self.store.save_state(self.schedule)
        self.session = SuiteSession(self.drone, self.ground, options, name, suite_info, self.stop)

    def run(self) -> bool:
        campaign = Campaign(
            self.store,
            self.options,
            self.schedule,
            self.session,
            self.ground,
            self.progress.append,
            self.log.append,
            self.stop,
        )
        return campaign.run()


def good_run(suite: str = "cs-a", prepare: Callable[[FakeDrone, FakeGround], None] | None = None) -> RunMetrics:
    """A run of the fakes, finalized and judged."""
    return measured(suite, prepare)[0]


def measured(
    suite: str = "cs-a",
    prepare: Callable[[FakeDrone, FakeGround], None] | None = None,
    options: CampaignOptions = OPTIONS,
    scenario: str = "baseline",
) -> tuple[RunMetrics, MetricsAggregator]:
    drone, ground = FakeDrone(), FakeGround()
    if prepare is not None:
        prepare(drone, ground)
    session = SuiteSession(drone, ground, options, "c", suite_info, NoWait())
    session.prepare()
    return session.measure(Item(scenario, suite, 1), 0, 1, lambda _phase: None)


def recorded_before(document: dict, version: str = history.WITHOUT_NAME) -> dict:
    """A document of today as a schema version before would have written and signed it."""
    out = json.loads(json.dumps(document)) | {"schema_version": version}
    for path in history.lacked(version):
        category, _, name = path.partition(".")
        out[category].pop(name, None)
        out["metric_status"].pop(path, None)
    if version == history.WITHOUT_NAME and out[history.CATEGORY]["scenario_load"] == "detector":
        out[history.CATEGORY][history.NAME] = 0.0
    out["integrity"]["sha256"] = run_sha256(out)
    return out


def flight_recording(path: Path) -> Path:
    """A flight recording of two messages."""
    from pqc_mav_interfaces.msg import PowerSample, TunnelStats
    from rclpy.serialization import serialize_message

    from pqc_mav_recorder.file import RecordingFile
    from pqc_mav_recorder.schema import installed_topic

    file = RecordingFile(path, {})
    for topic, message, at_ns in (
        ("/drone/power", PowerSample(power_mean_w=4.5, source="ina219", valid=True), 1000),
        ("/drone/pqc_proxy/stats", TunnelStats(delivered=7, shape_sent=[1, 2, 3, 4, 5]), 2000),
    ):
        info = installed_topic(topic, f"pqc_mav_interfaces/msg/{type(message).__name__}")
        file.write(info, serialize_message(message), at_ns, at_ns)
    written = Path(file.finish())
    file.close()
    return written
