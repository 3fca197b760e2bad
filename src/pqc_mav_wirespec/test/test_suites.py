# SPDX-License-Identifier: Apache-2.0
import pytest

from pqc_mav_wirespec.errors import SuiteError
from pqc_mav_wirespec.oqs_library import library_name, library_version
from pqc_mav_wirespec.suites import ALL_SUITES, CORE_SUITES, KEMS, SIGS, Edition, find_suite, suite_by_id


def test_there_are_72_core_and_132_published_suites_under_distinct_names():
    published = [suite for suite in ALL_SUITES if suite.published]
    assert (len(CORE_SUITES), len(published), len(ALL_SUITES)) == (72, 132, 234)
    assert len({suite.id for suite in ALL_SUITES} | {suite.short_code for suite in ALL_SUITES}) == 2 * 234


def test_no_suite_has_both_an_algorithm_and_a_successor_of_another():
    assert not any(suite.editions >= {Edition.SUPERSEDED, Edition.LATER} for suite in ALL_SUITES)


def test_levels_agree_within_each_suite():
    assert all(suite.kem.level == suite.sig.level for suite in ALL_SUITES)


def test_wire_ids_are_distinct_per_table():
    for table in (KEMS, SIGS):
        assert len({(row.family_id, row.param_id) for row in table}) == len(table)


@pytest.mark.parametrize(
    ("short_code", "suite_id", "header_ids"),
    [
        ("ML-768-AG-MD-65", "cs-mlkem768-aesgcm-mldsa65", "01020102"),
        ("MC-8192-AS-SP-256f", "cs-classicmceliece8192128-ascon128a-sphincs256fsha2", "03030306"),
        ("ML-768-AA-MD-65", "cs-mlkem768-asconaead128-mldsa65", "01020102"),
        ("FR-640A-CP-FA-512", "cs-frodokem640aes-chacha20poly1305-falcon512", "04010201"),
        ("HQC-1-CP-SL-128f", "cs-hqc1-chacha20poly1305-slhdsa128f", "05010404"),
        ("HQC-256-AG-SP-256s", "cs-hqc256-aesgcm-sphincs256s", "02030303"),
    ],
)
def test_names_and_ids(short_code, suite_id, header_ids):
    suite = find_suite(short_code)
    assert suite is find_suite(suite_id) is suite_by_id(suite_id)
    assert (suite.id, suite.header_ids.hex()) == (suite_id, header_ids)


def test_the_wire_knows_no_short_codes():
    assert suite_by_id("ML-768-AG-MD-65") is None


def test_unknown_name_gets_the_closest():
    with pytest.raises(SuiteError, match="cs-mlkem768-aesgcm-mldsa65"):
        find_suite("cs-mlkem768-aesgcm-mldsa66")


def test_the_liboqs_that_is_built_has_every_published_algorithm():
    lacking = [row for row in (*KEMS, *SIGS) if library_name(row) is None]
    if library_version() == "0.13.0":
        assert {row.edition for row in lacking} == {Edition.LATER}
