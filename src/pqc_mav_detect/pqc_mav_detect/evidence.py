# SPDX-License-Identifier: Apache-2.0
"""What was seen in a channel, in words. Pure."""

from __future__ import annotations

from pqc_mav_detect.channels import CHANNELS
from pqc_mav_detect.features import Features

_PRECISE = 10.0
_AT_ONCE = 20.0


def described(features: Features, name: str) -> str:
    """A channel's figure as evidence."""
    channel = CHANNELS[name]
    if channel.unit == "fraction":
        rate = f"{100 * features.most(name, 0.5):.0f} %"
    elif channel.unit in ("ms", "s"):
        rate = f"{features.most(name, 0.5):.0f}"
    else:
        mean = features.mean(name, 0.5)
        mean = mean if mean >= _AT_ONCE else features.mean(name, 5.0)
        rate = f"{mean:,.0f}" if mean >= _PRECISE else f"{mean:.1f}"
    return channel.words.format(rate=rate)
