# SPDX-License-Identifier: Apache-2.0
import pytest

from pqc_mav_common.errors import one_line, written_out


def test_one_line() -> None:
    assert one_line("a\n  b\tc ") == "a b c"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a\nb", "a\\x0ab"),
        ("\x1b[2J\a", "\\x1b[2J\\x07"),
        ("\x9b1m", "\\x9b1m"),
        ("\u2028\u202ex", "\\u2028\\u202ex"),
        ("\ud800", "\\ud800"),
        ("Zürich 30 °C, 日本", "Zürich 30 °C, 日本"),
        ("two  blanks", "two  blanks"),
    ],
)
def test_what_acts_is_written_out(text: str, said: str) -> None:
    assert written_out(text) == said and "\n" not in one_line(text)
