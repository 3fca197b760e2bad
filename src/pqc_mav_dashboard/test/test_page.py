# SPDX-License-Identifier: Apache-2.0
"""The page in a browser: what it shows at two widths, in light and dark, with the keyboard alone, and to axe-core."""

from __future__ import annotations

import csv
import http.server
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pqc_mav_tunnel
import pytest
from browser import WHOLE, Page, axe, page_in
from ends import DRONE, Dashboard, Pair
from fake_engine import FakeEngine
from flight import record

from pqc_mav_common.free_ports import own_run_folder
from pqc_mav_common.testing import until
from pqc_mav_dashboard.day import Day
from pqc_mav_dashboard.history import SERIES

pytestmark = pytest.mark.timeout(300)
EACH = pytest.mark.parametrize(("width", "scheme"), [(390, "light"), (390, "dark"), (1280, "light"), (1280, "dark")])


@pytest.fixture(scope="module", params=WHOLE)
def page(request: pytest.FixtureRequest) -> Iterator[Page]:
    with page_in(request.param) as made:
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


@EACH
def test_the_fleet_at_every_width(page: Page, fleet: Dashboard, width: int, scheme: str) -> None:
    page.open(f"{fleet.url}/", width, scheme).says("1,000 drones, 228 in trouble")
    page.is_good(f"fleet-{width}-{scheme}", axe())


@EACH
def test_one_drone_at_every_width(page: Page, dashboard: Dashboard, width: int, scheme: str) -> None:
    page.open(f"{dashboard.url}/#/drone/{DRONE}", width, scheme).says("The tunnel is well.")
    page.says("ML-768-AG-MD-65", "td")
    assert len(page.run("return said('ROS topics are not listened to', 'main')")) >= 2, "absent, with the reason"
    page.is_good(f"drone-{width}-{scheme}", axe())
    page.click("button", "Actions")
    page.says(f"Actions for {DRONE}", "h2")
    page.is_good(f"actions-{width}-{scheme}", axe())


@EACH
def test_a_recording_at_every_width(page: Page, replay: Dashboard, width: int, scheme: str) -> None:
    page.open(f"{replay.url}/#/drone/d1", width, scheme)
    page.click("button", "Pause")
    page.find("button", "Play")
    page.enter("input", "Time in the recording", "100")
    page.says("attack: replay", ".words")
    page.says("1:40 of 2:00")
    page.says("emergency battery 13.5 V < 14 V yes", "tr")
    page.says("Limits are the default values")
    page.is_good(f"replay-{width}-{scheme}", axe())
    page.click("button", "Play")


def test_the_longest_name_of_a_suite_is_not_cut(page: Page) -> None:
    suites = pqc_mav_tunnel.suites(view="all")
    longest = max(suites, key=lambda each: len(each.short_code))
    with own_run_folder() as environment:
        engine = FakeEngine(
            Path(environment["PQCMAV_RUN_DIR"]), 3, suite=(longest.id, longest.short_code.replace("-", "W", 1))
        )
        dashboard = Dashboard("--no-ros", environment=environment)
        try:
            page.open(f"{dashboard.url}/").says("3 drones")
            page.until("all('.rows .c-suite').length === 3")
            cut = "return all('.row .cell').filter((e) => e.scrollWidth > e.clientWidth).map(text)"
            assert page.run(cut) == []
        finally:
            dashboard.kill()
            engine.close()


def test_tables_fit_a_telephone(page: Page, replay: Dashboard) -> None:
    page.open(f"{replay.url}/#/drone/d1", 390)
    page.says("At the drone", "th")
    page.says("emergency", "td")
    for where in ("Both ends, table", "Handshakes, table", "Conditions, table"):
        found = (
            "const e = document.querySelector(`[aria-label='${arguments[0]}']`); return e.scrollWidth - e.clientWidth"
        )
        assert page.run(found, where) <= 0, where


def test_the_plan_shows_the_flight_from_home_with_its_gap(page: Page, replay: Dashboard) -> None:
    page.open(f"{replay.url}/#/drone/d1")
    page.click("button", "Pause")
    page.enter("input", "Time in the recording", "90")
    page.says("1:30 of 2:00")
    page.says("85 m from home, bearing 315°, 30 m high", ".where")
    track = page.run("return document.querySelector('.plan .track').getAttribute('d')")
    assert track.count("M") == 2, "before and after the gap"
    label = page.run("return document.querySelector('.plan').getAttribute('aria-label')")
    assert label.startswith("Plan of the flight: 85 m from home")
    page.enter("input", "Time in the recording", "50")
    page.says("11 s ago", ".where")
    assert page.run("return document.querySelector('.plan .craft').classList.contains('old')")


def test_a_recording_offers_no_actions(page: Page, replay: Dashboard) -> None:
    page.open(f"{replay.url}/#/drone/d1").says("recording", "#connection")
    page.find("button", "Save as CSV: d1-events")
    page.find("button", "Pause")  # the first picture has come
    offered = set(page.texts("button"))
    assert "CSV" in offered and not offered & {"Actions", "Token", "Sound: off"}, offered


def test_an_alarm_is_seen_and_heard(page: Page) -> None:
    """An engine that falls silent: red, in the title, on every page, and with a sound until somebody has seen it."""
    with own_run_folder() as environment:
        engine = FakeEngine(Path(environment["PQCMAV_RUN_DIR"]), 2)
        dashboard = Dashboard("--no-ros", environment=environment)
        try:
            page.open(f"{dashboard.url}/#/drone/drone0001").says("The tunnel is well.")
            assert page.run("return document.title") == "PQC-MAV dashboard – drone0001"
            page.click("button", "Sound: off")
            page.find("button", "Sound: on")
            once = int(page.run("return document.getElementById('sound').dataset.sounds"))
            assert once == 1, "a sound to try it"
            engine.close()
            page.says("drone0002 SILENT: an engine says nothing", "#alarm")
            page.until("document.title.startsWith('(2) SILENT drone0001')")
            page.is_good(f"alarm-{page.browser.name}", axe())
            page.until("Number(document.getElementById('sound').dataset.sounds) > 1", what="a sound")
            colour = "return getComputedStyle(document.getElementById('alarm')).backgroundColor"
            assert page.run(colour) == "rgb(179, 22, 27)"
            page.click("button", "Seen")
            page.until("!all('#alarm button').length", what="it is quiet")
            assert page.run(colour) != "rgb(179, 22, 27)"
            page.says("SILENT", "#alarm")
            dashboard.kill()
            page.says("The dashboard does not answer", "#alarm")
        finally:
            dashboard.kill()
            engine.close()


# What a button saves, instead of the file that a browser would ask about.
CATCH = """
window.saved = null;
URL.createObjectURL = (blob) => { blob.text().then((text) => { window.saved = text; }); return "#/saved"; };
HTMLAnchorElement.prototype.click = () => {};
"""


def saved(page: Page, name: str) -> list[list[str]]:
    """The rows of a CSV file, as a spreadsheet reads them."""
    page.run(CATCH)
    page.click("button", f"Save as CSV: {name}")
    return list(csv.reader(page.until("window.saved").splitlines()))


def test_what_is_shown_is_saved_as_csv(page: Page, replay: Dashboard) -> None:
    page.open(f"{replay.url}/").says("1 drone")
    heads, row = saved(page, "fleet")
    assert (heads[:3], row[0], row[2]) == (["drone", "trouble", "state"], "d1", "UP")
    page.open(f"{replay.url}/#/drone/d1")
    page.click("button", "Pause")
    page.enter("input", "Time in the recording", "100")
    page.says("1:40 of 2:00")
    heads, *rows = saved(page, "d1-link-over-time")
    assert heads[:2] == ["time_s", "tx_bit_s"] and rows[-1][0] == "2023-11-14T22:15:00.000Z" and rows[-1][3] == "0.01"
    heads, newest, first = saved(page, "d1-handshakes")
    assert (newest[0], newest[2]) == ("2023-11-14T22:14:20.000Z", "rekey") and first[3] == "ML-768-AG-MD-65"
    assert ["threat: attack replay"] in [row[2:] for row in saved(page, "d1-events")]
    assert saved(page, "d1-both-ends")[1] == ["State", "UP", "UP"]


def test_a_saved_text_is_no_formula(page: Page) -> None:
    with own_run_folder() as environment:
        engine = FakeEngine(Path(environment["PQCMAV_RUN_DIR"]), 1, error='=HYPERLINK("http://x"),"y"')
        dashboard = Dashboard("--no-ros", environment=environment)
        try:
            page.open(f"{dashboard.url}/").says("=HYPERLINK", ".rows .c-trouble")
            assert saved(page, "fleet")[1][1] == """'=HYPERLINK("http://x"),"y\""""
        finally:
            dashboard.kill()
            engine.close()


def test_a_thousand_rows_are_few_elements_and_worst_first(page: Page, fleet: Dashboard) -> None:
    page.open(f"{fleet.url}/").says("1,000 drones")
    assert 0 < len(page.texts(".rows .row")) < 60
    assert page.texts(".rows .row .c-state")[0] == "DOWN"
    assert page.run("return document.querySelector('[role=grid]').getAttribute('aria-rowcount')") == "1001"
    # The last rows are the well ones; a row's place is told to those who do not see it.
    page.run("document.querySelector('[role=grid]').focus()")
    page.browser.press("End")
    page.says("drone0999", ".row.active")
    assert page.run("return document.querySelector('.row.active').getAttribute('aria-rowindex')") == "1001"
    assert len(page.texts(".rows .row")) < 60


def test_sorting_puts_the_unknown_last(page: Page, fleet: Dashboard) -> None:
    page.open(f"{fleet.url}/").says("1,000 drones")
    page.click("button", "RTT")
    sorted_by = "document.querySelector('.head .c-rtt_ms').getAttribute('aria-sort')"
    page.until(f"{sorted_by} === 'descending'")
    page.until("text(all('.rows .row .c-rtt_ms')[0]) === '49 ms'", what="the longest first")
    page.click("button", "RTT")
    page.until("text(all('.rows .row .c-rtt_ms')[0]) === '20 ms'", what="the shortest first")
    page.until(f"{sorted_by} === 'ascending'")
    page.enter("input", "Show", "drone0777")
    page.until("all('.rows .row').length === 1", what="one row is left")
    page.enter("input", "Show", "")
    page.until("all('.rows .row').length > 1", what="all rows are back")
    page.run("document.querySelector('[role=grid]').focus()")
    page.browser.press("End")
    page.until("text(all('.row.active .c-rtt_ms')[0] || document.body) === '–'", what="unknown comes last")


def test_with_the_keyboard_alone(page: Page, dashboard: Dashboard, pair: Pair) -> None:
    """From the fleet to a drone and to new keys, without a pointer."""
    page.open(f"{dashboard.url}/").says("1 drone, all well")

    def tab_to(what: str) -> None:
        for _ in range(40):
            page.browser.press("Tab")
            focus = "const e = document.activeElement; return [e.getAttribute('aria-label'), e.id, text(e)]"
            if what in page.run(focus):
                return
        raise AssertionError(f"Tab never comes to {what!r}")

    tab_to("Fleet")
    page.browser.press("Down", "Enter")
    page.says(DRONE, "h1")
    page.says("The tunnel is well.")
    tab_to("Actions")
    page.browser.press("Enter")
    page.says(f"Actions for {DRONE}", "h2")
    page.browser.press(*dashboard.token)
    before = pair.status("drone")["epoch"]
    tab_to("Rekey")
    page.browser.press("Enter")
    page.says(f"epoch {before + 1}, after", "dialog")
    assert pair.status("drone")["epoch"] == before + 1
    page.browser.press("Escape")
    page.until("!document.querySelector('dialog').open")
    page.until("text(document.activeElement) === 'Actions'", what="the focus is back")


def test_a_wrong_token_is_said_on_the_page(page: Page, dashboard: Dashboard) -> None:
    page.open(f"{dashboard.url}/#/drone/{DRONE}").says("The tunnel is well.")
    page.click("button", "Actions")
    assert page.run("return arguments[0].disabled", page.find("button", "Rekey"))
    page.enter("input", "Token, printed", "nonsense", whole=False)
    page.click("button", "Rekey")
    page.says("That is not the token")
    assert page.run("return arguments[0].disabled", page.find("button", "Set mode"))


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


def test_a_history_shows_what_was_before_the_page(page: Page, pair: Pair, tmp_path: Path) -> None:
    folder = tmp_path / "history"
    day = Day(folder)
    now_s = time.time()
    for ago_s in range(3000, 900, -10):
        day.add(now_s - ago_s, {DRONE: [now_s - ago_s, *[0.25] * (len(SERIES) - 1)]})
    day.close()
    dashboard = Dashboard("--no-ros", "--history", str(folder), environment=pair.environment)
    try:
        page.open(f"{dashboard.url}/#/drone/{DRONE}").says("The tunnel is well.")
        page.find("select", "Time shown")
        assert len(saved(page, f"{DRONE}-link-over-time")) < 100
        page.enter("select", "Time shown", "3600")
        until(lambda: len(saved(page, f"{DRONE}-link-over-time")) > 200, "the hour before")
        rows = saved(page, f"{DRONE}-link-over-time")
        assert [row[3] for row in rows].index("", 1) > 200, "and a gap until the page was opened"
        page.is_good(f"history-{page.browser.name}")
    finally:
        dashboard.kill()


def test_a_page_of_another_origin_gets_nothing(page: Page, dashboard: Dashboard) -> None:
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
        page.browser.go(f"http://127.0.0.1:{stranger.server_port}/?of={dashboard.url}")
        page.until("document.title.includes(',')", what="all four attempts have ended")
        assert page.run("return document.title") == "refused, refused, refused, refused"
        # The preflight, the form, the reading and the WebSocket.
        assert dashboard.health()["refused"]["wrong_origin"] >= before + 3
        stranger.shutdown()


def test_what_an_engine_says_is_text(page: Page) -> None:
    """An error may quote what a stranger sent."""
    markup = "<img src=x onerror=alert(1)><script>alert(2)</script><b id=bold>bold</b>"
    with own_run_folder() as environment:
        engine = FakeEngine(Path(environment["PQCMAV_RUN_DIR"]), 1, error=markup)
        dashboard = Dashboard("--no-ros", environment=environment)
        try:
            page.open(f"{dashboard.url}/").says(markup, ".rows .c-trouble")
            page.open(f"{dashboard.url}/#/drone/drone0001").says(markup, ".words")
            assert page.run("return document.querySelector('#bold')") is None
            page.is_good("markup")
        finally:
            dashboard.kill()
            engine.close()


def test_the_page_comes_back_with_the_server(page: Page, pair: Pair) -> None:
    first = Dashboard("--no-ros", environment=pair.environment)
    port = first.host.rpartition(":")[2]
    page.open(f"{first.url}/#/drone/{DRONE}").says("The tunnel is well.")
    first.kill()
    page.until("document.querySelector('.cards.stale')", what="what is shown is marked as old")
    assert page.run("return document.getElementById('connection').dataset.state") in ("lost", "connecting")
    second = Dashboard("--no-ros", "--port", port, environment=pair.environment)
    try:
        page.says("live", "#connection")
        page.until("!document.querySelector('.cards.stale')")
    finally:
        second.kill()


@pytest.mark.parametrize("width", [390, 1280])
def test_a_drone_at_a_radio_shows_what_it_says(page: Page, fleet: Dashboard, width: int) -> None:
    page.open(f"{fleet.url}/#/drone/drone0003", width)
    for words in ("Radio takes", "38 kbit/s", "25 % full", "140, 138", "12 damaged, 3 not mine"):
        page.says(words)
    page.open(f"{fleet.url}/#/drone/drone0004", width)
    page.says("RTT, least")
    assert "Radio takes" not in page.run("return text(document.body)")


@pytest.mark.parametrize("width", [390, 1280])
def test_a_drone_with_several_paths_has_a_row_for_each(page: Page, fleet: Dashboard, width: int) -> None:
    page.open(f"{fleet.url}/#/drone/drone0004", width)
    for words in (
        "Path lte",
        "best, 61 ms, loss 1 %, 12.4 MB up, 1.1 MB down",
        "Path radio",
        "/dev/ttyUSB0 is not there.",
    ):
        page.says(words)
    page.open(f"{fleet.url}/#/drone/drone0003", width)
    page.says("RTT, least")
    assert "Path lte" not in page.run("return text(document.body)")
