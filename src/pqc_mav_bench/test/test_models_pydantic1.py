# SPDX-License-Identifier: Apache-2.0
"""The benchmark's models under pydantic 1 behave as they do under pydantic 2."""

from __future__ import annotations

import subprocess
import sys

import pytest
from pydantic import VERSION

from pqc_mav_bench import models, models_pydantic1
from pqc_mav_bench.errors import BenchError

# The whole schema on pydantic 1: in a process of its own, since the models of this one are made already.
WHOLE = """
import sys
from pqc_mav_bench import models_pydantic1
sys.modules["pqc_mav_bench.models"] = models_pydantic1
from pqc_mav_bench.options import options_from
from pqc_mav_bench.schema.document import page
from pqc_mav_bench.schema.run import RunMetrics, all_fields, parse_run
assert issubclass(RunMetrics, models_pydantic1.BaseModel)
run = RunMetrics()
run.handshake.handshake_ms = 7
assert parse_run(run.model_dump(mode="json")) == run
options = options_from({"suites": ["x"], "workload": {"kind": "bulk"}})
assert options_from(options.model_dump(mode="json")) == options
print(len(list(all_fields())), page()[-2000:])
"""


def models_of(kind):
    class Inner(kind.BaseModel):
        model_config = kind.ConfigDict(extra="forbid", frozen=True)
        size: int = kind.Field(4, ge=1, le=9, description="how big")

    class Outer(kind.BaseModel):
        model_config = kind.ConfigDict(extra="forbid", validate_assignment=True, allow_inf_nan=False)
        ratio: float | None = kind.Field(default=None, json_schema_extra={"unit": "1"})
        name: str = kind.Field("", pattern=r"^[a-z]*$", max_length=4)
        names: list[str] = kind.Field(["a"], min_length=1)
        inner: Inner = kind.Field(default_factory=lambda: Inner.model_validate({}))

        @kind.field_validator("names")
        @classmethod
        def _known(cls, names):
            if "b" in names:
                raise ValueError("there is no b")
            return names

    Outer.model_rebuild(_types_namespace={"Inner": Inner}) if hasattr(Outer, "model_rebuild") else (
        Outer.update_forward_refs(Inner=Inner)
    )
    return Outer


@pytest.fixture(params=[models, models_pydantic1], ids=["installed", "pydantic1"])
def outer(request):
    return request.param, models_of(request.param)


def test_values_documents_and_fields(outer):
    _, kind = outer
    made = kind.model_validate({"ratio": 1, "inner": {"size": 2}})
    assert made.model_dump(mode="json") == {"ratio": 1.0, "name": "", "names": ["a"], "inner": {"size": 2}}
    assert kind.model_validate(made.model_dump()) == made
    fields = kind.model_fields
    assert fields["ratio"].json_schema_extra == {"unit": "1"} and list(fields) == ["ratio", "name", "names", "inner"]
    made.ratio = 2
    assert made.ratio == 2.0


@pytest.mark.parametrize(
    "data",
    [
        {"ratio": "much"},
        {"ratio": float("nan")},
        {"ratio": float("inf")},
        {"name": 7},
        {"name": "UP"},
        {"name": "abcde"},
        {"names": []},
        {"names": ["b"]},
        {"inner": {"size": 2.5}},
        {"inner": {"size": 10}},
        {"inner": {"sise": 2}},
        {"other": 1},
    ],
    ids=str,
)
def test_both_refuse_the_same(outer, data):
    models_used, kind = outer
    with pytest.raises(models_used.ValidationError) as caught:
        kind.model_validate(data)
    (first,) = caught.value.errors()
    assert str(first["loc"][0]) == next(iter(data)) and first["msg"]


def test_what_is_no_document_is_refused(outer):
    models_used, kind = outer
    with pytest.raises(models_used.ValidationError) as caught:
        kind.model_validate([])
    assert caught.value.errors()[0]["loc"] == ()


def test_an_assignment_is_checked_and_what_is_frozen_stays(outer):
    models_used, kind = outer
    made = kind()
    with pytest.raises(models_used.ValidationError):
        made.ratio = "much"
    with pytest.raises((models_used.ValidationError, TypeError)):
        made.inner.size = 3


def test_the_whole_schema_works_on_pydantic_1():
    ended = subprocess.run([sys.executable, "-c", WHOLE], capture_output=True, text=True, timeout=60)
    assert ended.returncode == 0, ended.stderr
    from pqc_mav_bench.schema.document import page
    from pqc_mav_bench.schema.run import all_fields

    assert ended.stdout.strip() == f"{len(list(all_fields()))} {page()[-2000:]}".strip()


@pytest.mark.skipif(VERSION.startswith("1."), reason="this is pydantic 1")
def test_what_pydantic_1_cannot_do_it_says():
    with pytest.raises(BenchError, match="needs pydantic 2"):
        models_of(models_pydantic1).model_json_schema()
