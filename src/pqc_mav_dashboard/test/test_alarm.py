# SPDX-License-Identifier: Apache-2.0
"""The bar of alarms by itself: which of them are new, and when there is a sound."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from browser import Page, page_in
from ends import Dashboard

pytestmark = pytest.mark.timeout(300)
# A bar of its own, with the sound on, that no timer moves.
BAR = """
const { AlarmBar } = await import("/js/alarm.js");
window.setInterval = () => 0;
const root = document.createElement("section"), button = document.createElement("button");
const bar = new AlarmBar(root, button);
bar.switch(true);
const alarm = (number) => [`d${number}`, "lost", "DOWN: the tunnel was lost"];
const sounds = () => Number(button.dataset.sounds);
const said = () => root.innerText || root.textContent;
"""


@pytest.fixture(scope="module")
def page(own_domain: None) -> Iterator[Page]:
    dashboard = Dashboard("--no-ros")
    with page_in() as made:
        yield made.open(f"{dashboard.url}/")
    dashboard.kill()


def test_a_new_alarm_among_many_is_loud(page: Page) -> None:
    said = page.browser.run_async(
        BAR
        + """
        const first = [...Array(50).keys()].map(alarm);
        bar.take({ first, others: [] }, false);
        bar.quieten();
        const before = bar.loud;
        bar.take({ first, others: [["d99", "attack"]] }, false);
        const during = bar.loud;
        bar.quieten();
        return [before, during, bar.loud, said()];
        """
    )
    assert said[:3] == [False, True, False] and said[3].startswith("51 alarms") and "and 48 more" in said[3]


def test_the_sound_waits_for_no_timer(page: Page) -> None:
    """A browser lets those of a hidden page wait for a minute."""
    said = page.browser.run_async(
        BAR
        + """
        const heard = [sounds()];
        bar.take({ first: [alarm(1)], others: [] }, false);
        heard.push(sounds());
        bar.take({ first: [alarm(1)], others: [] }, false);
        bar.beat();
        heard.push(sounds());
        bar.quieten();
        bar.beat();
        bar.take({ first: [alarm(2)], others: [] }, true);
        return [...heard, sounds()];
        """
    )
    assert said == [1, 2, 3, 3], "to try it, a new one, again and again, and none once seen or of a recording"
