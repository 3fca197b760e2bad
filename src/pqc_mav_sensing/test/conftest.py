# SPDX-License-Identifier: Apache-2.0
"""A ROS domain of their own for the tests of the sensing nodes, and a modest hypothesis profile."""

from hypothesis import settings

from pqc_mav_common.testing import own_domain

__all__ = ["own_domain"]

settings.register_profile("sensing", max_examples=60, deadline=None)
settings.load_profile("sensing")
