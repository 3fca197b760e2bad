# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

import pytest

from pqc_mav_bringup.log_file import VARIABLE, LogFile
from pqc_mav_cli import logs_command
from pqc_mav_cli.app import main

DRONE = (
    "2026-03-04 05:06:07.001 drone/pqc_proxy | [INFO] started",
    "2026-03-04 05:06:07.003 drone/pqc_proxy | [WARN] alone",
)
GCS = "2026-03-04 05:06:07.002 gcs/pqc_proxy | ended with exit code 1; starting it again in 0.3 s"


@pytest.fixture(autouse=True)
def there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    return tmp_path


def write(name: str, *lines: str, limit_bytes: int = 1 << 20) -> None:
    file = LogFile(name, limit_bytes=limit_bytes)
    for line in lines:
        file.write(line)
    file.close()


def shown(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[str]:
    assert main(["logs", *arguments]) == 0
    return capsys.readouterr().out.splitlines()


def test_all_of_them_in_the_order_of_time(capsys: pytest.CaptureFixture[str]) -> None:
    write("drone", *DRONE)
    write("gcs", GCS)
    assert shown(capsys) == [DRONE[0], GCS, DRONE[1]]
    assert shown(capsys, "drone") == list(DRONE)
    assert shown(capsys, "-n", "1") == [DRONE[1]]
    assert shown(capsys, "--problems") == [GCS, DRONE[1]]


def test_what_is_in_the_older_file_too(capsys: pytest.CaptureFixture[str]) -> None:
    write("drone", *DRONE, limit_bytes=10)
    assert shown(capsys) == [DRONE[1]]  # every line filled a file
    write("drone", DRONE[0])
    assert shown(capsys) == [DRONE[0], DRONE[1]]


def test_without_logs_the_way_to_some_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["logs"]) == 1
    assert "pqcmav up drone" in capsys.readouterr().err
    assert main(["logs", "car"]) == 2
    assert "drone, gcs, demo" in capsys.readouterr().err


def test_what_comes_is_followed_over_a_change_of_files(there: Path) -> None:
    write("drone", DRONE[0])
    tail = logs_command.Tail(there / "drone.log")
    assert tail.lines() == []
    write("drone", *DRONE, limit_bytes=100)  # the first fills the file, the second begins a new one
    assert tail.lines() == list(DRONE)
    write("drone", GCS)
    assert tail.lines() == [GCS]
    assert tail.lines() == []
