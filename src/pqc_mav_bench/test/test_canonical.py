# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import hashlib
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pqc_mav_bench.canonical import canonical, run_sha256, sha256

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


def test_the_form_is_sorted_dense_and_utf8():
    assert canonical({"b": [1, 2.5], "a": "ü"}) == '{"a":"ü","b":[1,2.5]}'.encode()
    assert sha256({}) == hashlib.sha256(b"{}").hexdigest()


@settings(max_examples=50, deadline=None)
@given(VALUES)
def test_writing_and_reading_do_not_change_the_hash(value):
    assert sha256(json.loads(json.dumps(value, indent=3))) == sha256(value)


def test_nan_has_no_canonical_form():
    with pytest.raises(ValueError):
        canonical({"x": float("nan")})


def test_a_run_is_hashed_without_its_own_hash_but_with_the_rest_of_its_integrity():
    run = {"x": 1, "integrity": {"algorithm": "sha256", "sha256": ""}}
    signed = {"x": 1, "integrity": {"algorithm": "sha256", "sha256": run_sha256(run)}}
    assert run_sha256(signed) == run_sha256(run)
    assert run_sha256({**signed, "x": 2}) != run_sha256(run)
    assert run_sha256({"x": 1, "integrity": {"algorithm": "md5", "sha256": ""}}) != run_sha256(run)
