# SPDX-License-Identifier: Apache-2.0
"""A link in the words of a command line: "20ms 5% 1Mbit" is what each direction does to what passes."""

import re
from typing import Any

from pqc_mav_sim.impairment.settings import Impairment, ImpairmentError

EXAMPLE = "20ms 5% 1Mbit"
_RATES = {"kbit": 1e3, "mbit": 1e6, "gbit": 1e9}
_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|%|kbit|mbit|gbit)", re.IGNORECASE)
#: What may wait for the rate [s], and never less than two of the largest datagrams.
_QUEUE_S = 0.5
_LEAST_QUEUE_BYTES = 4_000


def described(text: str) -> dict[str, Any]:
    """The settings of a link: delay each way, loss and rate, in any order; none of them has to be there.

    What waits for a rate is half a second of it. Raises ImpairmentError, which says how it is written.
    """
    found: dict[str, Any] = {}
    for word in text.split():
        match = _PART.fullmatch(word)
        if match is None:
            raise ImpairmentError(f"'{word}' says nothing about a link; it is written as in \"{EXAMPLE}\"")
        value, unit = float(match[1]), match[2].lower()
        if unit in _RATES:
            name, setting = "rate", {"rate_bit_s": value * _RATES[unit]}
            setting["queue_bytes"] = max(_LEAST_QUEUE_BYTES, setting["rate_bit_s"] / 8 * _QUEUE_S)
        elif unit == "%":
            name, setting = "loss", {"loss": value / 100}
        else:
            name, setting = "delay", {"delay_ms": value}
        if set(setting) & set(found):
            raise ImpairmentError(f'the link has two values of its {name}; it is written as in "{EXAMPLE}"')
        found |= setting
    Impairment.from_dict(found)
    return found
