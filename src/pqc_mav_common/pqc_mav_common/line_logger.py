# SPDX-License-Identifier: Apache-2.0
"""A node's logger whose every message is one line: some of a message may be chosen by whoever sent it."""

import os
from typing import Any

from rclpy.impl import rcutils_logger

from pqc_mav_common.errors import written_out

# rclpy names the place of the call in its records, and tells calls apart by it: not this file, which a build may have
# linked to from elsewhere.
rcutils_logger._internal_callers.append(os.path.realpath(__file__))


class LineLogger:
    """In front of rclpy's own logger."""

    def __init__(self, logger: Any) -> None:
        self._logger = logger

    def __getattr__(self, name: str) -> Any:
        return getattr(self._logger, name)

    def debug(self, message: object, **options: Any) -> bool:
        """As rclpy's."""
        return bool(self._logger.debug(written_out(message), **options))

    def info(self, message: object, **options: Any) -> bool:
        """As rclpy's."""
        return bool(self._logger.info(written_out(message), **options))

    def warning(self, message: object, **options: Any) -> bool:
        """As rclpy's."""
        return bool(self._logger.warning(written_out(message), **options))

    warn = warning

    def error(self, message: object, **options: Any) -> bool:
        """As rclpy's."""
        return bool(self._logger.error(written_out(message), **options))

    def fatal(self, message: object, **options: Any) -> bool:
        """As rclpy's."""
        return bool(self._logger.fatal(written_out(message), **options))
