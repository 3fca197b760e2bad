# SPDX-License-Identifier: Apache-2.0
"""The Python example of the README, with ports that are free here."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pqc_mav_tunnel as tunnel
import pytest

README = Path(__file__).resolve().parent.parent.parent / "README.md"


def test_the_example_rekeys(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (example,) = re.findall(r"^```python\n(.*?)^```", README.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    made: list[tunnel.Engine] = []

    def engine(config: dict[str, Any], real: type[tunnel.Engine] = tunnel.Engine) -> tunnel.Engine:
        if made:
            more = {"data_port": made[0].ports()["data"], "local_data_port": 0, "plain_bind": "127.0.0.1:0"}
        else:
            more = {"data_port": 0, "drone": {"uav1": {"plain_bind": "127.0.0.1:0"}}}
        made.append(real({**config, **more}))
        return made[-1]

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tunnel, "Engine", engine)
    try:
        exec(example, {})
    finally:
        for each in made:
            each.stop()
    assert "'Rekeyed to ML-1024-AS-MD-87, epoch 1.'" in capsys.readouterr().out
