"""A ROS domain of their own for the tests of the sensing nodes, and a modest hypothesis profile."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from hypothesis import settings

settings.register_profile("sensing", max_examples=60, deadline=None)
settings.load_profile("sensing")


@pytest.fixture(scope="session", autouse=True)
def own_domain() -> Iterator[None]:
    """Under tools/run_tests.py the run has a domain of its own already; elsewhere one is taken here."""
    if "ROS_DOMAIN_ID" in os.environ:
        yield
        return
    try:
        from domain_coordinator import domain_id
    except ImportError:
        yield
        return
    with domain_id() as number:
        os.environ["ROS_DOMAIN_ID"] = str(number)
        yield
        del os.environ["ROS_DOMAIN_ID"]
