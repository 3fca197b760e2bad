# SPDX-License-Identifier: Apache-2.0
"""A client of an action that loses no answer when another thread than that of its executor asks."""

import threading
from typing import Any

from rclpy.action import ActionClient


class PatientActionClient(ActionClient):
    """Looks at an answer only once the question is noted.

    rclpy sends a request first and notes it afterwards. An executor in another thread may take the answer in between,
    does not know it and drops it; the caller then waits indefinitely. rclpy 9 shows a client to the executor before it
    has a lock; an executor that looks in between ends.
    """

    def __init__(self, *arguments: Any, **named: Any) -> None:
        self._asking = threading.RLock()
        self._lock = threading.Lock()  # rclpy makes its own last of all
        super().__init__(*arguments, **named)

    def send_goal_async(self, *arguments: Any, **named: Any) -> Any:
        """As rclpy's."""
        with self._asking:
            return super().send_goal_async(*arguments, **named)

    def _get_result_async(self, *arguments: Any, **named: Any) -> Any:
        with self._asking:
            return super()._get_result_async(*arguments, **named)

    async def execute(self, taken_data: Any) -> None:
        """As rclpy's, which hands out what was taken."""
        with self._asking:
            pass
        await super().execute(taken_data)
