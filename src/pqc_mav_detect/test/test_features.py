# SPDX-License-Identifier: Apache-2.0
import pytest
from scenes import Scene

from pqc_mav_detect.features import Features


def test_means_and_maxima_over_both_spans() -> None:
    features, scene = Features(), Scene()
    for window in [*scene.run(4.5), *scene.run(0.5, drop_auth_fail=100.0)]:
        features.push(window)
    assert features.most("forged", 0.5) == features.most("forged", 5.0) == pytest.approx(100)
    assert features.mean("forged", 0.5) == pytest.approx(100, abs=25)
    assert features.mean("forged", 5.0) == pytest.approx(10, abs=2.5)
    assert features.mean("opened", 5.0) == pytest.approx(320, abs=2)


def test_a_short_span_has_the_newest_windows() -> None:
    features, scene = Features(), Scene()
    for rate in (0.0, 0.0, 50.0, 10.0):
        for window in scene.run(0.1, drop_auth_fail=rate):
            features.push(window)
    assert features.mean("forged", 0.1) == pytest.approx(10) and features.most("forged", 0.5) == pytest.approx(50)


def test_there_is_nothing_at_first_and_after_a_break() -> None:
    features = Features()
    assert features.mean("opened", 5.0) == features.most("opened", 5.0) == 0.0
    features.push(Scene().run(0.2)[0])
    assert features.mean("opened", 5.0) > 0
    features.clear()
    assert features.mean("opened", 5.0) == features.most("opened", 5.0) == 0.0
