# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

import pytest
from scenes import Scene

from pqc_mav_detect.dataset import Row, read_rows, write_rows


@pytest.mark.parametrize("name", ["w.csv", "w.csv.gz", "w.parquet"])
def test_what_was_written_is_read(name: str, tmp_path: Path) -> None:
    if name.endswith(".parquet"):
        pytest.importorskip("pyarrow")
    scene = Scene()
    windows = [*scene.run(3.0, drop_replay=33.0), *scene.run(3.0, opened=0.0)]
    rows = [Row("run1", end, "replay", "replay", window) for end in ("gcs", "drone") for window in windows]
    write_rows(tmp_path / name, rows)
    found = read_rows(tmp_path / name)
    assert set(found) == {("run1", "gcs"), ("run1", "drone")}
    for row, window in zip(found["run1", "gcs"], windows, strict=True):
        assert (row.label, row.episode) == ("replay", "replay")
        assert row.window.values == pytest.approx(window.values, rel=1e-4, abs=1e-3)
        assert list(row.window.silent.values()) == pytest.approx(list(window.silent.values()), abs=1e-3)


def test_the_same_rows_are_the_same_file(tmp_path: Path) -> None:
    rows = [Row("r", "gcs", "", "", window) for window in Scene().run(1.0)]
    for name in ("a.csv.gz", "b.csv.gz"):
        write_rows(tmp_path / name, rows)
    assert (tmp_path / "a.csv.gz").read_bytes() == (tmp_path / "b.csv.gz").read_bytes()
