# SPDX-License-Identifier: Apache-2.0
import pytest

from pqc_mav_cli.wording import both_names, counted, outcome, short_code

SUITE = "cs-mlkem768-aesgcm-mldsa65"


def test_the_short_code_comes_first() -> None:
    assert short_code(SUITE) == "ML-768-AG-MD-65"
    assert both_names(SUITE) == f"ML-768-AG-MD-65 ({SUITE})"


@pytest.mark.parametrize("unknown", ["", "cs-of-another-version"])
def test_what_is_unknown_stays_as_it_is(unknown: str) -> None:
    assert short_code(unknown) == both_names(unknown) == unknown


def test_a_rekey_says_how_long_its_suite_stays_and_what_goes_before_it() -> None:
    """A policy in mode manual: controller.py asks for the suite pinned there, whatever a rekey pinned."""
    assert "\n" not in outcome(SUITE, 3, 12.5)
    _, stays = outcome(SUITE, 3, 12.5, 600.0).splitlines()
    assert "for 600 s; in mode manual it goes back to the suite that is pinned there." in stays


@pytest.mark.parametrize(
    ("number", "words", "shown"),
    [
        (0, ("drone",), "0 drones"),
        (1, ("drone",), "1 drone"),
        (1200, ("drone",), "1,200 drones"),
        (1, ("switch", "switches"), "1 switch"),
        (2, ("switch", "switches"), "2 switches"),
    ],
)
def test_counts_agree_with_their_nouns(number: int, words: tuple[str, ...], shown: str) -> None:
    assert counted(number, *words) == shown
