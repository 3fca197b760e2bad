# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from pqc_mav_detect.channels import CHANNELS
from pqc_mav_detect.classes import FORGERY, ON_PATH
from pqc_mav_detect.dataset import Row
from pqc_mav_detect.examples import AFTER_S, UNSURE, targets
from pqc_mav_detect.learned import OUTPUTS
from pqc_mav_detect.window import Window


def rows(*spans: tuple[float, str, float]) -> list[Row]:
    """Each span: seconds, episode, value of the channel that shows it."""
    found: list[Row] = []
    for seconds, episode, value in spans:
        channel = "forged" if episode == FORGERY else "loss_beyond"
        for _ in range(round(seconds * 10)):
            values = {**dict.fromkeys(CHANNELS, 0.0), channel: value if episode else 0.0}
            found.append(Row("r", "gcs", episode, episode, Window(len(found) / 10, 0.1, values)))
    return found


def test_an_attack_is_one_when_something_of_it_has_come() -> None:
    found = targets(rows((10.0, "", 0.0), (4.0, FORGERY, 0.0), (4.0, FORGERY, 5.0), (10.0, "", 0.0)))
    assert set(found[:100]) == {0}
    assert set(found[100:140]) == {UNSURE}
    assert set(found[140:180]) == {OUTPUTS.index(FORGERY)}
    after = found[180:]
    assert set(after[: int(AFTER_S * 10) - 1]) == {UNSURE} and set(after[int(AFTER_S * 10) + 1 :]) == {0}


def test_what_happens_to_the_link_shows_later() -> None:
    found = targets(rows((5.0, "", 0.0), (4.0, ON_PATH, 0.2)))
    assert set(found[50:64]) == {UNSURE} and set(found[66:]) == {OUTPUTS.index(ON_PATH)}
