# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

import pytest

from pqc_mav_cli.doctor import software as doctor_software
from pqc_mav_cli.doctor.finding import Level


def entry(kind: str, name: str, by: str = "", edition: str = "lasting") -> dict[str, object]:
    reason = "" if by else "built without it"
    return {
        "kind": kind,
        "display": name,
        "by": by,
        "edition": edition,
        "available": bool(by),
        "reason": reason,
    }


ALGORITHMS = [
    entry("KEM", "ML-KEM-768", "OpenSSL 3.5.1"),
    entry("KEM", "Classic-McEliece-348864"),
    entry("KEM", "HQC-192", "liboqs 0.13.0", "superseded"),
    entry("KEM", "HQC-3", edition="later"),
    entry("SIG", "ML-DSA-65", "OpenSSL 3.5.1"),
]


def test_missing_algorithms_are_named_with_the_reason() -> None:
    found = doctor_software.algorithms(ALGORITHMS)
    warned = [finding for finding in found if finding.level is Level.WARN]
    assert len(warned) == 1 and "Classic-McEliece-348864 is missing: built without it" in warned[0].text
    assert not any(finding.level is Level.FAIL for finding in found)


def test_who_computes_what_is_said() -> None:
    told = doctor_software.algorithms(ALGORITHMS)[0].text
    assert told == "OpenSSL 3.5.1: ML-KEM-768; liboqs 0.13.0: HQC-192; not here: Classic-McEliece-348864, HQC-3"


def test_no_algorithm_of_a_kind_is_a_failure() -> None:
    found = doctor_software.algorithms([entry(str(each["kind"]), "X") for each in ALGORITHMS])
    assert sum(1 for finding in found if finding.level is Level.FAIL) == 2


@pytest.mark.parametrize(
    ("package", "where"),
    [
        ("ros-jazzy-rclpy", "wheels of Jazzy, rclpy 9.1.2 ("),
        ("ros-kilted-rclpy", "wheels of Kilted, rclpy 9.1.2 ("),
        ("", "distribution lyrical ("),
    ],
)
def test_where_ros_comes_from(package: str, where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("rclpy")

    def version(name: str) -> str:
        if name != package:
            raise doctor_software.metadata.PackageNotFoundError(name)
        return "9.1.2"

    monkeypatch.setattr(doctor_software.metadata, "version", version)
    assert doctor_software.ros({"ROS_DISTRO": "lyrical"}).text.startswith(where)


@pytest.mark.parametrize(
    ("environment", "level"),
    [
        ({"ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST"}, Level.OK),
        ({"ROS_AUTOMATIC_DISCOVERY_RANGE": "SUBNET"}, Level.WARN),
        ({"ROS_AUTOMATIC_DISCOVERY_RANGE": "localhost"}, Level.OK),  # to ROS no range: it assumes LOCALHOST
        ({}, Level.WARN),
    ],
)
def test_discovery(environment: dict[str, str], level: Level) -> None:
    assert doctor_software.discovery(environment).level is level


def test_keys(keys: Path, tmp_path: Path) -> None:
    (good,) = doctor_software.keys(keys)
    assert good.level is Level.OK
    (missing,) = doctor_software.keys(tmp_path / "none")
    assert missing.level is Level.WARN and "keys init" in missing.remedy


def test_keys_others_can_read(tmp_path: Path) -> None:
    import pqc_mav_tunnel

    pqc_mav_tunnel.init_keys(str(tmp_path / "k"), ["d"], sig_tokens=["mldsa65"])
    (tmp_path / "k" / "gcs" / "psk" / "d.key").chmod(0o640)
    found = doctor_software.keys(tmp_path / "k")
    assert [finding.level for finding in found] == [Level.FAIL]
    assert "d.key" in found[0].text


def test_a_package_that_is_not_there_is_a_failure() -> None:
    found = doctor_software.packages(["pqc_mav_cli", "no_such_package_here"])
    assert [finding.level for finding in found] == [Level.FAIL] and "no_such_package_here" in found[0].text


@pytest.mark.parametrize("there", [True, False])
def test_a_package_without_ros_asks_for_tunneld_in_its_place(
    there: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if there:
        (tmp_path / "pqcmav-tunneld").touch(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    found = {finding.name: finding for finding in doctor_software.checks(tmp_path, {doctor_software.WITHOUT_ROS: "1"})}
    assert found["ROS 2"].level is (Level.OK if there else Level.FAIL)
    assert "pqcmav-tunneld" in found["ROS 2"].text
    assert not {"ROS discovery", "packages", "launch", "mavros"} & set(found)


def test_the_ports_are_those_of_the_schema() -> None:
    import pqc_mav_tunnel

    schema = {entry["key"]: entry["default"] for entry in pqc_mav_tunnel.config_schema("drone")}
    numbers = [port for _, port, _ in doctor_software.wanted_ports()]
    assert numbers[:2] == [schema["data_port"], schema["local_data_port"]]
    assert schema["plain_bind"].endswith(f":{numbers[2]}")
