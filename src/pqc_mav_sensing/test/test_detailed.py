# SPDX-License-Identifier: Apache-2.0
from pqc_mav_sensing.detailed import LEAST_S, MOST_S, Detailed


def test_it_counts_for_a_usual_gap_and_a_half() -> None:
    detailed = Detailed()
    assert not detailed.counts(0.0)
    detailed.heard(0.0)
    assert detailed.counts(LEAST_S) and not detailed.counts(LEAST_S + 0.01)
    for at_s in (2.02, 4.03):
        detailed.heard(at_s)
    assert detailed.counts(4.03 + 3.0) and not detailed.counts(4.03 + 3.1)
    detailed.heard(100.0)
    assert detailed.counts(100.0 + 3.0) and not detailed.counts(100.0 + 3.1), "one silence is not how they come"
    for number in range(1, 4):
        detailed.heard(100.0 + 50.0 * number)
    assert detailed.counts(250.0 + MOST_S) and not detailed.counts(250.0 + MOST_S + 0.01)
    for number in range(1, 4):
        detailed.heard(250.0 + 0.2 * number)
    assert not detailed.counts(250.6 + LEAST_S + 0.01)
