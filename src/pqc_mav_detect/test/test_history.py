# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest
from scenes import Scene

from pqc_mav_detect.features import Features
from pqc_mav_detect.history import LONG, NAMES, OWN, History


@pytest.mark.parametrize("windows", [1, 3, 60, 900])
def test_the_figures_are_those_of_the_features(windows: int) -> None:
    scene, history, features = Scene(), History(), Features()
    made = scene.run(windows / 10 + 1.0, drop_replay=7.0, hs_gate=30.0, drop_malformed=3.0)[:windows]
    for window in made:
        history.push(window)
        features.push(window)
    found = dict(zip(NAMES, history.features(), strict=True))
    assert found["replayed.mean_5s"] == pytest.approx(features.mean("replayed", 5.0), rel=1e-5)
    assert found["hs_strange.max_0.5s"] == pytest.approx(features.most("hs_strange", 0.5), rel=1e-6)
    assert found["garbage.now"] == pytest.approx(made[-1].values["garbage"], rel=1e-6)
    share = features.mean("replayed", 5.0) / (features.mean("opened", 5.0) + 1)
    assert found["replayed.share_5s"] == pytest.approx(share, rel=1e-4)


def test_what_is_the_vehicles_own_affair_is_not_shown() -> None:
    assert not [name for name in NAMES if name.partition(".")[0] in OWN and "share" not in name]


def test_only_the_newest_are_kept() -> None:
    history = History(LONG)
    for window in Scene().run(100.0):
        history.push(window)
    assert history.newest(LONG).shape == (LONG, history.newest(1).shape[1])
    assert len(history.newest(10 * LONG)) == LONG
    history.clear()
    assert np.size(history.newest(5)) == 0
