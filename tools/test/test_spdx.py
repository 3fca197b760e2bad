# SPDX-License-Identifier: Apache-2.0
"""tools/spdx.py: a source file without a licence line is found, and gets one in the right place."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
import spdx

LINE = f"# {spdx.TAG}\n"


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    subprocess.run(["git", "init", "--quiet"], cwd=tmp_path, check=True)
    return tmp_path


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('"""A module."""\n', f'{LINE}"""A module."""\n'),
        ("#!/usr/bin/env python3\nx = 1\n", f"#!/usr/bin/env python3\n{LINE}x = 1\n"),
        ("# -*- coding: utf-8 -*-\nx = 1\n", f"# -*- coding: utf-8 -*-\n{LINE}x = 1\n"),
        ("#!/bin/sh\n# vim: set fileencoding=utf-8\n:\n", f"#!/bin/sh\n# vim: set fileencoding=utf-8\n{LINE}:\n"),
        ("#!/bin/sh\n", f"#!/bin/sh\n{LINE}"),
    ],
)
def test_place_of_the_line(before: str, after: str) -> None:
    assert spdx.with_line(before, "#") == after
    assert spdx.has_line(after) and not spdx.has_line(before)


def test_files_without_a_line_are_named_and_fixed(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = {
        "a.py": "x = 1\n",
        "b.hpp": "#pragma once\n",
        "CMakeLists.txt": "project(x)\n",
        "M.msg": "# A message.\nbool ok\n",
        "script": "#!/bin/sh\n:\n",
        "good.py": f"{LINE}x = 1\n",
        "empty.py": "",
        "notes.md": "text\n",
        "data": "text\n",
        "package.xml": '<?xml version="1.0"?>\n',
    }
    for name, text in files.items():
        (repository / name).write_text(text)
    (repository / "link.py").symlink_to("a.py")
    assert spdx.main(["--check"], repository) == 1
    named = {line.split()[1] for line in capsys.readouterr().err.splitlines()}
    assert named == {"a.py", "b.hpp", "CMakeLists.txt", "M.msg", "script"}
    assert spdx.main(["--fix"], repository) == 0
    assert spdx.main(["--check"], repository) == 0
    assert (repository / "b.hpp").read_text() == f"// {spdx.TAG}\n#pragma once\n"
    for name in files.keys() - named:
        assert (repository / name).read_text() == files[name]
    before = (repository / "a.py").read_text()
    assert spdx.main(["--fix"], repository) == 0
    assert (repository / "a.py").read_text() == before, "a second run changes nothing"


def test_a_line_far_down_is_a_quotation() -> None:
    assert not spdx.has_line("\n" * spdx.SEARCHED_LINES + LINE)


def test_one_way_at_a_time() -> None:
    with pytest.raises(SystemExit):
        spdx.main([])
