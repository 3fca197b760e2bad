# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import subprocess

from pqc_mav_bench.source import source, words


def git(folder, *words):
    subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@example.org", *words], cwd=folder, check=True)


def test_the_commit_of_a_clone_and_whether_it_was_changed(tmp_path):
    git(tmp_path, "init", "-q")
    (tmp_path / "a").write_text("1")
    git(tmp_path, "add", "a")
    git(tmp_path, "commit", "-q", "-m", "one")
    found = source(tmp_path)
    assert len(found["commit"]) == 40
    assert not found["changed"]
    (tmp_path / "b").write_text("a file of nobody's")
    assert not source(tmp_path)["changed"]
    assert words(found) == f"commit {found['commit'][:12]}"
    (tmp_path / "a").write_text("2")
    assert source(tmp_path) == {"commit": found["commit"], "changed": True}
    assert words(source(tmp_path)) == f"commit {found['commit'][:12]}, with changes"


def test_outside_of_a_clone_nothing_is_said(tmp_path, monkeypatch):
    assert source(tmp_path) == {}
    monkeypatch.delenv("PQCMAV_ROOT", raising=False)
    assert source() == {}
    assert words({}) == "commit not recorded"
