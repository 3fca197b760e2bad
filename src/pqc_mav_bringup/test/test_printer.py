# SPDX-License-Identifier: Apache-2.0
import io
from datetime import datetime

import pytest

from pqc_mav_bringup.printer import Printer


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_labels_are_padded_and_plain_where_it_is_no_terminal() -> None:
    out = io.StringIO()
    kept: list[str] = []
    printer = Printer(["a", "long"], out, kept.append, lambda: datetime(2026, 3, 4, 5, 6, 7, 89_000))
    printer.line("a", "one")
    printer.sink("long")("two")
    assert out.getvalue() == "05:06:07.089 a    | one\n05:06:07.089 long | two\n"
    assert kept == ["2026-03-04 05:06:07.089 a    | one", "2026-03-04 05:06:07.089 long | two"]


def test_a_terminal_gets_a_colour_per_label(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    out = Terminal()
    printer = Printer(["a", "b"], out)
    printer.line("a", "one")
    printer.line("b", "two")
    first, second = (line.partition(" ")[2] for line in out.getvalue().splitlines())
    assert first.startswith("\033[") and second.startswith("\033[") and first[:5] != second[:5]


def test_no_color(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    out = Terminal()
    Printer(["a"], out).line("a", "one")
    assert "\033" not in out.getvalue()
