# SPDX-License-Identifier: Apache-2.0

import pytest
from scenes import LEAST, Scene

from pqc_mav_detect.channels import CHANNELS, SUMMED
from pqc_mav_detect.dataset import Row
from pqc_mav_detect.rules import thresholds


def rows(**rates: float) -> list[Row]:
    return [Row("r", "gcs", "", "", window) for window in Scene().run(20.0, **rates)]


def test_what_was_normal_is_allowed_with_room_to_spare() -> None:
    learned = {name: threshold for name, (threshold, _) in thresholds.learn([rows(hs_limit=4.0)]).items()}
    assert learned["hs_strange"].allowance == pytest.approx(6.0, rel=0.3)
    assert learned["hs_strange"].limit >= LEAST["hs_strange"].limit
    assert learned["forged"] == LEAST["forged"], "where nothing was seen, the least there may be"


def test_the_limit_is_twice_what_was_normal() -> None:
    scene = Scene()
    burst = [*scene.run(10.0, hs_limit=0.0), *scene.run(1.0, hs_limit=100.0), *scene.run(5.0)]
    threshold, normal = thresholds.learn([[Row("r", "gcs", "", "", each) for each in burst]])["hs_strange"]
    assert normal.mean == pytest.approx(100.0 / 5) and threshold.allowance == pytest.approx(1.5 * normal.mean)
    assert normal.surplus == pytest.approx(100.0 - threshold.allowance)
    assert threshold.limit == pytest.approx(2 * normal.surplus, rel=0.01)


def test_the_table_can_be_read_again() -> None:
    learned = thresholds.learn([rows()])
    assert thresholds.parse(thresholds.text(learned)) == {name: threshold for name, (threshold, _) in learned.items()}


def test_nothing_to_learn_from() -> None:
    with pytest.raises(ValueError, match="no windows"):
        thresholds.learn([[]])


@pytest.mark.parametrize("change", [("forged,", "forget,"), ("forged,1/s,0.2,3", "forged,1/s,0.2,0")])
def test_a_table_without_a_channel_is_refused(change: tuple[str, str]) -> None:
    table = thresholds.text(thresholds.learn([rows()]))
    assert change[0] in table
    with pytest.raises(ValueError, match="forged"):
        thresholds.parse(table.replace(*change))


def test_the_shipped_table_is_no_stricter_than_it_may_be() -> None:
    for name, threshold in thresholds.shipped().items():
        assert threshold.allowance >= CHANNELS[name].allowance and threshold.limit >= CHANNELS[name].limit
    assert set(thresholds.shipped()) == set(SUMMED)
