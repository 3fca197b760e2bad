# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from pqc_mav_proxy.wording import plain_ports, short_code


@pytest.mark.parametrize(
    ("suite", "code"),
    [
        ("cs-mlkem768-aesgcm-mldsa65", "ML-768-AG-MD-65"),
        ("ML-768-AG-MD-65", "ML-768-AG-MD-65"),
        ("cs-x", "cs-x"),
        ("", ""),
    ],
)
def test_people_read_short_codes(suite: str, code: str) -> None:
    assert short_code(suite) == code


def test_the_start_line_says_where_ground_software_must_listen() -> None:
    ports = {"d1": 50001, "d2": 50002}
    assert plain_ports(ports, {"d1": "127.0.0.1:14550", "d2": ""}) == "d1 50001 (MAVLink to 127.0.0.1:14550), d2 50002"
