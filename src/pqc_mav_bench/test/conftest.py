# SPDX-License-Identifier: Apache-2.0
"""Helpers of the tests are importable by their folder's name; ROS tests have a domain of their own."""

from __future__ import annotations

import sys
from pathlib import Path

from pqc_mav_common.testing import own_domain

__all__ = ["own_domain"]

sys.path.insert(0, str(Path(__file__).resolve().parent))
