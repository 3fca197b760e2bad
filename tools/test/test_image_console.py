# SPDX-License-Identifier: Apache-2.0
"""tools/image_console.py: which answers of ends in containers are not good enough."""

from __future__ import annotations

from pathlib import Path

import image_console
import pytest
import two_ends

STATUS = "end drone state\ndrone-drone1 drone1 UP\ngcs drone1 UP\n"
REKEYED = "ML-768-AG-MD-65 (cs-mlkem768-aesgcm-mldsa65), epoch 1, after 100.0 ms\n"


def answers(monkeypatch: pytest.MonkeyPatch, status_s: float, rekey_s: float, told: str = STATUS) -> None:
    def asked(run_folder: Path, groups: list[int], *words: str) -> tuple[float, str]:
        if not groups:
            return 0.1, "pqcmav: error: gcs.sock is for members of the group '990'"
        return (status_s, told) if words[0] == "status" else (rekey_s, REKEYED)

    monkeypatch.setattr(image_console, "asked", asked)


def test_a_handshakes_own_time_is_not_the_commands(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    answers(monkeypatch, 0.4, 0.45)
    said = image_console.ask(tmp_path, judge=True)
    assert "status --once: median 0.40 s" in said and "rekey --on gcs, beside its handshake: median 0.35 s" in said


@pytest.mark.parametrize(("status_s", "rekey_s", "said"), [(0.41, 0.1, "status"), (0.1, 0.51, "rekey --on drone")])
def test_what_takes_too_long_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, status_s: float, rekey_s: float, said: str
) -> None:
    answers(monkeypatch, status_s, rekey_s)
    with pytest.raises(two_ends.TestError, match=f"pqcmav {said}.* takes 0.41 s"):
        image_console.ask(tmp_path, judge=True)
    image_console.ask(tmp_path, judge=False)


def test_an_end_that_is_missing_is_noticed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    answers(monkeypatch, 0.1, 0.1, STATUS.replace("gcs drone1 UP\n", ""))
    with pytest.raises(two_ends.TestError, match="status says"):
        image_console.ask(tmp_path, judge=True)
