# SPDX-License-Identifier: Apache-2.0
"""A service client for threads beside the executor."""

import threading
from typing import Any

QUICK_S = 5.0  # who is there answers within this time


class RosCall:
    """A service client whose calls are waited for from another thread than the executor's."""

    def __init__(self, node: Any, kind: Any, name: str) -> None:
        self.name = name
        self._client = node.create_client(kind, name)

    def offered(self, limit_s: float) -> bool:
        """Waits until somebody offers the service; False when nobody does."""
        return bool(self._client.wait_for_service(timeout_sec=limit_s))

    def begin(self, request: Any, wait_s: float = QUICK_S) -> Any:
        """Sends a request. Raises TimeoutError when nobody offers the service."""
        if not self._client.wait_for_service(timeout_sec=wait_s):
            raise TimeoutError(f"nobody offers {self.name}")
        done = threading.Event()
        future = self._client.call_async(request)
        future.add_done_callback(lambda _future: done.set())
        return future, done

    def end(self, pending: Any, limit_s: float) -> Any:
        """The answer. Raises TimeoutError."""
        future, done = pending
        if not done.wait(limit_s):
            self._client.remove_pending_request(future)
            raise TimeoutError(f"{self.name} did not answer within {limit_s:g} s")
        return future.result()

    def __call__(self, request: Any, limit_s: float) -> Any:
        """Request and answer. Raises TimeoutError."""
        return self.end(self.begin(request), limit_s)
