# SPDX-License-Identifier: Apache-2.0
from pqc_mav_common.markdown import table


def test_a_table_has_a_head_a_line_and_a_row_for_each() -> None:
    assert table(("a", "b"), [(1, "x"), (2.5, "y")]) == "| a | b |\n|---|---|\n| 1 | x |\n| 2.5 | y |\n"
    assert table(iter("a"), []) == "| a |\n|---|\n"
