# SPDX-License-Identifier: Apache-2.0
"""The errors of sensing."""

from pqc_mav_common.errors import ProcessError


class SensingError(ProcessError):
    """A refusal of a sensing process: one sentence for a person and the exit code it ends in."""


class SensorError(Exception):
    """A sensor cannot be read now: one sentence. It may come back, so no process ends because of it."""
