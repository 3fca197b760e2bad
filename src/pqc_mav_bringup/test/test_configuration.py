# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

import pytest

from pqc_mav_bringup.configuration import check
from pqc_mav_bringup.description import BringupError, resolve
from pqc_mav_bringup.share import config_file
from pqc_mav_bringup.systems import DEMO, DRONE, GCS, PORTS, SYSTEMS


@pytest.mark.parametrize("system", SYSTEMS.values(), ids=list(SYSTEMS))
def test_the_shipped_files_are_good(system) -> None:
    given = dict.fromkeys(PORTS, "1") if system is DEMO else {}
    for process in resolve(system, given):
        check(process)


@pytest.mark.parametrize("argument", ["config", "sensing_config", "policy_config"])
def test_a_file_that_is_not_there(argument: str, tmp_path: Path) -> None:
    missing = str(tmp_path / "none.yaml")
    with pytest.raises(BringupError, match=f"There is no configuration file '{missing}'"):
        for process in resolve(DRONE, {argument: missing}):
            check(process)


@pytest.mark.parametrize(("system", "other"), [(DRONE, "gcs"), (GCS, "drone")])
def test_the_file_of_the_other_end(system, other: str) -> None:
    with pytest.raises(BringupError, match=f"'role: {other}'.* needs a file with 'role: {system.name}'"):
        check(resolve(system, {"config": str(config_file(f"{other}.yaml"))})[0])


def test_a_role_for_a_node_elsewhere_does_not_count(tmp_path: Path) -> None:
    path = tmp_path / "both.yaml"
    path.write_text("/ground: {pqc_proxy: {ros__parameters: {role: gcs}}}\n/air: {pqc_proxy: {ros__parameters: {}}}\n")
    check(resolve(DRONE, {"config": str(path), "namespace": "air"})[0])
    with pytest.raises(BringupError, match="'role: gcs'"):
        check(resolve(DRONE, {"config": str(path), "namespace": "ground"})[0])


def test_a_file_for_nodes_of_other_names(tmp_path: Path) -> None:
    path = tmp_path / "typo.yaml"
    path.write_text("/**: {pqc_proxi: {ros__parameters: {keys: k}}}\n")
    with pytest.raises(BringupError, match=r"typo\.yaml has no block for the node /d7/pqc_proxy: nothing"):
        check(resolve(DRONE, {"config": str(path), "namespace": "d7"})[0])
    check(resolve(DRONE, {"config": str(path), "keys": str(tmp_path)})[0])
    check(resolve(DRONE, {"config": str(path), "tunnel": "attach"})[0])


def test_a_file_that_is_no_configuration(tmp_path: Path) -> None:
    path = tmp_path / "broken.yaml"
    path.write_text("/**: [")
    with pytest.raises(BringupError, match=r"broken\.yaml, line 1"):
        check(resolve(DRONE, {"config": str(path)})[0])
