# SPDX-License-Identifier: Apache-2.0
"""The page in a browser: what it shows at two widths, in light and dark, with the keyboard alone, and to axe-core."""

from __future__ import annotations

import http.server
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browser import Page, axe, chromium, needs_chromium
from ends import DRONE, Dashboard, Pair
from fake_engine import FakeEngine
from flight import record

from pqc_mav_common.free_ports import own_run_folder
from pqc_mav_common.testing import until

pytestmark = [needs_chromium, pytest.mark.timeout(300)]
EACH = pytest.mark.parametrize(("width", "scheme"), [(390, "light"), (390, "dark"), (1280, "light"), (1280, "dark")])


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as made:
        yield made


@pytest.fixture(scope="module")
def dashboard(pair: Pair) -> Iterator[Dashboard]:
    made = Dashboard("--no-ros", environment=pair.environment)
    yield made
    made.kill()


@pytest.fixture
def replay(tmp_path: Path) -> Iterator[Dashboard]:
    pytest.importorskip("rclpy", reason="the recording of the test is made with ROS messages")
    made = Dashboard("--replay", str(record(tmp_path / "flight.mcap")))
    yield made
    made.kill()


@pytest.fixture(scope="module")
def fleet() -> Iterator[Dashboard]:
    with own_run_folder() as environment:
        engine = FakeEngine(Path(environment["PQCMAV_RUN_DIR"]), 1000)
        made = Dashboard("--no-ros", environment=environment)
        yield made
        made.kill()
        engine.close()


def is_good(page: Page, name: str) -> None:
    """Nothing that axe-core, the console or a narrow window would mind, and nothing fetched from elsewhere."""
    page.shot(name)
    assert page.violations() == []
    assert page.complaints == [] and page.foreign == []
    assert page.too_wide() <= 0


@EACH
def test_the_fleet_at_every_width(browser: Any, fleet: Dashboard, width: int, scheme: str) -> None:
    page = Page(browser, f"{fleet.url}/", width, scheme, axe_text=axe())
    page.page.get_by_text("1,000 drones, 228 in trouble").wait_for()
    is_good(page, f"fleet-{width}-{scheme}")
    page.close()


@EACH
def test_one_drone_at_every_width(browser: Any, dashboard: Dashboard, width: int, scheme: str) -> None:
    page = Page(browser, f"{dashboard.url}/#/drone/{DRONE}", width, scheme, axe_text=axe())
    page.page.get_by_text("The tunnel is well.").wait_for()
    page.page.get_by_role("cell", name="ML-768-AG-MD-65").first.wait_for()
    assert page.page.get_by_text("ROS topics are not listened to").count() >= 2, "absent, with the reason"
    is_good(page, f"drone-{width}-{scheme}")
    page.page.get_by_role("button", name="Actions").click()
    page.page.get_by_role("heading", name=f"Actions for {DRONE}").wait_for()
    is_good(page, f"actions-{width}-{scheme}")
    page.close()


@EACH
def test_a_recording_at_every_width(browser: Any, replay: Dashboard, width: int, scheme: str) -> None:
    page = Page(browser, f"{replay.url}/#/drone/d1", width, scheme, axe_text=axe())
    slider = page.page.get_by_label("Time in the recording")
    slider.wait_for()
    page.page.get_by_role("button", name="Pause").click()
    page.page.get_by_role("button", name="Play").wait_for()
    slider.fill("100")
    slider.dispatch_event("change")
    page.page.get_by_text("attack: replay").first.wait_for()
    page.page.get_by_text("1:40 of 2:00").wait_for()
    condition = page.page.get_by_role("row", name="emergency battery 13.5 V < 14 V yes")
    condition.wait_for()
    page.page.get_by_text("Limits are the default values").wait_for()
    is_good(page, f"replay-{width}-{scheme}")
    page.page.get_by_role("button", name="Play").click()
    page.close()


def test_a_thousand_rows_are_few_elements_and_worst_first(browser: Any, fleet: Dashboard) -> None:
    page = Page(browser, f"{fleet.url}/")
    rows = page.page.locator(".rows .row:visible")
    page.page.get_by_text("1,000 drones").wait_for()
    assert rows.count() < 60
    assert rows.first.locator(".c-state").inner_text() == "DOWN"
    assert page.page.get_by_role("grid").get_attribute("aria-rowcount") == "1001"
    # The last rows are the well ones; a row's place is told to those who do not see it.
    page.page.get_by_role("grid").focus()
    page.page.keyboard.press("End")
    page.page.get_by_role("row", name="drone0999", exact=False).wait_for()
    assert page.page.locator(".row.active").get_attribute("aria-rowindex") == "1001"
    assert page.page.locator(".rows .row:visible").count() < 60
    page.close()


def test_sorting_puts_the_unknown_last(browser: Any, fleet: Dashboard) -> None:
    page = Page(browser, f"{fleet.url}/")
    page.page.get_by_text("1,000 drones").wait_for()
    page.page.get_by_role("button", name="RTT").click()
    header = page.page.get_by_role("columnheader", name="RTT")
    assert header.get_attribute("aria-sort") == "descending"
    first = page.page.locator(".rows .row:visible").first.locator(".c-rtt_ms")
    until(lambda: first.inner_text() == "49 ms", "the longest first")
    page.page.get_by_role("button", name="RTT").click()
    until(lambda: first.inner_text() == "20 ms", "the shortest first")
    assert header.get_attribute("aria-sort") == "ascending"
    page.page.get_by_label("Show").fill("drone0777")
    until(lambda: page.page.locator(".rows .row:visible").count() == 1, "one row is left")
    page.page.get_by_label("Show").fill("")
    until(lambda: page.page.locator(".rows .row:visible").count() > 1, "all rows are back")
    page.page.get_by_role("grid").focus()
    page.page.keyboard.press("End")
    until(lambda: page.page.locator(".row.active .c-rtt_ms").inner_text() == "–", "unknown comes last")
    page.close()


def test_with_the_keyboard_alone(browser: Any, dashboard: Dashboard, pair: Pair) -> None:
    """From the fleet to a drone and to new keys, without a pointer."""
    page = Page(browser, f"{dashboard.url}/")
    page.page.get_by_text("1 drone, all well").wait_for()

    def tab_to(what: str) -> None:
        for _ in range(40):
            page.page.keyboard.press("Tab")
            said = page.page.evaluate("e => document.activeElement.getAttribute('aria-label') || "
                                      "document.activeElement.id || document.activeElement.textContent")  # fmt: skip
            if said == what:
                return
        raise AssertionError(f"Tab never comes to {what!r}")

    tab_to("Fleet")
    page.page.keyboard.press("ArrowDown")
    page.page.keyboard.press("Enter")
    page.page.get_by_role("heading", name=DRONE, exact=True).wait_for()
    page.page.get_by_text("The tunnel is well.").wait_for()
    tab_to("Actions")
    page.page.keyboard.press("Enter")
    page.page.get_by_role("heading", name=f"Actions for {DRONE}").wait_for()
    page.page.keyboard.type(dashboard.token)
    before = pair.status("drone")["epoch"]
    tab_to("rekey-suite")
    page.page.keyboard.press("Enter")  # in a select nothing; the form's button is next but one
    page.page.keyboard.press("Escape") if page.page.locator("dialog:modal").count() == 0 else None
    tab_to("Rekey")
    page.page.keyboard.press("Enter")
    page.page.get_by_text(f"epoch {before + 1}, after").wait_for()
    assert pair.status("drone")["epoch"] == before + 1
    page.page.keyboard.press("Escape")
    page.page.locator("dialog:modal").wait_for(state="detached")
    assert page.page.evaluate("document.activeElement.textContent") == "Actions"
    page.page.keyboard.press("Shift+Tab")
    assert page.complaints == []
    page.close()


def test_a_wrong_token_is_said_on_the_page(browser: Any, dashboard: Dashboard) -> None:
    page = Page(browser, f"{dashboard.url}/#/drone/{DRONE}")
    page.page.get_by_text("The tunnel is well.").wait_for()
    page.page.get_by_role("button", name="Actions").click()
    assert page.page.get_by_role("button", name="Rekey").is_disabled()
    page.page.get_by_label("Token, printed").fill("nonsense")
    page.page.get_by_role("button", name="Rekey").click()
    page.page.get_by_text("That is not the token").wait_for()
    assert page.page.get_by_role("button", name="Set mode").is_disabled()
    page.close()


STRANGER = """<!doctype html><title>stranger</title><script>
const told = {};
const url = new URLSearchParams(location.search).get("of");
const socket = new WebSocket(url.replace("http", "ws") + "/ws");
const opened = new Promise((r) => { socket.onopen = () => r("open"); socket.onclose = () => r("refused"); });
const asked = (mode, headers) => fetch(url + "/api/actions/rekey", {method: "POST", mode, headers, body: "{}"})
  .then((r) => r.type === "opaque" ? "opaque" : "answered " + r.status, () => "refused");
const read = fetch(url + "/api/health").then((r) => r.text()).then(() => "read", () => "refused");
Promise.all([opened, asked("cors", {"Content-Type": "application/json", "X-PQCMAV-Token": "x"}),
  asked("no-cors", {"Content-Type": "text/plain"}), read]).then((all) => { document.title = all.join(", "); });
</script>"""


def test_a_page_of_another_origin_gets_nothing(browser: Any, dashboard: Dashboard) -> None:
    """In a real browser, from another port of this machine."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = STRANGER.encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as stranger:
        threading.Thread(target=stranger.serve_forever, daemon=True).start()
        before = dashboard.health()["refused"].get("wrong_origin", 0)
        context = browser.new_context()
        page = context.new_page()
        page.goto(f"http://127.0.0.1:{stranger.server_port}/?of={dashboard.url}")
        until(lambda: "," in page.title(), "all four attempts have ended")
        assert page.title() == "refused, refused, refused, refused"
        # The preflight, the form, the reading and the WebSocket.
        assert dashboard.health()["refused"]["wrong_origin"] >= before + 3
        context.close()
        stranger.shutdown()


def test_what_an_engine_says_is_text(browser: Any) -> None:
    """An error may quote what a stranger sent."""
    markup = "<img src=x onerror=alert(1)><script>alert(2)</script><b id=bold>bold</b>"
    with own_run_folder() as environment:
        engine = FakeEngine(Path(environment["PQCMAV_RUN_DIR"]), 1, error=markup)
        dashboard = Dashboard("--no-ros", environment=environment)
        page = Page(browser, f"{dashboard.url}/")
        try:
            page.page.locator(".rows").get_by_text(markup).wait_for()
            page.page.goto(f"{dashboard.url}/#/drone/drone0001")
            page.page.locator(".words").get_by_text(markup).wait_for()
            assert page.page.locator("#bold").count() == 0 and page.complaints == []
        finally:
            page.close()
            dashboard.kill()
            engine.close()


def test_the_page_comes_back_with_the_server(browser: Any, pair: Pair) -> None:
    first = Dashboard("--no-ros", environment=pair.environment)
    port = first.host.rpartition(":")[2]
    page = Page(browser, f"{first.url}/#/drone/{DRONE}")
    page.page.get_by_text("The tunnel is well.").wait_for()
    first.kill()
    page.page.get_by_text("no connection to the dashboard", exact=False).or_(
        page.page.get_by_text("The dashboard was ended")
    ).first.wait_for()
    second = Dashboard("--no-ros", "--port", port, environment=pair.environment)
    try:
        page.page.get_by_text("live", exact=True).wait_for()
        assert page.page.locator(".cards.stale").count() == 0
    finally:
        page.close()
        second.kill()
