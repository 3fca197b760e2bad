"""A ROS domain of their own for the tests of the policy."""

from pqc_mav_common.testing import own_domain

__all__ = ["own_domain"]
