# SPDX-License-Identifier: Apache-2.0
"""A thousand drones that only ROS topics tell of: the fleet's page follows the wheel at both widths, without a gap."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from browser import WHOLE, Page, page_in
from ends import Dashboard, needs_command

from pqc_mav_common.free_ports import own_run_folder

rclpy = pytest.importorskip("rclpy", reason="ROS 2 is not there")

from pqc_mav_common import qos  # noqa: E402

pytestmark = pytest.mark.timeout(300)
DRONES = 1000
PERIOD_S = 2.0  # slower than a proxy: what sends and reads for a thousand drones shares a processor with the browser

# Goes down the whole list, half a page a time, while answers keep coming. Of each place: whether rows cover the list
# from its head to its foot, how many rows are elements, and what they are called. `frames`: times between frames [ms].
WALK = """
  const list = document.querySelector(".scroller"), seen = new Set(), frames = [];
  const frame = () => new Promise((done) => requestAnimationFrame(done));
  // A browser may show one frame before it tells the page of the scroll; what is still empty after ten is a gap.
  const empty = () => {
    const edge = list.getBoundingClientRect(), head = list.querySelector(".head").getBoundingClientRect();
    // Firefox finds nothing on the very edge of two rows whose height is no whole number of pixels.
    const row = (y) => document.elementFromPoint(edge.left + 20, y)?.closest(".row");
    let found = 0;
    for (let y = head.bottom + 5; y < edge.top + list.clientHeight - 5 && y < innerHeight; y += 15) {
      if (!row(y) && !row(y - 2)) found += 1;
    }
    return found;
  };
  let most = 0, gaps = 0, last = await frame();
  for (let top = 0; ; top += list.clientHeight / 2) {
    list.scrollTop = top;
    await frame();
    const now = await frame();
    frames.push((now - last) / 2);
    last = now;
    for (let late = 0; empty() && late < 10; late++) last = await frame();
    const rows = [...list.querySelectorAll(".rows .row")].filter((row) => row.checkVisibility());
    most = Math.max(most, rows.length);
    for (const row of rows) seen.add(row.querySelector(".c-drone").textContent);
    gaps += empty();
    if (list.scrollHeight - list.scrollTop - list.clientHeight < 1) return { seen: seen.size, most, gaps, frames };
  }"""


class Ground:
    """A gcs proxy of another machine, as far as its topics say: every drone has its status, its counters, its link."""

    def __init__(self) -> None:
        from pqc_mav_interfaces import msg
        from rclpy.executors import SingleThreadedExecutor

        from pqc_mav_common.executors import Spun

        self.msg = msg
        self.context = rclpy.Context()
        rclpy.init(args=[], context=self.context)
        self.node = rclpy.create_node("pqc_proxy", namespace="far", context=self.context)
        self.statuses = self.node.create_publisher(msg.TunnelStatus, "~/status", qos.latched(DRONES))
        self.stats = self.node.create_publisher(msg.TunnelStats, "~/stats", qos.periodic(DRONES))
        self.links = self.node.create_publisher(msg.LinkQuality, "~/link", qos.periodic(DRONES))
        self.rounds = 0
        self.send_statuses()
        self.node.create_timer(PERIOD_S, self.send)
        self.executor = Spun(SingleThreadedExecutor(context=self.context))
        self.executor.add_node(self.node)
        self.thread = threading.Thread(target=self.executor.spin, daemon=True)
        self.thread.start()

    def send_statuses(self) -> None:
        for number in range(DRONES):
            up = number % 100 != 0
            message = self.msg.TunnelStatus(role="gcs", drone_id=f"drone{number:04}", state=2 if up else 0)
            message.suite = "cs-mlkem768-aesgcm-mldsa65" if up else ""
            message.header.stamp = self.node.get_clock().now().to_msg()
            self.statuses.publish(message)

    def send(self) -> None:
        self.rounds += 1
        for number in range(DRONES):
            rate = 1000.0 + (number * 7 + self.rounds * 13) % 997
            drone = f"drone{number:04}"
            self.stats.publish(self.msg.TunnelStats(drone_id=drone, tx_bytes_per_s=rate, rx_bytes_per_s=rate / 2))
            self.links.publish(self.msg.LinkQuality(drone_id=drone, side="local", rtt_ms=20.0 + self.rounds % 30))

    def close(self) -> None:
        self.executor.shutdown()
        self.thread.join(10)
        self.node.destroy_node()
        rclpy.shutdown(context=self.context)


@pytest.fixture(scope="module")
def dashboard(own_domain: None) -> Iterator[Dashboard]:
    needs_command()
    ground = Ground()
    with own_run_folder() as environment:
        made = Dashboard(environment=environment)
        yield made
        made.kill()
    ground.close()


@pytest.fixture(scope="module", params=WHOLE)
def page(request: pytest.FixtureRequest) -> Iterator[Page]:
    with page_in(request.param) as made:
        yield made


@pytest.mark.parametrize("width", [390, 1280])
def test_a_thousand_rows_follow_the_wheel(
    page: Page, dashboard: Dashboard, width: int, capsys: pytest.CaptureFixture[str]
) -> None:
    page.open(f"{dashboard.url}/", width).says("1,000 drones")
    page.until("[...document.querySelectorAll('.rows .row .c-rtt_ms')].some((cell) => text(cell).includes('ms'))")
    page.shot(f"fleet-ros-{width}")
    # By name: a drone that seems silent for a moment, on a machine with much to do, would go up past the walk.
    page.click(".head button", "Drone")
    walked = page.browser.run_async(WALK)
    assert walked["seen"] == DRONES and walked["gaps"] == 0 and walked["most"] < 60, walked
    # The keyboard reaches both ends of what the wheel went through, and stays there while answers come.
    page.run("document.querySelector('[role=grid]').focus()")
    page.browser.press("End")
    page.until(f"document.querySelector('.row.active')?.getAttribute('aria-rowindex') === '{DRONES + 1}'")
    page.is_good(f"fleet-ros-end-{width}")
    frames = sorted(walked["frames"])
    with capsys.disabled():
        middle, longest = frames[len(frames) // 2], frames[-1]
        print(f"\n{width} px: a frame {middle:.1f} ms, longest {longest:.1f} ms, N {len(frames)}", end=" ")
