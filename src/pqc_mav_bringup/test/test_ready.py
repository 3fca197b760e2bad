# SPDX-License-Identifier: Apache-2.0
import json

from pqc_mav_bringup.ready import Ready, from_plain, to_plain
from pqc_mav_bringup.respawn import Respawn


def test_it_survives_json_whole() -> None:
    processes = [
        Ready("drone/a", ("/bin/a", "--ros-args", "-p", 'x:="ü"'), {"WISH": "1"}, Respawn(most_deaths=None, quick=7)),
        Ready("b", ("/bin/b",), {}, None),
        Ready("c", ("/bin/c",), {}, Respawn(never_first=frozenset({9}))),
    ]
    assert from_plain(json.loads(json.dumps(to_plain(processes)))) == processes
