# SPDX-License-Identifier: Apache-2.0
import pytest

from pqc_mav_common.renamed import say_renamed


def test_one_line_with_both_names_on_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    say_renamed("old_name", "pqc_new_name")
    said = capsys.readouterr()
    assert said.out == "" and said.err.startswith("old_name: ") and "pqc_new_name" in said.err
    assert said.err.count("\n") == 1
