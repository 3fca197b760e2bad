# SPDX-License-Identifier: Apache-2.0
"""Two ends whose libraries differ agree on what both have, and each names what the other lacks.

The other end is this build with OpenSSL alone and, where PQCMAV_OTHER_TUNNELD names one, another build's
pqcmav-tunneld, such as one with liboqs 0.16 beside one with 0.13.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pqc_mav_tunnel as tunnel
import pytest
from test_console import Client
from tunnel_support import LIGHT, drone_config, eventually, gcs_config, udp

HERE = shutil.which("pqcmav-tunneld") or ""
OTHER = os.environ.get("PQCMAV_OTHER_TUNNELD", "")
SIGNATURES = ("mldsa44", "mldsa65", "mldsa87", "falcon512", "falcon1024")
pytestmark = pytest.mark.skipif(not HERE, reason="pqcmav-tunneld is not on the path: run 'make setup' first")
two_builds = pytest.mark.skipif(not OTHER, reason="PQCMAV_OTHER_TUNNELD does not name another build's pqcmav-tunneld")


def algorithms_of(program: str, kind: str = "KEM") -> dict[str, str]:
    """The KEMs or signatures that a build has, by what they are called in suites and for people."""
    said = subprocess.run(
        [program, "--call", "preflight"], input="{}", capture_output=True, text=True, timeout=60, check=True
    )
    rows = json.loads(said.stdout)["result"]
    return {row["token"]: row["display"] for row in rows if row["kind"] == kind and row["available"]}


def suites_of_both(programs: tuple[str, str]) -> list[str]:
    """So many that each KEM and each signature that both builds have is in one."""
    kems, sigs = ([set(algorithms_of(program, kind)) for program in programs] for kind in ("KEM", "SIG"))
    wanted = set.intersection(*kems) | (set.intersection(*sigs) & set(SIGNATURES))
    suites, left = [], set(wanted)
    for suite in tunnel.suites(view="extended"):
        parts = {suite.kem_token, suite.sig_token}
        if parts <= wanted and parts & left:
            suites.append(suite.id)
            left -= parts
    assert not left
    return suites


class End:
    """A running pqcmav-tunneld, asked through its control socket."""

    def __init__(self, program: str, folder: Path, config: dict[str, Any]) -> None:
        self.name = "gcs" if config["role"] == "gcs" else "drone-uav1"
        file = folder / f"{self.name}.yaml"
        file.write_text(json.dumps(config))  # YAML has all of JSON
        self.process = subprocess.Popen([program, str(file)], stderr=subprocess.PIPE, text=True)
        self.socket = Path(os.environ["PQCMAV_RUN_DIR"], f"{self.name}.sock")
        assert eventually(self.socket.exists, 60), self.stop()

    def ask(self, command: str, **fields: Any) -> Any:
        client = Client(self.socket)
        try:
            return client.ask(command, **fields)
        finally:
            client.close()

    def link(self) -> dict[str, Any]:
        return self.ask("status")["result"]["tunnels"][0]

    def stop(self) -> str:
        """What it printed."""
        self.process.terminate()
        return self.process.communicate(timeout=60)[1]


@contextmanager
def two_ends(
    folder: Path, keys: Path, programs: tuple[str, str], suite: str, **gcs_more: Any
) -> Iterator[tuple[End, End]]:
    """Drone and gcs by these programs."""
    with udp() as free:
        port = free.getsockname()[1]
    gcs = End(programs[1], folder, gcs_config(keys, **{"data_port": port, **gcs_more}))
    try:
        drone = End(programs[0], folder, drone_config(keys, {"data": port}, suite=suite))
        try:
            yield drone, gcs
        finally:
            drone.stop()
    finally:
        gcs.stop()


def refusal(drone: End, gcs: End) -> tuple[str, str]:
    """What each end says of its last failure."""

    def both() -> bool:
        return all("does not have" in end.link()["last_error"] or "has no" in end.link()["last_error"] for end in ends)

    ends = (drone, gcs)
    assert eventually(both, 60), [end.link()["last_error"] for end in ends]
    return drone.link()["last_error"], gcs.link()["last_error"]


def expect_named(said: tuple[str, str], display: str) -> None:
    drone, gcs = said
    assert f"The ground station does not have {display}" in drone, drone
    assert f"this ground station has no {display} (" in gcs, gcs
    for text in said:
        assert "liboqs" in text and "'pqcmav suites'" in text, text


def test_a_gcs_with_openssl_alone_names_what_it_lacks(keys: Path, tmp_path: Path) -> None:
    nonstandard = [(token, name) for token, name in algorithms_of(HERE).items() if token.startswith(("hqc", "frodo"))]
    if not nonstandard:
        pytest.skip("no KEM here that OpenSSL lacks")
    token, display = next((token, name) for token, name in nonstandard if token in ("hqc1", "hqc128", "frodokem640aes"))
    with two_ends(tmp_path, keys, (HERE, HERE), f"cs-{token}-aesgcm-mldsa44", provider="openssl") as (drone, gcs):
        expect_named(refusal(drone, gcs), display)


@two_builds
@pytest.mark.parametrize("programs", [(HERE, OTHER), (OTHER, HERE)], ids=["the gcs is another", "the drone is another"])
def test_two_builds_agree_on_what_both_have(tmp_path: Path, programs: tuple[str, str]) -> None:
    keys = tmp_path / "keys"
    tunnel.init_keys(str(keys), ["uav1"], [sig for sig in SIGNATURES if sig in algorithms_of(HERE, "SIG")])
    with two_ends(tmp_path, keys, programs, LIGHT) as (drone, gcs):
        assert eventually(lambda: all(end.link()["state"] == "UP" for end in (drone, gcs)), 60), drone.link()
        for suite in suites_of_both(programs):
            assert drone.ask("rekey", suite=suite, timeout_s=60)["ok"], suite
            for end in (drone, gcs):
                assert eventually(lambda end=end, suite=suite: end.link()["suite"] == suite, 60), (suite, end.link())
        one, other = algorithms_of(programs[0]), algorithms_of(programs[1])
        for token in ("hqc1", "hqc128"):
            if token in one and token not in other:
                answer = drone.ask("rekey", suite=f"cs-{token}-aesgcm-mldsa44", timeout_s=60)
                assert one[token] in json.dumps(answer), answer
        assert drone.link()["state"] == "UP"


@two_builds
@pytest.mark.parametrize("programs", [(HERE, OTHER), (OTHER, HERE)], ids=["the gcs is another", "the drone is another"])
def test_two_builds_name_what_only_one_has(keys: Path, tmp_path: Path, programs: tuple[str, str]) -> None:
    one, other = algorithms_of(programs[0]), algorithms_of(programs[1])
    lacking = [token for token in ("hqc1", "hqc128") if token in one and token not in other]
    if not lacking:
        pytest.skip("the other build has HQC as this one")
    with two_ends(tmp_path, keys, programs, f"cs-{lacking[0]}-aesgcm-mldsa44") as (drone, gcs):
        expect_named(refusal(drone, gcs), one[lacking[0]])
