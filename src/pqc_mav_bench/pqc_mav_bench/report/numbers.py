# SPDX-License-Identifier: Apache-2.0
"""Numbers as a reader wants them: three significant digits, the unit after them, a dash for what was not measured."""

import math

MISSING = "–"


def number(value: float | None, digits: int = 3) -> str:
    """A number with `digits` significant digits and thousands separators; a dash for None, NaN and infinity."""
    if value is None or not math.isfinite(value):
        return MISSING
    if value == 0:
        return "0"
    if abs(value) < 1e-6:
        return f"{value:.{digits - 1}e}"
    decimals = max(0, digits - 1 - math.floor(math.log10(abs(value))))
    text = f"{value:,.{min(decimals, 9)}f}"
    # Rounding may carry into a further digit: 9.996 is 10.0, not 10.00.
    if decimals and len(text.replace(",", "").replace("-", "").replace(".", "").lstrip("0")) > digits:
        text = f"{value:,.{decimals - 1}f}"
    return text


def quantity(value: float | None, unit: str, digits: int = 3) -> str:
    """A number and its unit; a dash alone when there is no number."""
    text = number(value, digits)
    return text if text == MISSING or not unit else f"{text} {unit}"


def span(low: float, high: float, unit: str) -> str:
    """What lies between two figures; one where both read the same."""
    ends = dict.fromkeys((number(low), number(high)))
    return f"{' to '.join(ends)} {unit}"


def duration(milliseconds: float | None) -> str:
    """A time in the unit that suits it: 85 µs, 12.8 ms, 9.2 s."""
    if milliseconds is None or not math.isfinite(milliseconds):
        return MISSING
    if abs(milliseconds) >= 1000:
        return quantity(milliseconds / 1000, "s")
    return (
        quantity(milliseconds, "ms")
        if abs(milliseconds) >= 0.1 or milliseconds == 0
        else quantity(milliseconds * 1e3, "µs")
    )


def times(ratio: float) -> str:
    """A ratio in words: '19 times', '2.8 times'."""
    return f"{number(ratio, 2)} times"


def signed(value: float | None, unit: str, digits: int = 3) -> str:
    """A change with its sign; a dash alone when there is no number."""
    text = quantity(value, unit, digits)
    return f"+{text}" if text != MISSING and value is not None and value > 0 else text.replace("-", "−")


def count(items: int, one: str, many: str = "") -> str:
    """'1 suite', '72 suites'."""
    return f"{items:,} {one if items == 1 else many or one + 's'}"


def listed(names: list[str]) -> str:
    """'a', 'a and b', 'a, b and c'."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}" if names else ""
