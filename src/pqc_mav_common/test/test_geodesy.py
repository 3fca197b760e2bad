# SPDX-License-Identifier: Apache-2.0
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pqc_mav_common.geodesy import LocalFrame, wrap_pi

latitudes = st.floats(-80.0, 80.0)
longitudes = st.floats(-180.0, 180.0)
metres = st.floats(-5000.0, 5000.0)


@given(latitudes, longitudes, metres, metres)
def test_there_and_back(lat, lon, north, east):
    frame = LocalFrame(lat, lon, 100.0)
    n, e = frame.to_local(*frame.to_geodetic(north, east))
    assert n == pytest.approx(north, abs=1e-5)
    assert e == pytest.approx(east, abs=1e-5)


def test_known_distances():
    # one minute of latitude is a nautical mile (1852 m) at 45 degrees, within the ellipsoid's 1 %
    frame = LocalFrame(45.0, 10.0, 0.0)
    assert frame.to_local(45.0 + 1.0 / 60.0, 10.0)[0] == pytest.approx(1852.0, rel=0.001)
    # a degree of longitude at the equator: 2 pi a / 360
    equator = LocalFrame(0.0, 0.0, 0.0)
    assert equator.to_local(0.0, 1.0)[1] == pytest.approx(2.0 * math.pi * 6378137.0 / 360.0)


def test_across_the_date_line():
    frame = LocalFrame(10.0, 179.9999, 0.0)
    _, east = frame.to_local(10.0, -179.9999)
    assert 0.0 < east < 30.0
    _, lon = frame.to_geodetic(0.0, 100.0)
    assert -180.0 <= lon < -179.99


@pytest.mark.parametrize("origin", [(86.0, 0.0, 0.0), (0.0, 181.0, 0.0), (0.0, 0.0, 1e5), (math.nan, 0.0, 0.0)])
def test_bad_origin_is_refused(origin):
    with pytest.raises(ValueError, match="out of range"):
        LocalFrame(*origin)


@given(st.floats(-1e4, 1e4))
def test_wrap(angle):
    wrapped = wrap_pi(angle)
    assert -math.pi <= wrapped < math.pi + 1e-9
    assert math.sin(wrapped) == pytest.approx(math.sin(angle), abs=1e-6)
    assert math.cos(wrapped) == pytest.approx(math.cos(angle), abs=1e-6)
