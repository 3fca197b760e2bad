"""Fixtures and helpers of the tests of every package. Only tests import this module: it needs pytest."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from pqc_mav_common.free_ports import held_domain


@pytest.fixture(scope="session", autouse=True)
def own_domain() -> Iterator[None]:
    """Take a ROS domain that no other test run on this machine uses, unless tools/run_tests.py has taken one."""
    if "ROS_DOMAIN_ID" in os.environ:
        yield
        return
    with held_domain() as number:
        os.environ["ROS_DOMAIN_ID"] = str(number)
        yield
        del os.environ["ROS_DOMAIN_ID"]
