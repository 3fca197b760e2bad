# SPDX-License-Identifier: Apache-2.0
from pqc_mav_sensing.detailed import LEAST_S, MOST_S, Detailed


def test_it_counts_for_a_gap_and_a_half() -> None:
    detailed = Detailed()
    assert not detailed.counts(0.0)
    detailed.heard(0.0)
    assert detailed.counts(LEAST_S) and not detailed.counts(LEAST_S + 0.01)
    for at_s in (2.02, 4.03):
        detailed.heard(at_s)
    assert detailed.counts(4.03 + 3.0) and not detailed.counts(4.03 + 3.1)
    detailed.heard(100.0)
    assert detailed.counts(100.0 + MOST_S) and not detailed.counts(100.0 + MOST_S + 0.01)
    detailed.heard(100.2)
    assert detailed.limit_s == LEAST_S
