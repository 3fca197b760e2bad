# SPDX-License-Identifier: Apache-2.0
"""A station does what it is told: keys, file and engine agree afterwards, and nobody else notices."""

from __future__ import annotations

import shutil
from dataclasses import replace
from errno import ENOSPC
from pathlib import Path
from typing import Any

import pqc_mav_tunnel
import pytest
import yaml
from stations import Stations

from pqc_mav_cli import key_changes
from pqc_mav_cli.errors import CliError
from pqc_mav_cli.fleet.entry import Order
from pqc_mav_cli.fleet.hands import Hands
from pqc_mav_common.testing import until


def made(stations: Stations, *drones: str) -> None:
    pqc_mav_tunnel.init_keys(
        str(stations.root), list(drones), sig_tokens=["mldsa44"], gcs_id="north", stations=["north", "south"]
    )


def order(stations: Stations, drone: str, revision: int = 1, **settings: Any) -> Order:
    psk = (stations.root / "stations" / "north" / "psk" / f"{drone}.key").read_text()
    return Order(f"drone.{drone}", revision, settings, {"psk.key": psk})


def gone(drone: str) -> Order:
    return Order(f"drone.{drone}", 9)


def hands(stations: Stations) -> Hands:
    return Hands(stations.keys("north"), str(stations.socket("north")))


def test_drones_come_and_go_while_another_one_flies(stations: Stations) -> None:
    flying = stations.fly("d1", "north")
    made(stations, "d2", "d3")
    said = hands(stations).do([order(stations, "d2"), order(stations, "d3", plain_peer="127.0.0.1:3")])
    assert said == ["there", "there"]
    assert stations.drones_of("north") == ["d1", "d2", "d3"]
    text = stations.file("north").read_text()
    assert text.startswith("# ours\n")
    assert yaml.safe_load(text)["drone"] == {"d1": {"plain_peer": "127.0.0.1:1"}, "d3": {"plain_peer": "127.0.0.1:3"}}
    newcomer = stations.fly("d2", "north")
    assert hands(stations).do([gone("d2"), gone("d3"), gone("never-there")]) == ["removed"] * 3
    until(lambda: newcomer.status()[0]["state"] != "UP", "the session of d2 has ended")
    assert stations.drones_of("north") == ["d1"]
    assert not (stations.keys("north") / "psk" / "d2.key").exists()
    assert yaml.safe_load(stations.file("north").read_text())["drones"] == ["d1"]
    assert flying.status()[0]["epoch"] == 0 and flying.status()[0]["state"] == "UP"
    stations.stop("north")
    stations.start("north")
    assert stations.drones_of("north") == ["d1"]


def test_a_new_key_ends_the_session_that_the_old_one_made(stations: Stations, tmp_path: Path) -> None:
    shutil.copytree(stations.root / "drones" / "d1", tmp_path / "old")
    thief = stations.fly("d1", "north", tmp_path / "old")
    other = hands(stations)
    assert other.do([order(stations, "d1", plain_peer="127.0.0.1:1")]) == ["there"]
    assert thief.status()[0]["state"] == "UP"  # the same key and settings again change nothing
    key_changes.rotate_drone(stations.root, "d1", "north")
    assert other.do([order(stations, "d1", 2, plain_peer="127.0.0.1:1")]) == ["there"]
    until(lambda: thief.status()[0]["state"] != "UP", "whoever has the old key is out")
    stations.fly("d1", "north")


def test_a_new_key_that_was_only_written_ends_the_session_too(stations: Stations, tmp_path: Path) -> None:
    """As where a process was killed between the two: nothing differs any more, and the old session goes on."""
    shutil.copytree(stations.root / "drones" / "d1", tmp_path / "old")
    thief = stations.fly("d1", "north", tmp_path / "old")
    key_changes.rotate_drone(stations.root, "d1", "north")
    new = order(stations, "d1", 2, plain_peer="127.0.0.1:1")
    (stations.keys("north") / "psk" / "d1.key").write_text(new.files["psk.key"])
    stations.ask("north", "reload")
    assert hands(stations).do([new]) == ["there"]
    assert thief.status()[0]["state"] == "UP"
    assert hands(stations).do([replace(new, begun=True)]) == ["there"]
    until(lambda: thief.status()[0]["state"] != "UP", "whoever has the old key is out")


def test_other_settings_count_at_once(stations: Stations) -> None:
    assert hands(stations).do([order(stations, "d1", plain_bind="127.0.0.1:0")]) == ["there"]
    assert yaml.safe_load(stations.file("north").read_text())["drone"] == {"d1": {"plain_bind": "127.0.0.1:0"}}


def test_one_that_is_refused_costs_the_others_nothing(stations: Stations) -> None:
    made(stations, "d2", "d3", "d4")
    wrong = Order("drone.d3", 1, {}, {"psk.key": order(stations, "d2").files["psk.key"]})
    orders = [order(stations, "d2"), wrong, order(stations, "d4", plain_bind="nonsense"), Order("drone.d5", 1, {})]
    there, another, bad, without = hands(stations).do(orders)
    assert there == "there"
    assert another.startswith("refused: ") and "d2" in another
    assert bad.startswith("refused: ") and "nonsense" in bad
    assert without == "refused: there is no PSK among its keys"
    assert stations.drones_of("north") == ["d1", "d2"]
    assert yaml.safe_load(stations.file("north").read_text())["drones"] == ["d1", "d2"]


def test_the_only_drone_is_shut_out_though_a_station_has_to_name_one(stations: Stations) -> None:
    flying = stations.fly("d1", "north")
    before = stations.file("north").stat().st_mtime_ns
    (said,) = hands(stations).do([gone("d1")])
    assert said.startswith("refused, but its key is worth nothing any more: ")
    assert stations.file("north").stat().st_mtime_ns == before, "no start is possible with what would stand there"
    until(lambda: flying.status()[0]["state"] != "UP", "the session of d1 has ended")
    stations.stop("north")
    stations.start("north")
    made(stations, "d2")
    assert hands(stations).do([order(stations, "d2"), gone("d1")]) == ["there", "removed"]
    assert stations.drones_of("north") == ["d2"]


def test_drones_of_the_command_line_are_refused_or_shut_out(stations: Stations) -> None:
    made(stations, "d2", "d7")
    assert hands(stations).do([order(stations, "d7")]) == ["there"]
    stations.stop("north")
    stations.start("north", "--set", "drones=[d1, d7]")
    flying = stations.fly("d7", "north")
    there, coming, going = hands(stations).do([order(stations, "d1"), order(stations, "d2"), gone("d7")])
    assert there == "there"
    assert coming.startswith("refused: The ground station does not take its drones from ")
    assert going.startswith("refused, but its key is worth nothing any more: ")
    until(lambda: flying.status()[0]["state"] != "UP", "the session of d7 has ended")
    assert "d2" not in stations.file("north").read_text()
    stations.stop("north")
    stations.start("north", "--set", "drones=[d1, d7]")


def test_keys_for_a_folder_that_the_ground_station_does_not_read_are_refused(stations: Stations) -> None:
    made(stations, "d7")
    assert hands(stations).do([order(stations, "d7")]) == ["there"]
    key_changes.rotate_drone(stations.root, "d1", "north")
    other = Hands(stations.keys("south"), str(stations.socket("north")))
    refused, out = other.do([order(stations, "d1", 2), gone("d7")])
    where = f"reads its keys from {stations.keys('north')}, not from {stations.keys('south')}"
    assert refused.startswith("refused: ") and where in refused
    assert out.startswith("refused, but it is out until the ground station starts again: ") and where in out
    assert stations.drones_of("north") == ["d1"]
    (said,) = other.do([gone("d1")])
    assert said.startswith("refused: ") and where in said
    (said,) = Hands(stations.folder / "nowhere", str(stations.socket("north"))).do([order(stations, "d1", 2)])
    assert said.startswith("refused: The ground station reads its keys from ")


def test_one_that_cannot_be_written_costs_the_others_nothing(stations: Stations) -> None:
    made(stations, "d2", "d7", "d8")
    assert hands(stations).do([order(stations, "d2")]) == ["there"]
    keys = stations.keys("north") / "psk"
    (keys / "d7.key").mkdir()
    (keys / "d8.key").write_bytes(b"\xff")
    refused, *others = hands(stations).do([order(stations, "d7"), order(stations, "d8"), gone("d2")])
    assert refused.startswith("refused: The keys of d7 cannot be replaced: ")
    assert others == ["there", "removed"] and stations.drones_of("north") == ["d1", "d8"]


def test_a_full_disk_keeps_nobody_in(stations: Stations, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise OSError(ENOSPC, "No space left on device")

    made(stations, "d7")
    assert hands(stations).do([order(stations, "d7")]) == ["there"]
    flying = stations.fly("d7", "north")
    with monkeypatch.context() as patch:
        patch.setattr("pqc_mav_cli.drones_file.atomic_write", full)
        patch.setattr("pqc_mav_cli.fleet.hands.write_key", full)
        (said,) = hands(stations).do([gone("d7")])
    assert said.startswith("refused, but it is out until the ground station starts again: ")
    assert said.endswith("The key of d7 cannot be replaced: No space left on device.")
    until(lambda: flying.status()[0]["state"] != "UP", "the session of d7 has ended")
    assert hands(stations).do([gone("d7")]) == ["removed"]


def test_a_drone_goes_though_the_key_of_another_one_is_bad(stations: Stations) -> None:
    made(stations, "d2", "d3")
    assert hands(stations).do([order(stations, "d2"), order(stations, "d3")]) == ["there"] * 2
    flying = stations.fly("d1", "north")
    (stations.keys("north") / "psk" / "d2.key").write_text("damaged")
    assert hands(stations).do([gone("d1")]) == ["removed"]
    until(lambda: flying.status()[0]["state"] != "UP", "the session of d1 has ended")


def test_a_folder_that_cannot_be_written_keeps_nobody_in(stations: Stations, monkeypatch: pytest.MonkeyPatch) -> None:
    def unwritable(*_: Any, **__: Any) -> None:
        raise CliError("gcs.yaml cannot be written by this user.")

    made(stations, "d2", "d7")
    assert hands(stations).do([order(stations, "d7")]) == ["there"]
    flying = stations.fly("d7", "north")
    monkeypatch.setattr("pqc_mav_cli.drones_file.check_writable", unwritable)
    monkeypatch.setattr("pqc_mav_cli.drones_file.save", unwritable)
    coming, going = hands(stations).do([order(stations, "d2"), gone("d7")])
    until(lambda: flying.status()[0]["state"] != "UP", "the session of d7 has ended")
    assert coming == "refused: gcs.yaml cannot be written by this user."
    assert going == "refused, but its key is worth nothing any more: gcs.yaml cannot be written by this user."


def test_a_relative_folder_of_keys_is_the_one_that_the_ground_station_reads(stations: Stations) -> None:
    stations.stop("north")
    text = stations.file("north").read_text()
    stations.file("north").write_text(text.replace(str(stations.keys("north")), "north-keys"))
    stations.start("north", folder=stations.folder)
    assert hands(stations).do([order(stations, "d1")]) == ["there"]
    (said,) = Hands(stations.keys("south"), str(stations.socket("north"))).do([order(stations, "d1")])
    assert f"reads its keys from {stations.keys('north')}" in said


def test_families_are_avoided_and_it_lasts(stations: Stations) -> None:
    (renew,) = hands(stations).do([Order("avoid", 1, families=("Falcon",))])
    assert yaml.safe_load(stations.file("north").read_text())["avoid"] == ["Falcon"]
    assert not isinstance(renew, str) and renew().startswith("avoided: Falcon; saved in ")
    (said,) = hands(stations).do([Order("avoid", 2, families=("Enigma",))])
    assert isinstance(said, str) and said.startswith("refused: ") and "Enigma" in said


def test_a_drone_that_cannot_leave_is_a_refusal(stations: Stations) -> None:
    stations.fly("d1", "north")  # the station has a key for ML-DSA alone
    (renew,) = hands(stations).do([Order("avoid", 1, families=("ML-DSA",))])
    said = "" if isinstance(renew, str) else renew()
    assert said.startswith("refused in part: Still with keys of an avoided family: d1."), said
    assert "avoided: ML-DSA; saved in " in said


def test_without_a_ground_station_it_waits(stations: Stations) -> None:
    stations.stop("north")
    before = stations.file("north").read_text()
    with pytest.raises(CliError):
        hands(stations).do([gone("d1")])
    assert stations.file("north").read_text() == before


def test_while_the_tunnel_is_paused_it_waits(stations: Stations) -> None:
    before = stations.file("north").read_text()
    stations.ask("north", "pause")
    key_changes.rotate_drone(stations.root, "d1", "north")
    new, own = order(stations, "d1", 2, plain_bind="127.0.0.1:0"), hands(stations)
    for one in (new, Order("avoid", 1, families=("Falcon",))):
        with pytest.raises(CliError, match="is paused"):
            own.do([one])
        assert stations.file("north").read_text() == before
    stations.ask("north", "resume")
    there, renew = own.do([new, Order("avoid", 1, families=("Falcon",))])
    assert there == "there" and not isinstance(renew, str) and renew().startswith("avoided: Falcon; saved in ")
    stations.fly("d1", "north")
