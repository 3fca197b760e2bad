# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from pqc_mav_bench.models import ValidationError
from pqc_mav_bench.schema.field import Side, category, fields, read

TABLE = """field,type,unit,side,meaning,zero is normal if
sample.speed,number,m/s,drone,how fast,it stands
sample.wheels,integer,count,gcs,how many,
sample.loud,flag,,gcs,noise,
sample.name,text,,gcs,"what it is called, if at all",
sample.parts,counts,count,gcs,parts by kind,
"""


def test_kinds_units_and_sides_come_from_the_table():
    speed, wheels, loud, name, parts = read(TABLE.splitlines())
    assert (speed.category, speed.name, speed.unit, speed.side, speed.zero) == (
        "sample", "speed", "m/s", Side.DRONE, "it stands",
    )  # fmt: skip
    assert wheels.side is Side.GCS and name.meaning == "what it is called, if at all"
    assert [field.numeric for field in (speed, wheels, loud, name, parts)] == [True, True, True, False, False]
    assert [field.flat for field in (speed, wheels, loud, name, parts)] == [True, True, True, True, False]


def test_a_category_is_a_model_of_its_rows():
    kind = category("Sample", "Z", "of the test.", read(TABLE.splitlines()))
    made = kind(speed=2, parts={"wheel": 3})
    assert (kind.letter, kind.__doc__, made.speed, made.wheels) == ("Z", "Z: of the test.", 2.0, None)
    for wrong in ({"wings": 2}, {"wheels": "many"}, {"parts": {"wheel": "three"}}, {"speed": float("nan")}):
        with pytest.raises(ValidationError):
            kind(**wrong)
    with pytest.raises(ValidationError):
        made.wheels = "four"


def test_no_field_is_there_twice():
    paths = [field.path for field in fields()]
    assert len(set(paths)) == len(paths)
