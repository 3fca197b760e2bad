# SPDX-License-Identifier: Apache-2.0
"""Helpers are importable by name, those of the policy's tests too; ROS tests have a domain of their own."""

import sys
from pathlib import Path

from pqc_mav_common.testing import own_domain

__all__ = ["own_domain"]

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "pqc_mav_policy" / "test")]
