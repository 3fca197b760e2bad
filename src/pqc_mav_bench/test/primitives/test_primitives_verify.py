# SPDX-License-Identifier: Apache-2.0
"""A result of the primitive benchmark is verified from its samples; whatever was changed in it is found."""

from __future__ import annotations

import copy
import json
import time

import pytest

from pqc_mav_bench.errors import StoreError
from pqc_mav_bench.primitives import benchmark
from pqc_mav_bench.primitives import result as result_file
from pqc_mav_bench.primitives.operations import Operation
from pqc_mav_bench.primitives.verify import result_in, verify_primitives
from pqc_mav_bench.store import MANIFEST, write_json


def waiting(label: str) -> Operation:
    return Operation("KEM", label, label, "wait", None, lambda count: lambda: time.sleep(0.0002 * count))


@pytest.fixture(scope="module")
def result():
    return benchmark.measure([waiting("A"), waiting("B")], 12, 1, None, lambda *_: None)


def problems(result, folder, change=None, *, signed=True) -> list[str]:
    """The names of what is found in a result that `change` had in its hands, signed anew or not."""
    data = copy.deepcopy(dict(result))
    if change is not None:
        change(data)
    write_json(folder / result_file.RESULT, result_file.signed(data) if signed else data)
    return [problem.name for problem in verify_primitives(folder / result_file.RESULT).problems]


def test_what_was_written_verifies_with_its_table(result, tmp_path):
    result_file.write(result, tmp_path)
    verdict = verify_primitives(tmp_path / result_file.RESULT)
    assert (verdict.passed, verdict.operations, verdict.samples) == (True, 2, 24)
    assert problems(result_file.named(result, "some machine"), tmp_path) == []


@pytest.mark.parametrize("name", ["median", "ci_low", "ci_high", "mean", "std", "min", "p5", "p95", "max"])
def test_each_figure_follows_from_the_samples(result, tmp_path, name):
    def change(data):
        data["operations"][1][f"{name}_us"] *= 1.5

    assert problems(result, tmp_path, change) == ["figures"]
    assert problems(result, tmp_path, change, signed=False) == ["hash", "figures"]


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (lambda data: data["operations"][0]["samples_us"].pop(), "figures"),
        (lambda data: data["operations"][0]["samples_us"].__setitem__(0, -1.0), "figures"),
        (lambda data: data["method"].update(n=200), "figures"),
        (lambda data: data["operations"].append(data["operations"][0]), "operations"),
        (lambda data: data["operations"][0].update(energy_uj=3.0), "operations"),
        (lambda data: data.update(energy_status="measured by a sensor"), "operations"),
        (lambda data: data["operations"][0].pop("p95_us"), "schema"),
        (lambda data: data["operations"][0].update(inner=0), "schema"),
        (lambda data: data.update(result_version="9.9"), "schema"),
        (lambda data: data.update(more=1), "schema"),
    ],
)
def test_what_does_not_fit_is_found_even_when_signed_anew(result, tmp_path, change, found):
    assert found in problems(result, tmp_path, change)


def test_a_table_of_other_figures_is_found(result, tmp_path):
    result_file.write(result, tmp_path)
    table = tmp_path / result_file.TABLE
    table.write_text(table.read_text().replace("wait", "run"))
    assert [each.name for each in verify_primitives(tmp_path / result_file.RESULT).problems] == ["table"]
    table.unlink()
    assert verify_primitives(tmp_path / result_file.RESULT).passed


def test_a_file_that_is_none_is_named(tmp_path):
    path = tmp_path / result_file.RESULT
    write_json(path, [1])
    assert [each.name for each in verify_primitives(path).problems] == ["schema"]
    path.write_bytes(b"no gzip")
    with pytest.raises(StoreError):
        verify_primitives(path)


def test_a_path_means_the_result_unless_it_is_a_campaign(result, tmp_path):
    assert result_in(tmp_path) is None
    problems(result, tmp_path)
    assert result_in(tmp_path) == result_in(tmp_path / result_file.RESULT) == tmp_path / result_file.RESULT
    (tmp_path / MANIFEST).write_text(json.dumps({}))
    assert result_in(tmp_path) is None
