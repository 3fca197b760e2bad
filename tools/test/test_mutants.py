# SPDX-License-Identifier: Apache-2.0
"""Mutants: what is changed, what is left alone, what is drawn, and what becomes of each."""

from __future__ import annotations

import sys
from pathlib import Path

import mutants
import mutations
import pytest

from pqc_mav_common.testing import until

PYTHON = '''"""Text with 1 + 1 and "<"."""
LEAST = 0.02
NAMES = ("a", "b")


def judged(values: list[int], most: int = 40) -> bool:
    if not values or values[0] < most and f"{1 + len(values)}":
        return False
    if most is None:
        raise ValueError("more than " + str(7))
    return values[-1] + 1 not in (1e-6, LEAST)
'''
CPP = """// 3 + 4 and a < b
#include <array>
constexpr std::uint64_t kLimit = 5'000;
std::array<int, 4> made(const Foo& foo) {
  if (foo.a <= kLimit && !foo.b) return log("x == 1");  // 6
  ++foo.count;
  return std::min<int>(0xFF, -foo.a + 1.5);
}
"""


def becomes(tmp_path: Path, name: str, source: str) -> set[tuple[str, str]]:
    """What was there, and what takes its place."""
    path = tmp_path / name
    path.write_text(source)
    found = mutations.of_file(path)
    assert all(mutation.applied(source.encode()) != source.encode() for mutation in found)
    return {(source[each.begin : each.end].strip(), each.text) for each in found}


def test_of_python_numbers_comparisons_logic_sums_and_constants_returned_change(tmp_path: Path) -> None:
    assert becomes(tmp_path, "a.py", PYTHON) == {
        *{("0.02", "0.025"), ("40", "50"), ("0", "1"), ("1", "2"), ("1e-6", "1.25e-06")},
        *{("not", ""), ("or", "and"), ("and", "or"), ("<", "<="), ("is", "is not"), ("not in", "in"), ("+", "-")},
        ("False", "True"),
    }


def test_of_cpp_the_same_outside_of_comments_and_strings(tmp_path: Path) -> None:
    assert becomes(tmp_path, "a.cpp", CPP) == {
        *{("5'000", "6250"), ("4", "5"), ("<=", "<"), ("&&", "||"), ("!", ""), ("+", "-"), ("1.5", "1.875")},
        ("std::min", "std::max"),
    }


def test_a_change_is_told_by_its_line(tmp_path: Path) -> None:
    source = b"A = 1\n    B = 20 + A\n"
    mutation = mutations.Mutation(source.index(b"20"), source.index(b"20") + 2, "25")
    assert (mutation.line(source), mutation.words(source)) == (2, ("B = 20 + A", "B = 25 + A"))


def test_a_seed_draws_the_same_ones_again(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("\n".join(f"A{n} = {n}" for n in range(40)))
    target = mutants.Target("a.py", ())
    assert mutants.drawn(target, 5, 1, tmp_path) == mutants.drawn(target, 5, 1, tmp_path)
    assert mutants.drawn(target, 5, 1, tmp_path) != mutants.drawn(target, 5, 2, tmp_path)
    assert len(mutants.drawn(target, 99, 1, tmp_path)) == 40


@pytest.fixture
def copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace of one file, whose test looks at one of its two limits."""
    package = tmp_path / "src" / "made"
    package.mkdir(parents=True)
    (package / "limits.py").write_text("KNOWN = 3\nUNSEEN = 5\n")
    body = "    while limits.KNOWN == 4:\n        pass\n    assert limits.KNOWN == 3\n"
    (package / "test_limits.py").write_text(f"import limits\n\n\ndef test_it():\n{body}")
    monkeypatch.setattr(mutants, "COPY", tmp_path)
    monkeypatch.setattr(mutants, "SPARE_S", 1.0)
    return package


def test_what_a_test_notices_is_killed_and_the_file_stays(copy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A test that does not end notices, too."""
    before = (copy / "limits.py").read_bytes()
    target = mutants.Target("src/made/limits.py", ("src/made/test_limits.py",))
    assert mutants.run_tests(target, 60) == 0
    known = {("src/made/limits.py", "UNSEEN = 5", "UNSEEN = 6"): "nobody asks"}
    fates = mutants.try_file(target, 9, 1, {})
    assert sorted(fate for fate, _ in fates) == ["killed", "survived"]
    assert "survived  src/made/limits.py:2: UNSEEN = 5  ->  UNSEEN = 6" in capsys.readouterr().out
    assert sorted(fate for fate, _ in mutants.try_file(target, 9, 1, known)) == ["equal", "killed"]
    assert (copy / "limits.py").read_bytes() == before


def test_tests_that_fail_unchanged_say_so(copy: Path) -> None:
    (copy / "limits.py").write_text("KNOWN = 2\n")
    with pytest.raises(mutants.MutantsError, match=r"fail without any change: src/made/test_limits\.py"):
        mutants.try_file(mutants.Target("src/made/limits.py", ("src/made/test_limits.py",)), 9, 1, {})


def test_what_a_command_started_ends_with_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mutants, "COPY", tmp_path)
    assert mutants.run(["sh", "-c", "sleep 60 & echo $! > child; wait"], 2.0) == 124
    child = Path("/proc", (tmp_path / "child").read_text().strip(), "cmdline")
    until(lambda: not child.exists() or not child.read_bytes(), "the end of what it started")


def test_the_table_counts_what_was_tried() -> None:
    fates = [("a", "killed")] * 9 + [("a", "survived"), ("b", "not compiled"), ("b", "equal")]
    assert mutants.report(fates)[2:] == [
        "| a | 10 | 9 | 1 | 0 | 0 | 90 % |",
        "| b | 0 | 0 | 0 | 1 | 1 | - |",
        "| all | 10 | 9 | 1 | 1 | 1 | 90 % |",
    ]


def test_the_page_says_of_what_and_where_it_failed_and_the_recorded_one_is_short() -> None:
    survivors = ["src/a/b/c.py:3: X = 1  ->  X = 2"] * 2
    page = mutants.page(["| all |"], survivors, 8, 5, "0123abcd")
    assert "at most 8, drawn with seed 5, at commit 0123abcd" in page and "how many: b/c.py 2." in page
    assert len(mutants.PAGE.read_bytes()) <= 2500


def test_files_and_tests_of_the_table_exist_and_so_does_what_is_called_equal() -> None:
    for target in mutants.targets():
        assert target.tests and all((mutants.ROOT / name).is_file() for name in (target.file, *target.tests))
    possible: dict[str, set[tuple[str, str]]] = {}
    for (file, *words), why in mutants.equivalents().items():
        path = mutants.ROOT / file
        if file not in possible:
            possible[file] = {each.words(path.read_bytes()) for each in mutations.of_file(path)}
        assert tuple(words) in possible[file] and why, f"{file}: no such change any more: {words}"
    with pytest.raises(mutants.MutantsError, match="no file"):
        mutants.targets(["pqc_mav_nothing"])


def test_what_is_being_tried_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(mutants, "COPY", tmp_path)
    monkeypatch.setattr(sys, "argv", ["mutants.py", "--packages", "pqc_mav_detect"])
    assert mutants.main() == 2 and tmp_path.exists()
    assert "being tried already" in capsys.readouterr().err
