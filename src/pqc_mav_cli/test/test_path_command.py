# SPDX-License-Identifier: Apache-2.0
import pytest
from commands import pqcmav
from test_status_view import view

from pqc_mav_cli import status_view
from pqc_mav_cli.errors import CliError
from pqc_mav_cli.path_command import check
from pqc_mav_cli.ros_session import TunnelView
from pqc_mav_cli.socket_session import record

NOW_S = 102.0
LTE = {"name": "lte", "state": "best", "rtt_ms": 61.2, "loss": 0.009, "tx_bytes": 12_400_000, "rx_bytes": 0}
PATHS = [
    {**LTE, "problem": ""},
    {**LTE, "name": "radio", "state": "dead", "rtt_ms": None, "loss": None, "problem": "It is not there."},
]


def with_paths() -> TunnelView:
    made = view()
    made.paths = {path["name"]: record(path) for path in PATHS}
    return made


def test_status_has_a_row_for_each_path() -> None:
    assert status_view.paths([view()], NOW_S) == []
    assert status_view.paths([with_paths()], NOW_S) == [
        "d1: lte best, 61 ms, loss 1%, 12.4 MB up, 0.0 MB down",
        "d1: radio dead, -, loss -, 12.4 MB up, 0.0 MB down (It is not there.)",
    ]
    assert status_view.paths([with_paths()], NOW_S + 60) == []


def test_only_a_path_of_the_drone_can_be_named() -> None:
    check("", PATHS)
    check("radio", PATHS)
    with pytest.raises(CliError, match="'sat' is none of this drone's paths: lte, radio"):
        check("sat", PATHS)
    with pytest.raises(CliError, match="one way"):
        check("", [])


def test_a_path_needs_a_word() -> None:
    done = pqcmav("path", "lte", "maybe")
    assert done.returncode == 2 and "on, off, first" in done.stderr
