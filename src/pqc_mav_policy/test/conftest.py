# SPDX-License-Identifier: Apache-2.0
"""Helpers are importable by name from every folder of tests; ROS tests have a domain of their own."""

import sys
from pathlib import Path

from pqc_mav_common.testing import own_domain
from pqc_mav_common.testing_onlooker import ros

__all__ = ["own_domain", "ros"]

sys.path.insert(0, str(Path(__file__).resolve().parent))
