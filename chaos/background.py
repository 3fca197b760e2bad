# SPDX-License-Identifier: Apache-2.0
"""What is done in a thread of its own."""

from __future__ import annotations

import threading
from typing import TypeVar

Own = TypeVar("Own", bound="Background")


class Background:
    """Runs `_run` from `_begin`, with which a constructor ends, until `close`. A context manager."""

    def _begin(self) -> None:
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        """Works until `_over` is set."""
        raise NotImplementedError

    def close(self) -> None:
        """End it."""
        self._over.set()
        self._thread.join()

    def __enter__(self: Own) -> Own:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
