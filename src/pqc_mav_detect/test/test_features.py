# SPDX-License-Identifier: Apache-2.0
import pytest
from scenes import Scene

from pqc_mav_detect.channels import CHANNELS
from pqc_mav_detect.features import KINDS, NAMES, Features


def test_means_and_maxima_over_both_spans() -> None:
    features, scene = Features(), Scene()
    for window in [*scene.run(4.5), *scene.run(0.5, drop_auth_fail=100.0)]:
        features.push(window)
    row = dict(zip(NAMES, features.vector(), strict=True))
    assert row["forged.now"] == row["forged.max_0.5s"] == row["forged.max_5s"] == pytest.approx(100)
    assert row["forged.mean_0.5s"] == pytest.approx(100, abs=25) and row["forged.mean_5s"] == pytest.approx(10, abs=2.5)
    assert row["opened.mean_5s"] == pytest.approx(320, abs=2)


def test_now_is_the_newest_window() -> None:
    features, scene = Features(), Scene()
    for rate in (0.0, 0.0, 50.0, 10.0):
        for window in scene.run(0.1, drop_auth_fail=rate):
            features.push(window)
    row = dict(zip(NAMES, features.vector(), strict=True))
    assert row["forged.now"] == pytest.approx(10) and row["forged.max_0.5s"] == pytest.approx(50)


def test_the_vector_has_its_names_and_is_empty_at_first() -> None:
    assert len(NAMES) == len(set(NAMES)) == len(CHANNELS) * len(KINDS)
    features = Features()
    assert features.vector() == [0.0] * len(NAMES)
    features.push(Scene().run(0.2)[0])
    features.clear()
    assert features.vector() == [0.0] * len(NAMES)
