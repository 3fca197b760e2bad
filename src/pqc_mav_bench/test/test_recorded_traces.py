# SPDX-License-Identifier: Apache-2.0
"""Every value of a recording is in its table of traces, with the time it was received."""

from __future__ import annotations

import io

import pandas as pd
import pytest
from support import flight_recording

from pqc_mav_bench import tidy
from pqc_mav_bench.errors import StoreError
from pqc_mav_bench.recorded_traces import traces, traces_parquet


@pytest.fixture
def recording(tmp_path):
    return flight_recording(tmp_path / "flight.mcap")


def test_every_value_has_its_row(recording):
    table = traces(recording)
    rows = {(row.time_ns, row.topic, row.field): row for row in table.itertuples()}
    assert rows[1000, "/drone/power", "power_mean_w"].value == 4.5
    assert rows[1000, "/drone/power", "source"].text == "ina219"
    assert rows[1000, "/drone/power", "valid"].value == 1.0
    assert rows[2000, "/drone/pqc_proxy/stats", "delivered"].value == 7.0
    assert rows[2000, "/drone/pqc_proxy/stats", "shape_sent[4]"].value == 5.0
    assert (1000, "/drone/power", "header.stamp.sec") in rows


@pytest.mark.skipif(not tidy.has_parquet(), reason="pandas needs pyarrow for Parquet")
def test_as_parquet_it_is_the_same_table_and_the_same_bytes(recording):
    content = traces_parquet(recording)
    assert content == traces_parquet(recording)
    pd.testing.assert_frame_equal(pd.read_parquet(io.BytesIO(content)), traces(recording))


def test_what_is_no_recording_is_refused(tmp_path):
    (tmp_path / "x.mcap").write_bytes(b"no recording")
    with pytest.raises(StoreError, match="not an MCAP recording"):
        traces(tmp_path / "x.mcap")
