# SPDX-License-Identifier: Apache-2.0
"""The engine's calls by the program alone, as in the Debian package: the same answers as the module's."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
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
    ("openssl_version", {}),
    ("config_schema", {"role": "gcs"}),
    ("per_drone_schema", {}),
    ("watched_counters", {}),
]
# A Python that has no module of the engine, whatever its version.
BARE = """
import sys
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
    print(error.code, len(tunnel.suites()), tunnel.forbid_core_dumps() == "", hasattr(tunnel, "Engine"))
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
    assert (ended.stdout, ended.stderr) == ("suite_unknown 72 True False\n", "")
    assert (tmp_path / "stick" / "psk.key").stat().st_mode & 0o777 == 0o600


def test_no_program_and_one_that_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(_program.TunnelError, match="The engine is not here"):
        _program.call("preflight", "{}")
    (tmp_path / "pqcmav-tunneld").write_text("#!/bin/sh\necho Usage\nexit 2\n")
    (tmp_path / "pqcmav-tunneld").chmod(0o755)
    with pytest.raises(_program.TunnelError, match="ended with 2 without an answer"):
        _program.call("preflight", "{}")
