# SPDX-License-Identifier: Apache-2.0
"""`pqcmav metrics` as its users run it: beside pqcmav-tunneld, checked by promtool, scraped by a real Prometheus."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from answers import samples
from commands import COMMAND, Running, pqcmav, refused

from pqc_mav_common import testing
from pqc_mav_common.free_ports import free_port
from pqc_mav_common.testing import until
from pqc_mav_common.testing_proxies import drone_parameters, gcs_parameters

HOST = "127.0.0.1"
GROUP = 47_131  # nobody's
ROOT = Path(__file__).resolve().parents[4]
DOCS, PACKAGING = ROOT / "docs", ROOT / "packaging" / "prometheus"
TUNNELD, PROMETHEUS, PROMTOOL = (shutil.which(name) for name in ("pqcmav-tunneld", "prometheus", "promtool"))
needs_tunneld = pytest.mark.skipif(TUNNELD is None, reason="pqcmav-tunneld is not on the path: run 'make setup' first")
needs_promtool = pytest.mark.skipif(PROMTOOL is None, reason="promtool is not here: 'apt-get install prometheus'")
needs_prometheus = pytest.mark.skipif(PROMETHEUS is None, reason="prometheus is not here: 'apt-get install prometheus'")


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="pqcmav-") as name:
        monkeypatch.setenv("PQCMAV_RUN_DIR", name)
        yield Path(name)


def tunneld(file: Path, values: dict[str, object]) -> testing.Running:
    file.write_text(json.dumps(values), encoding="utf-8")  # JSON is YAML
    return testing.Running([str(TUNNELD), str(file)])


class Pair:
    """A gcs of d1 and d2, and the drone d1."""

    def __init__(self, keys: Path, files: Path) -> None:
        gcs = gcs_parameters(keys, ("d1", "d2"))
        self.port = gcs["data_port"]
        self.gcs = tunneld(files / "gcs.yaml", gcs)
        self.gcs.wait_for("UDP port")
        self.drone = tunneld(files / "drone.yaml", drone_parameters(keys, self.port))
        self.drone.wait_for("handshake with")

    def kill(self) -> None:
        self.drone.kill()
        self.gcs.kill()


@pytest.fixture
def pair(keys: Path, folder: Path, tmp_path: Path) -> Iterator[Pair]:
    both = Pair(keys, tmp_path)
    yield both
    both.kill()


@pytest.fixture
def exporter() -> Iterator[str]:
    """Its address."""
    running = Running("metrics", "--listen", f"{HOST}:0")
    running.wait_for("/metrics")
    yield next(word for line in running.lines for word in line.split() if word.startswith("http")).rstrip(";")
    assert running.end(signal.SIGTERM) == 0, running.lines


def fetched(url: str) -> bytes:
    with urllib.request.urlopen(url, timeout=30) as answer:
        return bytes(answer.read())


@needs_tunneld
def test_both_ends_of_a_tunnel(pair: Pair, exporter: str) -> None:
    found = samples(fetched(exporter))
    assert found['pqcmav_up{engine="gcs"}'] == found['pqcmav_up{engine="drone-d1"}'] == 1
    ends = {"gcs": 'drone="d1",engine="gcs",role="gcs"', "drone": 'drone="d1",engine="drone-d1",role="drone"'}
    for labels in ends.values():
        assert found[f'pqcmav_state{{{labels},state="UP"}}'] == 1
        assert found[f"pqcmav_first_handshakes_total{{{labels}}}"] == 1
        assert 0 <= found[f"pqcmav_key_age_seconds{{{labels}}}"] < 7200
        assert found[f"pqcmav_key_old{{{labels}}}"] == 0
    assert found['pqcmav_state{drone="d2",engine="gcs",role="gcs",state="DOWN"}'] == 1
    assert found['pqcmav_handshake_duration_seconds_count{engine="gcs",kind="first",role="gcs"}'] == 1
    assert 0 < found['pqcmav_handshake_duration_seconds_sum{engine="gcs",kind="first",role="gcs"}'] < 60
    assert found['pqcmav_key_limit_seconds{engine="gcs",role="gcs"}'] > 0


@needs_tunneld
def test_what_a_stranger_sends_is_counted_by_its_reason(pair: Pair, exporter: str) -> None:
    """Every datagram at the port is in exactly one of the sums."""

    def port() -> dict[str, float]:
        found = samples(fetched(exporter))
        return {name: value for name, value in found.items() if 'engine="gcs"' in name and "_port_" in name}

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stranger:
        for _ in range(50):
            stranger.sendto(b"\xff" * 40, (HOST, pair.port))
    malformed = 'pqcmav_port_drops_total{engine="gcs",reason="malformed",role="gcs"}'
    until(lambda: port()[malformed] == 50, "the stranger's datagrams")

    def sums_up() -> bool:
        now = port()
        parts = ("delivered_packets", "control_packets", "drops", "handshake_datagrams")
        counted = sum(
            v for name, v in now.items() if name.startswith(tuple(f"pqcmav_port_{part}_total" for part in parts))
        )
        return counted == now['pqcmav_port_received_datagrams_total{engine="gcs",role="gcs"}']

    until(sums_up, "received = delivered + control + drops + handshakes")  # read while packets come


@needs_tunneld
@needs_promtool
def test_promtool_finds_nothing_to_say_about_the_page(pair: Pair, exporter: str) -> None:
    checked = subprocess.run(
        [str(PROMTOOL), "check", "metrics"], input=fetched(exporter), capture_output=True, timeout=60, check=False
    )
    assert (checked.returncode, checked.stdout + checked.stderr) == (0, b"")


def documented_queries() -> list[str]:
    """The examples of docs/monitoring.md."""
    text = (DOCS / "monitoring.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    (found,) = (block.splitlines() for block in blocks if "histogram_quantile" in block)
    assert len(found) >= 4
    return list(found)


@needs_tunneld
@needs_prometheus
@pytest.mark.slow
def test_prometheus_scrapes_it_and_misses_an_engine(pair: Pair, exporter: str, tmp_path: Path) -> None:
    """The shipped configuration with other addresses and shorter times."""
    target, listen = urllib.parse.urlsplit(exporter).netloc, f"{HOST}:{free_port()}"
    text = (PACKAGING / "prometheus.yml").read_text(encoding="utf-8")
    shutil.copy(PACKAGING / "pqcmav.rules.yml", tmp_path)
    (tmp_path / "prometheus.yml").write_text(
        text.replace("127.0.0.1:9464", target).replace(": 15s", ": 1s"), encoding="utf-8"
    )
    server = testing.Running([
        str(PROMETHEUS), f"--config.file={tmp_path / 'prometheus.yml'}", f"--storage.tsdb.path={tmp_path / 'data'}",
        f"--web.listen-address={listen}",
    ])  # fmt: skip

    def asked(path: str) -> Any:
        return json.loads(fetched(f"http://{listen}/api/v1/{path}"))["data"]

    def value(query: str) -> list[float]:
        found = asked("query?" + urllib.parse.urlencode({"query": query}))["result"]
        return [float(each["value"][1]) for each in found]

    try:
        server.wait_for("Server is ready")
        until(lambda: value('up{job="pqcmav"}') == [1], "a scrape")
        until(lambda: value('pqcmav_state{state="UP",drone="d1"}') == [1, 1], "both ends UP")
        until(lambda: value('rate(pqcmav_control_packets_total{engine="gcs",drone="d1"}[10s]) > 0'), "a rate")
        quantile = "histogram_quantile(0.5, pqcmav_handshake_duration_seconds_bucket{engine='gcs',kind='first'})"
        assert 0 < value(quantile)[0] < 60
        for query in documented_queries():
            value(query)  # an HTTP error where Prometheus does not understand it
        assert value("sum by (suite) (pqcmav_session_info)") == [2]
        pair.drone.process.send_signal(signal.SIGKILL)
        until(lambda: value('pqcmav_up{engine="drone-d1"}') == [0], "the drone's engine gone")
        assert value('{__name__=~"pqcmav_.+",__name__!~"pqcmav_(up|scrape_failures_total)",engine="drone-d1"}') == []
        assert value('pqcmav_up{engine="gcs"}') == [1]
        alerts = until(lambda: asked("alerts")["alerts"], "an alert")
        until(
            lambda: "PqcmavEngineGone" in {each["labels"]["alertname"] for each in asked("alerts")["alerts"]},
            f"PqcmavEngineGone among {alerts}",
        )
        assert {each["health"] for group in asked("rules")["groups"] for each in group["rules"]} == {"ok"}
    finally:
        server.kill()


@needs_tunneld
def test_the_dashboard_serves_the_same_page(pair: Pair) -> None:
    for name in ("starlette", "uvicorn", "websockets"):
        pytest.importorskip(name, reason=f"{name} is not installed: 'make setup' brings it")
    running = Running("dashboard", "--port", "0", "--no-ros")
    try:
        running.wait_for("http://")
        url = next(word for line in running.lines for word in line.split() if word.startswith("http://"))
        found = samples(fetched(f"{url}metrics"))
        assert found['pqcmav_up{engine="gcs"}'] == found['pqcmav_up{engine="drone-d1"}'] == 1
        stranger = urllib.request.Request(f"{url}metrics", headers={"Host": "evil.example"})
        with pytest.raises(urllib.error.HTTPError) as refused_to:
            urllib.request.urlopen(stranger, timeout=30)
        refused_to.value.close()
        assert refused_to.value.code in (400, 403, 421)
    finally:
        running.kill()


@needs_tunneld
def test_once(pair: Pair, folder: Path) -> None:
    ended = pqcmav("metrics", "--once")
    assert ended.returncode == 0, ended.stderr
    assert samples(ended.stdout.encode())['pqcmav_up{engine="gcs"}'] == 1
    ended = pqcmav("metrics", "--once", "--socket", str(folder / "gcs.sock"), "--socket", str(folder / "no.sock"))
    assert ended.returncode == 1 and samples(ended.stdout.encode())['pqcmav_up{engine="no"}'] == 0


@needs_tunneld
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become other users")
def test_a_user_of_its_own_in_the_group(pair: Pair, folder: Path) -> None:
    """As the shipped unit has it; without the group it says so, and shows nothing."""
    for path in (folder, *folder.iterdir()):
        os.chown(path, -1, GROUP)
    folder.chmod(0o750)

    def once(groups: list[int]) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*COMMAND, "metrics", "--once"], user=GROUP + 1, group=GROUP + 2, extra_groups=groups,
            capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip

    member, stranger = once([GROUP]), once([])
    assert (member.returncode, member.stderr) == (0, "")
    assert samples(member.stdout.encode())['pqcmav_up{engine="gcs"}'] == 1
    assert stranger.returncode == 1 and f"members of the group '{GROUP}'" in stranger.stderr
    assert "pqcmav_up{" not in stranger.stdout


def test_refusals() -> None:
    assert "such as 127.0.0.1:9464" in refused(2, "metrics", "--listen", "9464")
    assert "--allow-host" in refused(2, "metrics", "--listen", "0.0.0.0:0")
    with socket.create_server((HOST, 0)) as taken:
        said = refused(1, "metrics", "--listen", f"{HOST}:{taken.getsockname()[1]}")
    assert "Address already in use" in said


def test_it_needs_no_ros(folder: Path) -> None:
    code = "import sys; sys.modules['rclpy'] = None; from pqc_mav_cli.entry import run; run()"
    ended = subprocess.run(
        [sys.executable, "-c", code, "metrics", "--once"], capture_output=True, text=True, timeout=60, check=False
    )
    assert (ended.returncode, ended.stderr) == (1, ""), "no engine, and no error"
