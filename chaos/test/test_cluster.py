# SPDX-License-Identifier: Apache-2.0
"""What of the cluster's laboratory needs no cluster: what is heard, certificates, the stations' folders."""

from __future__ import annotations

import shutil
import socket
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml
from cluster import fleet
from cluster.authority import Authority
from cluster.fleet import STATIONS, Stations
from cluster.hearing import Autopilots, Command, judged
from cluster.reach import Attempt
from cluster.result import page
from cluster.scenes import Outcome

from pqc_mav_common.waiting import wait_until


def commands(*said: tuple[float, str, int]) -> list[Command]:
    return [Command(at, station, "1", number) for at, station, number in said]


def test_the_longest_silence_reaches_from_the_beginning_to_the_end() -> None:
    heard = commands((1.0, "north", 1), (1.5, "north", 2), (1.6, "north", 3))
    assert judged(heard, 1.0, 1.7).silence_s == pytest.approx(0.5)
    assert judged(heard, 0.2, 1.7).silence_s == pytest.approx(0.8)
    assert judged(heard, 1.0, 3.0).silence_s == pytest.approx(1.4)
    assert judged([], 1.0, 3.0).silence_s == pytest.approx(2.0)


def test_what_lacks_between_two_commands_of_one_start_is_lost() -> None:
    heard = judged(commands((1.0, "north", 1), (1.1, "north", 4)), 0.5, 2.0)
    assert (heard.lost, heard.gaps) == (2, ("2 of north at 0.60 s",))
    # Another station between them: its turn is why they lack.
    turns = commands((1.0, "north", 1), (1.1, "south", 70), (1.2, "north", 9))
    assert judged(turns, 1.0, 2.0).lost == 0
    assert judged(turns, 1.0, 2.0).stations == ("north", "south", "north")
    new = [Command(1.0, "north", "1", 5), Command(1.1, "north", "2", 90)]
    assert judged(new, 1.0, 2.0).lost == 0


def test_a_command_that_comes_again_is_counted_even_after_another_station() -> None:
    again = commands((1.0, "north", 1), (1.1, "south", 1), (1.2, "north", 1), (1.3, "north", 2))
    assert judged(again, 1.0, 2.0).twice == 1


def test_the_page_names_what_is_not_as_it_should_be() -> None:
    good, slow = Outcome(0.05, 0, 0, {"back after, s": 4.0}), Outcome(0.15, 2, 1, {"back after, s": 6.0})
    about = dict.fromkeys(("version", "nodes", "drones", "rtt", "failback", "machine"), 1)
    assert page({"rolled": [good] * 6}, [], {}, about).endswith("Verdict: **ok**.\n")
    text = page(
        {"rolled": [good] * 5 + [slow]}, [Attempt("a thing", "kept out", "connected")], {"a way": "1.2.3.4"}, about
    )
    assert "0.050 (0.050-0.150)" in text and "0.1: 1 above" in text and "4.0 (6.0)" in text
    for words in ("1 of 6 took more than 0.1 s", "2 commands lost", "1 commands came twice", "a thing: connected"):
        assert words in text
    assert "a way: the gcs sees 1.2.3.4" in text
    # Nobody promises that a machine without power delivers what was said at that moment.
    assert "commands lost" not in page({"killed": [slow]}, [], {}, about)


def test_autopilots_hear_what_is_sent_and_ignore_the_rest() -> None:
    end = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    end.bind(("127.0.0.1", 0))
    autopilots = Autopilots({"drone1": end})
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as out:
            for words in (b"north 12 1", b"nonsense", b"north 12 x", b"\xff\xfe", b"south 13 7"):
                out.sendto(words, end.getsockname())
        assert wait_until(lambda: len(autopilots.commands("drone1")) == 2, 10.0)
        first, second = autopilots.commands("drone1")
        assert (first.station, first.start, first.number) == ("north", "12", 1)
        assert (second.station, second.number) == ("south", 7)
    finally:
        autopilots.close()


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed")
def test_certificates_are_those_of_the_authority(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    config = yaml.safe_load(
        authority.kubeconfig("node1", "system:node:node1", "system:nodes", "https://h:1").read_text()
    )
    ca = config["clusters"][0]["cluster"]["certificate-authority"]
    mine = config["users"][0]["user"]["client-certificate"]
    words = ["openssl", "verify", "-purpose", "sslclient", "-CAfile", ca, mine]
    assert subprocess.run(words, check=False, capture_output=True, timeout=60).returncode == 0
    (tmp_path / "other").mkdir()
    words[-2] = str(Authority(tmp_path / "other").path("ca"))
    assert subprocess.run(words, check=False, capture_output=True, timeout=60).returncode != 0
    assert all(path.stat().st_mode & 0o077 == 0 for path in tmp_path.glob("*.key"))


def test_a_station_is_a_copy_of_the_folder_that_we_ship(tmp_path: Path) -> None:
    told: list[tuple[str, ...]] = []

    def kubectl(*words: str, **_: Any) -> SimpleNamespace:
        told.append(words)
        return SimpleNamespace(stdout="{}", returncode=0)

    balancer: Any = SimpleNamespace(serve=lambda *_: "")
    control: Any = SimpleNamespace(kubectl=kubectl, apply=lambda *_: None)
    Stations(tmp_path, control, balancer, ["drone1", "drone2"])
    for name in STATIONS:
        folder = tmp_path / "k8s" / name
        config = yaml.safe_load((folder / "gcs.yaml").read_text(encoding="utf-8"))
        assert (config["gcs_id"], config["drones"]) == (name, ["drone1", "drone2"])
        assert yaml.safe_load((folder / "kustomization.yaml").read_text(encoding="utf-8"))["namespace"] == name
        assert ("apply", "-k", str(folder)) in told
    assert not list(tmp_path.rglob("keys.tar.gz")), "packed keys do not stay"
    assert {path.name for path in (tmp_path / "k8s" / "base").iterdir()} == {
        path.name for path in (fleet.MANIFESTS / "base").iterdir()
    }
