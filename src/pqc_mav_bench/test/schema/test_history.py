# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from pqc_mav_bench.schema.history import SCHEMA_VERSION, VERSIONS, as_today


def test_the_versions_are_in_order_and_todays_is_the_last():
    assert list(VERSIONS) == sorted(set(VERSIONS), key=float)
    assert VERSIONS[-1] == SCHEMA_VERSION


@pytest.mark.parametrize("version", VERSIONS)
def test_every_version_becomes_todays(version):
    assert as_today({"schema_version": version})["schema_version"] == SCHEMA_VERSION


@pytest.mark.parametrize("version", ["99.0", "6.0", None, ["7.0"]])
def test_another_one_stays_what_it_is(version):
    assert as_today({"schema_version": version}) == {"schema_version": version}
