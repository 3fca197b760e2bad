# SPDX-License-Identifier: Apache-2.0
"""The engine's calls by the program alone, as in the Debian package: the same answers as the module's."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pqc_mav_tunnel as tunnel
import pytest
from pqc_mav_tunnel import _engine, _program

PROGRAM = shutil.which("pqcmav-tunneld")
pytestmark = pytest.mark.skipif(PROGRAM is None, reason="pqcmav-tunneld is not on the path: run 'make setup' first")

CALLS: list[tuple[str, dict[str, object]]] = [
    ("suites", {"view": "extended", "only_available": False}),
    ("find_suite", {"name": "ML-768-AG-MD-65"}),
    ("closest_suites", {"text": "rsa", "count": 2}),
    ("preflight", {}),
    ("engine_version", {}),
    ("liboqs_version", {}),
    ("providers", {}),
    ("openssl_version", {}),
    ("config_schema", {"role": "gcs"}),
    ("per_drone_schema", {}),
    ("per_path_schema", {}),
    ("host_info", {}),
]
# A Python that has no module of the engine, whatever its version.
BARE = """
import os, resource, sys
class LeftOut:
    def find_spec(self, name, path=None, target=None):
        if name == "pqc_mav_tunnel._engine":
            raise ModuleNotFoundError(name, name=name)
sys.meta_path.insert(0, LeftOut())
import pqc_mav_tunnel as tunnel
tunnel.init_keys(sys.argv[1], ["uav1"], ["mldsa44"])
assert not any(key["problem"] for key in tunnel.list_keys(sys.argv[1]))
tunnel.export_drone(sys.argv[1], "uav1", sys.argv[1] + "/stick")
try:
    tunnel.find_suite("rsa")
except tunnel.TunnelError as error:
    print(error.code, len(tunnel.suites()), tunnel.Engine.__module__)
print(tunnel.forbid_core_dumps() or resource.getrlimit(resource.RLIMIT_CORE))
"""


@pytest.mark.parametrize(("name", "arguments"), CALLS, ids=lambda value: value if isinstance(value, str) else "")
def test_the_program_answers_as_the_module(name: str, arguments: dict[str, object]) -> None:
    given = json.dumps(arguments)
    assert json.loads(_program.call(name, given)) == json.loads(_engine.call(name, given))


@pytest.mark.parametrize(
    ("name", "arguments", "code"),
    [
        ("find_suite", '{"name": "rsa"}', "suite_unknown"),
        ("list_keys", '{"folder": "/nowhere"}', "key_missing"),
        ("find_suite", "[]", "config_invalid"),
        ("reload", "{}", "config_invalid"),
        ("find_suite", json.dumps({"name": "r" * 70_000}), "config_invalid"),
    ],
)
def test_refusals(name: str, arguments: str, code: str) -> None:
    with pytest.raises(_program.TunnelError) as refused:
        _program.call(name, arguments)
    assert refused.value.code == code
    assert str(refused.value).endswith(".")


def test_without_the_module_all_but_tunnels_works(tmp_path: Path) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", BARE, str(tmp_path)], capture_output=True, text=True, timeout=120, check=False
    )
    assert (ended.stdout, ended.stderr) == ("suite_unknown 72 pqc_mav_tunnel._program\n(0, 0)\n", "")
    assert (tmp_path / "stick" / "psk.key").stat().st_mode & 0o777 == 0o600


def test_no_program_and_one_that_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(_program.TunnelError, match="The engine is not here"):
        _program.call("preflight", "{}")
    (tmp_path / "pqcmav-tunneld").write_text("#!/bin/sh\necho Usage\nexit 2\n")
    (tmp_path / "pqcmav-tunneld").chmod(0o755)
    with pytest.raises(_program.TunnelError, match="ended with 2 without an answer"):
        _program.call("preflight", "{}")


def ends(folder: Path) -> tuple[dict[str, object], dict[str, object]]:
    """Configurations of two ends on loopback that find each other once the gcs has told its port."""
    tunnel.init_keys(str(folder), ["uav1"], ["mldsa65"])
    common: dict[str, object] = {"bind": "127.0.0.1", "log_level": "error", "control_socket": "off"}
    gcs = {**common, "role": "gcs", "keys": str(folder / "gcs"), "drones": ["uav1"], "data_port": 0}
    gcs["drone.uav1.plain_bind"] = "127.0.0.1:0"
    drone = {**common, "role": "drone", "keys": str(folder / "drones" / "uav1"), "drone_id": "uav1"}
    return gcs, {**drone, "peer": "127.0.0.1", "local_data_port": 0, "plain_bind": "127.0.0.1:0"}


def test_two_ends_find_each_other(tmp_path: Path) -> None:
    gcs_config, drone_config = ends(tmp_path)
    gcs = _program.Engine(gcs_config)
    gcs.start()
    drone = _program.Engine({**drone_config, "data_port": gcs.ports()["data"]})
    try:
        drone.start()
        until_s = time.monotonic() + 60
        while drone.status()[0]["state"] != "UP":
            assert time.monotonic() < until_s, drone.status()
            time.sleep(0.05)
        assert gcs.status()[0]["drone_id"] == "uav1"
        assert drone.stats()[0]["drone_id"] == "uav1" and gcs.totals()["hs_tag"] == 0
    finally:
        for end in (drone, gcs, gcs):
            end.stop()
    with pytest.raises(_program.TunnelError, match="did not answer"):
        gcs.status()


def test_an_end_that_cannot_start_says_why(tmp_path: Path) -> None:
    gcs, drone = ends(tmp_path)
    for config, code, word in (
        ({**gcs, "keys": "/nowhere"}, "config_invalid", "/nowhere"),
        ({**gcs, "bnid": ""}, "config_invalid", "bnid"),
        ({**drone, "bind": "192.0.2.77"}, "io", "192.0.2.77"),
    ):
        end = _program.Engine(config)
        with pytest.raises(_program.TunnelError, match=word) as refused:
            end.start()
        assert refused.value.code == code


def test_an_end_goes_with_the_process_that_started_it(tmp_path: Path) -> None:
    code = """
import json, os, sys
from pqc_mav_tunnel import _program
end = _program.Engine(json.loads(sys.argv[1]))
end.start()
print(end._process.pid, flush=True)
os.kill(os.getpid(), 9)
"""
    words = [sys.executable, "-c", code, json.dumps(ends(tmp_path)[0])]
    pid = int(subprocess.run(words, capture_output=True, text=True, timeout=60, check=False).stdout)
    until_s = time.monotonic() + 30
    while Path(f"/proc/{pid}").exists() and "Z" not in Path(f"/proc/{pid}/stat").read_text().split()[2]:
        assert time.monotonic() < until_s
        time.sleep(0.05)
