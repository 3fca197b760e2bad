# SPDX-License-Identifier: Apache-2.0
"""The page works in every browser that is installed; test_page.py tries the rest in the first of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from browser import NAMES, Page, page_in
from ends import DRONE, Dashboard, Pair

pytestmark = pytest.mark.timeout(300)


@pytest.fixture(scope="module", params=NAMES)
def page(request: pytest.FixtureRequest) -> Iterator[Page]:
    with page_in(request.param) as made:
        yield made


@pytest.fixture(scope="module")
def dashboard(pair: Pair) -> Iterator[Dashboard]:
    made = Dashboard("--no-ros", environment=pair.environment)
    yield made
    made.kill()


@pytest.mark.parametrize("width", [390, 1280])
def test_it_shows_the_fleet_and_a_drone(page: Page, dashboard: Dashboard, width: int) -> None:
    page.open(f"{dashboard.url}/", width).says("1 drone, all well")
    page.says("live", "#connection")
    page.is_good(f"{page.browser.name}-fleet-{width}")
    page.click("a", DRONE)
    page.says("The tunnel is well.")
    page.until("document.querySelectorAll('.plot canvas').length >= 4", what="charts")
    page.is_good(f"{page.browser.name}-drone-{width}")


def test_an_action_is_done(page: Page, dashboard: Dashboard, pair: Pair) -> None:
    page.open(f"{dashboard.url}/#/drone/{DRONE}").says("The tunnel is well.")
    before = pair.status("drone")["epoch"]
    page.click("button", "Actions")
    page.enter("input", "Token, printed", dashboard.token, whole=False)
    page.click("button", "Rekey")
    page.says(f"epoch {before + 1}, after", "dialog")


def test_a_fault_is_said(page: Page, dashboard: Dashboard) -> None:
    """Nobody is left at "connecting" without a reason."""
    page.open(f"{dashboard.url}/").says("1 drone, all well")
    page.run("const s = document.createElement('script'); s.src = '/js/nowhere.js'; document.head.append(s);")
    page.says("This page has a fault in this browser", "#fault")
    page.says("nowhere.js", "#fault")


def test_a_language_that_is_none_stops_nothing(page: Page, dashboard: Dashboard) -> None:
    """WebKitGTK is started under the locale C.UTF-8, of which it makes the language 'C'."""
    if page.browser.name != "webkit":
        pytest.skip("the other browsers have a language of their own")
    page.open(f"{dashboard.url}/").says("1 drone, all well")
    assert page.run("return navigator.language") == "en"


def test_the_modules_are_told_of_before_they_run() -> None:
    """What says the faults of the other scripts comes first."""
    import pqc_mav_dashboard

    text = (Path(pqc_mav_dashboard.__file__).parent / "static" / "index.html").read_text(encoding="utf-8")
    assert text.index("<script") == text.index('<script src="/js/first.js"')
