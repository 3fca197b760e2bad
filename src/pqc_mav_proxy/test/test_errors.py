# SPDX-License-Identifier: Apache-2.0
import pytest

from pqc_mav_common.errors import ExitCode
from pqc_mav_proxy.errors import exit_code_for


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("config_unknown_key", ExitCode.CONFIG),
        ("config_invalid", ExitCode.CONFIG),
        ("key_missing", ExitCode.CONFIG),
        ("key_permissions", ExitCode.CONFIG),
        ("suite_unknown", ExitCode.CONFIG),
        ("suite_unavailable", ExitCode.CONFIG),
        ("address", ExitCode.START),
        ("port_in_use", ExitCode.START),
        ("permission", ExitCode.START),
        ("io", ExitCode.START),
    ],
)
def test_exit_codes(code: str, expected: ExitCode) -> None:
    assert exit_code_for(code) is expected
