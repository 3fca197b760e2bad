# SPDX-License-Identifier: Apache-2.0
"""Both ends under DDS security with Enforce as `ros2 launch` starts them: in processes, and in a container."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip(
    "launch_ros.actions", reason="launch is not installed; test_security_enforced.py starts the proxies"
)

from launching import PROXIES, launched, tap
from test_security_enforced import answers, keystore, outsider, secured
from test_up import Ends

from pqc_mav_bringup.proxy import CPP

__all__ = ["keystore"]
ARRANGEMENTS = {
    **{kind: {"proxy": kind} for kind in PROXIES},
    **({"composed": {"proxy": CPP, "composed": "true"}} if CPP in PROXIES else {}),
}


@pytest.mark.parametrize("arrangement", ARRANGEMENTS)
def test_the_operator_alone_hears_what_was_launched(
    arrangement: str, tmp_path: Path, keys: Path, keystore: Path
) -> None:
    made = Ends(tmp_path, keys)
    how = {**ARRANGEMENTS[arrangement], "detect": "false"}
    gcs = launched("gcs", "pqc_mav_bringup", secured(keystore, "/gcs"), params_file=made.write("gcs"), **how)
    drone = launched(
        *("drone", "pqc_mav_bringup", secured(keystore, "/drone")), config=made.write("drone"), tap=tap(), **how
    )
    with gcs as ground, drone as air:
        air.wait_for("-> UP")
        ground.wait_for("-> UP")
        wishes = [f"{kind}/drone/pqc_proxy/{name}" for kind, name in (("hear=", "status"), ("ask=", "get_info"))]
        found = answers("/", "pqcmav_watch", wishes, secured(keystore, "/operator"))
        assert found == dict.fromkeys(wishes, "done")
        assert "nothing heard" in outsider(wishes[0])
