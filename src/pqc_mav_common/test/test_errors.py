# SPDX-License-Identifier: Apache-2.0
from pqc_mav_common.errors import one_line


def test_one_line() -> None:
    assert one_line("a\n  b\tc ") == "a b c"
