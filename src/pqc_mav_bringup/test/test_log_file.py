# SPDX-License-Identifier: Apache-2.0
import stat
from pathlib import Path

import pytest

from pqc_mav_bringup import log_file
from pqc_mav_bringup.log_file import LogFile


@pytest.fixture
def there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(log_file.VARIABLE, str(tmp_path / "log"))
    return tmp_path / "log"


def test_lines_are_appended_to_a_file_only_its_owner_can_read(there: Path) -> None:
    for line in ("one", "two"):
        file = LogFile("gcs")
        file.write(line)
        file.close()
    assert (there / "gcs.log").read_text() == "one\ntwo\n"
    assert stat.S_IMODE((there / "gcs.log").stat().st_mode) == 0o600
    assert stat.S_IMODE(there.stat().st_mode) == 0o700


def test_a_full_file_becomes_the_older_one_and_the_oldest_goes(there: Path) -> None:
    file = LogFile("gcs", limit_bytes=30)
    for number in range(10):
        file.write(f"line {number:04}")
    assert (there / "gcs.log").read_text() == "line 0009\n"
    assert (there / "gcs.log.1").read_text().split() == ["line", "0006", "line", "0007", "line", "0008"]
    assert len(list(there.iterdir())) == 2


def test_no_folder_is_wanted_or_none_can_be_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(log_file.VARIABLE, "")
    LogFile("gcs").write("nowhere")
    (tmp_path / "file").touch()
    monkeypatch.setenv(log_file.VARIABLE, str(tmp_path / "file" / "log"))
    LogFile("gcs").write("nowhere")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
