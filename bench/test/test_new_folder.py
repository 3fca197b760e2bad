# SPDX-License-Identifier: Apache-2.0
"""Nothing measured is lost for want of a folder or by a name that is not there; the measurements are left out."""

from __future__ import annotations

import shutil
import sys
from types import SimpleNamespace

import board
import paths
import pytest
import radios
import registry


class Pool:
    """Runs nothing, and gives what a run would."""

    def __init__(self, jobs: int) -> None:
        assert jobs

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def submit(self, function, *_):
        found = {radios.one: radios.Run(1.0), radios.connected: 1.0, paths.one: paths.Run(*[1.0] * 8)}[function]
        return SimpleNamespace(result=lambda: found)


@pytest.mark.parametrize(
    ("module", "page"),
    [(board, "board.json"), (registry, "registry.json"), (radios, "radios.md"), (paths, "paths.md")],
    ids=lambda each: getattr(each, "__name__", None),
)
def test_a_new_folder_is_made(monkeypatch, tmp_path, module, page):
    folder = tmp_path / "new" / "below"
    monkeypatch.setattr(sys, "argv", [module.__name__, "--output", str(folder)])
    monkeypatch.setattr(shutil, "which", lambda name: name)
    if module in (board, registry):
        found = {"seconds": [1.0] * 6, "core": 0.1, "rss": 1 << 20, "view_bytes": [1]}
        kept = found if module is board else ({"add": [1.0] * 6}, 1, 0)
        monkeypatch.setattr(module, "measured", lambda *_: kept)
    else:
        monkeypatch.setattr(module, "ProcessPoolExecutor", Pool)
    assert module.main() == 0
    assert (folder / page).stat().st_size


@pytest.mark.parametrize(("module", "option"), [(radios, "--profiles"), (paths, "--ways")])
def test_a_name_that_is_not_there_is_refused(monkeypatch, tmp_path, module, option):
    monkeypatch.setattr(sys, "argv", [module.__name__, option, "nosuch", "--output", str(tmp_path / "new")])
    monkeypatch.setattr(module, "ProcessPoolExecutor", Pool)
    with pytest.raises(SystemExit) as ended:
        module.main()
    assert ended.value.code == 2 and not (tmp_path / "new").exists()
