# SPDX-License-Identifier: Apache-2.0
"""A ROS domain of their own for the tests of the detectors."""

from pqc_mav_common.testing import own_domain

__all__ = ["own_domain"]
