# SPDX-License-Identifier: Apache-2.0
import json
from pathlib import Path

from commands import pqcmav


def test_json_and_the_exit_code_of_a_good_machine(keys: Path) -> None:
    ended = pqcmav("doctor", "--json", "--keys", str(keys))
    findings = json.loads(ended.stdout)
    assert ended.returncode == 0, [finding for finding in findings if finding["level"] == "FAIL"]
    names = {finding["name"] for finding in findings}
    assert {"Python", "ROS 2", "engine", "liboqs", "OpenSSL", "keys", "processor", "memory", "kernel", "ports"} <= names


def test_text_and_the_exit_code_of_bad_keys(tmp_path: Path) -> None:
    import pqc_mav_tunnel

    pqc_mav_tunnel.init_keys(str(tmp_path / "k"), ["d"], sig_tokens=["mldsa65"])
    (tmp_path / "k" / "drones" / "d" / "psk.key").chmod(0o644)
    ended = pqcmav("doctor", "--keys", str(tmp_path / "k"))
    assert ended.returncode == 1
    assert "FAIL" in ended.stdout and "psk.key" in ended.stdout and "1 failure" in ended.stdout
