# SPDX-License-Identifier: Apache-2.0
"""Programs that are still found under the name they had in the version before."""

from __future__ import annotations

import sys


def say_renamed(old: str, new: str) -> None:
    """One line on stderr for somebody who started `new` by its old name."""
    print(f"{old}: warning: this program is now called {new}; the next version drops the old name", file=sys.stderr)
