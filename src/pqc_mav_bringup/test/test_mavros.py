# SPDX-License-Identifier: Apache-2.0
"""mavros as the systems describe it; its URLs are test_mavros_url.py's, how it fits the proxies test_systems.py's."""

import dataclasses
from pathlib import Path

import pytest
import yaml
from programs import install

from pqc_mav_bringup import configuration, geoid
from pqc_mav_bringup.description import BringupError, Process, SystemDescription, resolve
from pqc_mav_bringup.mavros import check_data
from pqc_mav_bringup.prepare import prepare
from pqc_mav_bringup.share import config_file
from pqc_mav_bringup.systems import DRONE, GCS

BOTH = pytest.mark.parametrize("system", [DRONE, GCS], ids=["drone", "gcs"])


def mavros(system: SystemDescription, **given: str) -> Process:
    return resolve(system, {"mavlink": "mavros", **given})[-1]


@BOTH
def test_a_vehicle_of_another_id_in_another_namespace(system: SystemDescription) -> None:
    made = mavros(system, tgt_system="7", tgt_component="2", mavros_namespace="d7/fcu")
    assert made.namespace == "/d7/fcu" and made.label == "d7/fcu/mavros"
    assert (made.parameters["tgt_system"], made.parameters["tgt_component"]) == (7, 2)
    assert made.remaps == {
        "/uas7/mavlink_source": "/d7/fcu/uas7/mavlink_source",
        "/uas7/mavlink_sink": "/d7/fcu/uas7/mavlink_sink",
    }


def test_sensing_reads_the_mavros_that_is_started() -> None:
    def sensing(**given: str) -> dict[str, object]:
        return dict(resolve(DRONE, {**given, "tunnel": "inside"})[1].parameters)

    assert sensing(mavlink="mavros", mavros_namespace="d7/fcu")["mavros_namespace"] == "/d7/fcu"
    assert sensing(mavlink="mavros")["mavros_namespace"] == "/mavros"
    assert "mavros_namespace" not in sensing()


@BOTH
def test_it_loads_what_the_suite_needs_and_what_the_user_adds(system: SystemDescription, tmp_path: Path) -> None:
    shipped = str(config_file("mavros_plugins.yaml"))
    assert mavros(system).files == (shipped,)
    assert mavros(system, config_yaml="/c.yaml").files == (shipped, "/c.yaml")
    assert mavros(system, pluginlists_yaml="/p.yaml").files == ("/p.yaml",)
    assert mavros(system, pluginlists_yaml="").files == ()
    configuration.check(mavros(system))
    with pytest.raises(BringupError, match=r"no configuration file '/c\.yaml'"):
        configuration.check(mavros(system, config_yaml="/c.yaml"))


def test_the_shipped_list_is_one_for_every_node_of_mavros() -> None:
    listed = yaml.safe_load(config_file("mavros_plugins.yaml").read_text())["/**"]["ros__parameters"]
    assert set(listed) == {"plugin_allowlist"}, "mavros then leaves out all others"
    assert {"sys_status", "global_position", "local_position", "command"} <= set(listed["plugin_allowlist"])


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"tgt_system": "0"}, "'tgt_system' is '0'; it must be a MAVLink id"),
        ({"tgt_system": "256"}, "'tgt_system' is '256'"),
        ({"tgt_component": ""}, "'tgt_component' is ''"),
        ({"mavros_system_id": "x"}, "'mavros_system_id' is 'x'"),
        ({"mavros_namespace": "/mavros"}, "without a slash in front"),
        ({"mavros_namespace": "a b"}, "must be a ROS namespace"),
        ({"mavros_namespace": ""}, "must be a ROS namespace"),
    ],
)
def test_what_mavros_could_not_be_started_with(given: dict[str, str], said: str) -> None:
    with pytest.raises(BringupError, match=said):
        mavros(DRONE, **given)


def test_a_mavros_that_must_abort_is_not_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With ros2 launch the same check stands behind the same search for the program."""
    install(tmp_path, "mavros", "mavros_node")
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path))
    monkeypatch.setenv("GEOGRAPHICLIB_GEOID_PATH", str(tmp_path))
    node = mavros(DRONE, pluginlists_yaml="")
    with pytest.raises(BringupError, match=f"^mavros aborts without {geoid.NAME}.*{geoid.INSTALL}"):
        prepare([node])
    with (tmp_path / geoid.NAME).open("wb") as file:
        file.truncate(geoid.SIZE)
    prepare([node])
    check_data(dataclasses.replace(node, package="other"), {"GEOGRAPHICLIB_GEOID_PATH": "/nowhere"})


@pytest.mark.parametrize("name", ["pluginlists_yaml", "config_yaml"])
@pytest.mark.parametrize("key", ["fcu_urls", "gcs_urls", "gcs_url", "uas_url"])
def test_a_file_opens_no_connection_unseen(tmp_path: Path, name: str, key: str) -> None:
    file = tmp_path / "mavros.yaml"
    file.write_text(f"/**/mavros_router:\n  ros__parameters:\n    {key}: ['udp://@']\n")
    with pytest.raises(BringupError, match=f"^{name} '.*' sets '{key}'; give connections as arguments"):
        mavros(DRONE, **{name: str(file)})
    file.write_text("/**:\n  ros__parameters: {conn: {heartbeat_rate: 1.0}}\n")
    assert str(file) in mavros(DRONE, **{name: str(file)}).files
    file.write_text("/**: [")
    with pytest.raises(BringupError, match="cannot be read"):
        mavros(DRONE, **{name: str(file)})
