# SPDX-License-Identifier: Apache-2.0
import io

import pytest

from pqc_mav_bringup.printer import Printer


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_labels_are_padded_and_plain_where_it_is_no_terminal() -> None:
    out = io.StringIO()
    printer = Printer(["a", "long"], out)
    printer.line("a", "one")
    printer.sink("long")("two")
    assert out.getvalue() == "a    | one\nlong | two\n"


def test_a_terminal_gets_a_colour_per_label(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    out = Terminal()
    printer = Printer(["a", "b"], out)
    printer.line("a", "one")
    printer.line("b", "two")
    first, second = out.getvalue().splitlines()
    assert first.startswith("\033[") and second.startswith("\033[") and first[:5] != second[:5]


def test_no_color(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    out = Terminal()
    Printer(["a"], out).line("a", "one")
    assert "\033" not in out.getvalue()
