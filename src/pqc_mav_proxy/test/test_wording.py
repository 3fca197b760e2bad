# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from pqc_mav_proxy.wording import short_code


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
