# SPDX-License-Identifier: Apache-2.0
import pytest
from scenes import DRONE, Scene

from pqc_mav_detect.channels import CHANNELS
from pqc_mav_detect.kernel import sums
from pqc_mav_detect.window import IMITATED, MOMENTARY, LinkView, Reading, Stops, Windows, losses


def test_every_window_has_every_channel_and_rates() -> None:
    scene = Scene()
    *_, last = scene.run(2.0, drop_replay=50.0, drop_seq_old=10.0, drop_auth_fail=20.0, hs_gate=30.0)
    assert set(last.values) == set(CHANNELS)
    assert last.span_s == pytest.approx(0.1)
    for channel, rate in {"opened": 320, "replayed": 60, "forged": 20, "hs_strange": 30, "garbage": 0}.items():
        assert last.values[channel] == pytest.approx(rate, abs=11), channel


def test_what_the_kernel_counted_before_it_was_watched_is_not_of_a_window() -> None:
    windows = Windows()
    seen = [{"waited_ns": 1}, {"waited_ns": 2}, {"packets": 9_000, "waited_ns": 3}, {"packets": 9_050, "waited_ns": 4}]
    made = [windows.update(Reading(0.1 * number, {}, {}, kernel)) for number, kernel in enumerate(seen, 1)]
    assert [window and window.values["foreign_packets"] for window in made] == [None, 0, 0, pytest.approx(500)]


def test_the_first_reading_and_a_restarted_proxy_make_no_window() -> None:
    windows = Windows()
    assert windows.update(Reading(1.0, {"delivered": 5}, {DRONE: 5})) is None
    assert windows.update(Reading(1.1, {"delivered": 9}, {DRONE: 9})) is not None
    assert windows.update(Reading(1.2, {"delivered": 0}, {DRONE: 0})) is None
    window = windows.update(Reading(1.3, {"delivered": 3}, {DRONE: 3}))
    assert window is not None and window.values["opened"] == pytest.approx(30)


def test_readings_that_come_together_are_one() -> None:
    windows = Windows()
    windows.update(Reading(1.0, {"delivered": 0}, {}))
    assert windows.update(Reading(1.001, {"delivered": 10}, {})) is None
    window = windows.update(Reading(1.1, {"delivered": 20}, {}))
    assert window is not None and window.values["opened"] == pytest.approx(200)
    assert window.values["garbage"] == 0, "what is not counted is not missing"


def test_packets_of_the_session_before_are_no_garbage() -> None:
    scene = Scene()
    begun = scene.run(9.5, drop_unknown=300.0)
    assert not any(window.values["garbage"] for window in begun)
    later = scene.run(1.0, drop_unknown=300.0)
    assert later[-1].values["garbage"] == pytest.approx(300, abs=11)
    scene.run(2.0, opened=0.0, drop_unknown=300.0)  # the peer has been restarted: its packets are of no session
    assert scene.run(9.5, drop_unknown=300.0)[-1].values["garbage"] == 0
    assert scene.run(1.0, drop_unknown=300.0)[-1].values["garbage"] == pytest.approx(300, abs=11)


def test_ten_seconds_after_the_start_what_belongs_to_no_session_counts() -> None:
    windows = Windows()
    made = [windows.update(Reading(at, {"drop_unknown": n}, {})) for n, at in enumerate((1.0, 10.9, 11.0))]
    assert [window and window.values["garbage"] for window in made] == [None, 0, pytest.approx(10)]


def test_malformed_ones_are_garbage_at_any_time() -> None:
    assert Scene().run(1.0, drop_malformed=40.0)[-1].values["garbage"] == pytest.approx(40, abs=11)


@pytest.mark.parametrize(("role", "after_s"), [("gcs", 0.8), ("drone", 0.7)])
def test_silence_counts_where_packets_were_to_be_expected(role: str, after_s: float) -> None:
    scene = Scene(role)
    scene.run(8.0)
    silent = [window for window in scene.run(3.0, opened=0.0) if window.silent]
    assert silent[0].silent[DRONE] == pytest.approx(after_s, abs=0.11)
    assert silent[-1].values["silence"] == pytest.approx(3.0, abs=0.11)
    assert not scene.run(0.2)[-1].silent


def test_an_idle_link_may_be_silent_for_longer() -> None:
    scene = Scene()
    scene.run(20.0, opened=2.0)
    silent = [window.silent[DRONE] for window in scene.run(4.0, opened=0.0) if window.silent]
    assert silent[0] == pytest.approx(1.4, abs=0.15), "until 3.2 packets were due"


def test_a_link_that_loses_packets_has_to_be_silent_for_longer() -> None:
    scene = Scene()
    scene.link = LinkView(0.0, loss=0.05)
    scene.run(20.0, opened=5.0)
    silent = [window.silent[DRONE] for window in scene.run(3.0, opened=0.0) if window.silent]
    assert silent[0] == pytest.approx(1.65, abs=0.21)


def test_a_drone_that_was_never_heard_or_is_down_is_not_silent() -> None:
    assert not any(window.silent for window in Scene().run(5.0, opened=0.0))
    scene = Scene()
    scene.run(8.0)
    scene.down = frozenset({DRONE})
    assert not any(window.silent for window in scene.run(5.0, opened=0.0))


def test_what_is_not_the_tunnels() -> None:
    ours = {"packets": 320.0, "bytes": 320.0 * 142}
    scene = Scene()
    quiet = scene.run(2.0, kernel=ours, enc_rx_bytes=0.0)
    assert max(window.values["foreign_packets"] for window in quiet) <= 20
    assert quiet[-1].values["foreign_bytes"] == pytest.approx(320 * 100), "but for the headers of the tunnel's packets"
    scene = Scene()
    scene.run(1.0, kernel=ours)
    more = {"packets": 820.0, "bytes": 320.0 * 142 + 50_000, "udp_no_port": 400.0, "icmp_echo": 90.0}
    last = scene.run(2.0, kernel=more)[-1].values
    assert last["foreign_packets"] == pytest.approx(500, abs=11)
    assert last["no_port"] == pytest.approx(400, abs=11) and last["echo"] == pytest.approx(90, abs=11)


def test_what_programs_of_the_host_took_is_foreign_but_not_unasked() -> None:
    kernel = {"packets": 820.0, "bytes": 1e6, "taken": 320.0 + 500.0 + 640.0, "loopback": 640.0}
    last = Scene().run(2.0, kernel=kernel, enc_rx_bytes=0.0)[-1].values
    assert last["foreign_packets"] == pytest.approx(500, abs=11) and last["unasked"] <= 11
    flooded = {**kernel, "packets": 1820.0}
    assert Scene().run(2.0, kernel=flooded)[-1].values["unasked"] == pytest.approx(1000, abs=11)


def test_what_was_merged_on_its_way_was_asked_for() -> None:
    kernel = {"packets": 320.0 + 1830.0, "bytes": 1e6, "taken": 320.0 + 80.0, "segments": 2150.0, "received": 400.0}
    last = Scene().run(2.0, kernel=kernel)[-1].values
    assert last["foreign_packets"] == pytest.approx(1830, abs=11) and last["unasked"] <= 11


def test_the_age_of_the_peers_report_counts_while_the_peer_is_heard() -> None:
    windows = Windows()

    def at(now_s: float, opened: int) -> float:
        reading = Reading(now_s, {}, {DRONE: opened}, peer={DRONE: LinkView(1.0)})
        window = windows.update(reading)
        return window.values["report_age"] if window else 0.0

    heard = [at(1.0 + turn / 10, turn) for turn in range(60)]
    assert heard[-1] == pytest.approx(5.8, abs=0.11)
    silent = [at(7.0 + turn / 10, 59) for turn in range(30)]
    assert silent[-1] == 0
    assert at(10.1, 60) == 0, "a peer that comes back has not reported yet"


def test_the_last_round_trip_before_a_silence_is_no_delay() -> None:
    windows = Windows()

    def at(now_s: float, opened: int) -> float:
        reading = Reading(now_s, {}, {DRONE: opened}, local={DRONE: LinkView(now_s, delay_ms=300.0)})
        window = windows.update(reading)
        return window.values["delay"] if window else 0.0

    heard = [at(1.0 + turn / 10, turn) for turn in range(20)]
    assert heard[-1] == 300
    silent = [at(3.0 + turn / 10, 19) for turn in range(20)]
    assert silent[-1] == 0
    assert at(5.1, 20) == 300


def test_what_the_host_sends_to_itself_did_not_come_from_outside() -> None:
    last = Scene().run(1.0, kernel={"packets": 320.0, "bytes": 1.0, "udp_no_port": 400.0})[-1].values
    assert last["no_port"] == 0
    last = Scene().run(1.0, kernel={"packets": 0.0, "bytes": 1.0, "udp_overflow": 400.0})[-1].values
    assert last["overflow"] == 0


def test_a_flood_that_overflows_the_data_port_is_no_foreign_traffic() -> None:
    kernel = {"packets": 5320.0, "bytes": 1.0, "udp_overflow": 5000.0}
    last = Scene().run(1.0, kernel=kernel)[-1].values
    assert last["foreign_packets"] == 0 and last["overflow"] == pytest.approx(5000, abs=11)


def test_links() -> None:
    scene = Scene()
    scene.link = LinkView(0.0, loss=0.2, delay_ms=80.0)
    scene.peer = LinkView(0.0, loss=0.1)
    last = scene.run(1.0)[-1].values
    assert (last["loss_here"], last["loss_there"], last["delay"]) == (0.2, 0.1, 80.0)
    scene.peer = LinkView(0.0, loss=None, repeated=7, forged=3)
    first, *_ = scene.run(0.3)
    assert first.values["peer_replayed"] == pytest.approx(70) and first.values["peer_forged"] == pytest.approx(30)


def test_old_figures_of_the_link_say_nothing() -> None:
    windows = Windows()
    old = {DRONE: LinkView(1.0, loss=0.5, delay_ms=500.0)}
    windows.update(Reading(9.0, {}, {}, local=old))
    window = windows.update(Reading(9.1, {}, {}, local=old))
    assert window is not None and window.values["loss_here"] == window.values["delay"] == 0
    windows = Windows()
    made = [windows.update(Reading(at, {}, {}, local=old)) for at in (4.9, 5.0, 5.1)]
    assert [window and window.values["loss_here"] for window in made] == [None, 0.5, 0]


def test_what_a_drone_that_is_away_said_last_hides_no_replay_at_another() -> None:
    windows = Windows("gcs")
    away = LinkView(1.0, packets_per_s=640.0)
    made = [windows.update(Reading(at, {}, {}, peer={DRONE: away})) for at in (4.8, 4.9, 9.0)]
    assert [window and window.values["peer_opened"] for window in made] == [None, 640.0, 0]


@pytest.mark.parametrize(("skips", "unreported"), [(1, 0.0), (2, 0.5)])
def test_a_report_is_missing_where_packets_were_missing_twice(skips: int, unreported: float) -> None:
    windows = Windows()
    for turn in range(31):
        totals = {"skips": min(turn, skips), "skipped": min(turn, skips), "late": 0}
        peer = {DRONE: LinkView(1.0)}
        window = windows.update(Reading(1.0 + turn / 10, totals, {DRONE: 32 * turn}, peer=peer))
    assert window is not None and window.values["unreported"] == pytest.approx(unreported, abs=0.11)


def test_what_comes_late_was_not_lost_and_what_comes_twice_at_once_not_replayed() -> None:
    last = Scene().run(2.0, skipped=60.0, skips=40.0, late=20.0, drop_replay=30.0, doubled=20.0)[-1].values
    assert last["skipped"] == pytest.approx(40, abs=11) and last["skips"] == pytest.approx(20, abs=11)
    assert last["replayed"] == pytest.approx(10, abs=11) and last["doubled"] == pytest.approx(20, abs=11)


def test_losses_are_told_from_those_of_a_weak_radio_by_how_many_are_missing_in_a_row() -> None:
    scene = Scene()
    scene.run(20.0, skipped=0.0, skips=0.0)
    scale = (320 / 25) ** 0.2

    def seen(skipped: float, skips: float) -> tuple[float, float]:
        values = scene.run(0.1, skipped=skipped, skips=skips)[-1].values
        return values["losses"] * scale, values["long_losses"] * scale

    assert seen(50.0, 50.0) == pytest.approx((50 - 0.035 * 320, -50 - 0.003 * 320), abs=0.6)
    assert seen(100.0, 50.0) == pytest.approx((-0.035 * 320, -50 - 0.003 * 320), abs=0.6)
    assert seen(250.0, 50.0) == pytest.approx((-50 - 0.035 * 320, 100 - 0.003 * 320), abs=0.6)
    assert seen(1600.0, 10.0) == pytest.approx((-10 - 0.035 * 320, 40 - 0.003 * 320), abs=0.6), "a cut is one loss"


def test_few_packets_make_losses_no_smaller() -> None:
    assert losses(0.0, 0.0, 10.0, 0.5, 20.0) == pytest.approx((-0.7, -0.06))
    assert losses(0.0, 0.0, 10.0, 0.5, 25.0) == pytest.approx((-0.7, -0.06))


def test_the_loss_of_five_seconds_counts_beyond_a_weak_radio_and_one_cut() -> None:
    scene = Scene()
    scene.run(1.0)

    def beyond(loss: float, packets_per_s: float, silence_s: float = 0.0) -> float:
        scene.peer = LinkView(0.0, loss=loss, packets_per_s=packets_per_s, silence_s=silence_s)
        return scene.run(0.1)[-1].values["loss_beyond"]

    assert beyond(0.05, 300.0) == 0
    assert beyond(0.12, 25.0) == 0, "of so few packets chance takes as many"
    assert beyond(0.12, 300.0) > 0.03
    assert beyond(0.2, 100.0) == pytest.approx(0.2 - 0.055 - 2.5 * (0.15 / (100 * 5 / 0.8)) ** 0.5)
    assert beyond(0.12, 300.0, silence_s=0.5) == 0
    assert beyond(1.0, 10.0) == pytest.approx(1.0 - 0.055 - 2.5 * (0.15 / (10 * 5 / 0.01)) ** 0.5)


def test_a_machine_that_stood_still_is_no_silence() -> None:
    windows = Windows()
    windows.update(Reading(1.0, {}, {DRONE: 0}))
    for turn in range(1, 100):
        windows.update(Reading(1.0 + turn / 10, {}, {DRONE: 32 * turn}))
    window = windows.update(Reading(12.0, {}, {DRONE: 32 * 99}))
    assert window is not None and window.span_s > 1 and not window.silent


def test_of_a_long_window_no_more_than_a_quarter_second_is_silence() -> None:
    windows = Windows()
    windows.update(Reading(1.0, {}, {DRONE: 0}))
    for turn in range(1, 100):
        windows.update(Reading(1.0 + turn / 10, {}, {DRONE: 32 * turn}))
    made = [windows.update(Reading(10.9 + 0.28 * turn, {}, {DRONE: 32 * 99})) for turn in range(1, 5)]
    assert made[-1] is not None and made[-1].silent[DRONE] == pytest.approx(4 * 0.25)


def test_what_this_machine_made_others_wait_is_no_delay_and_no_silence() -> None:
    def seen(waited_ms: float) -> tuple[float, bool]:
        windows, opened = Windows(), 0
        for turn in range(100):
            opened += 0 if turn >= 91 else 32
            kernel = {"waited_ns": int(turn * waited_ms * 1e6)}
            local = {DRONE: LinkView(1.0 + turn / 10, delay_ms=120.0)}
            window = windows.update(Reading(1.0 + turn / 10, {}, {DRONE: opened}, kernel, local))
        assert window is not None
        return window.values["delay"], bool(window.silent)

    assert seen(0.0) == (120.0, True)
    delay, silent = seen(2.0)
    assert delay == pytest.approx(108.0) and silent
    assert seen(60.0) == (0.0, False)


def test_a_report_that_waits_for_this_machine_is_not_missing() -> None:
    def age(waited_ms: float) -> float:
        windows = Windows()
        for turn in range(100):
            kernel = {"waited_ns": int(turn * waited_ms * 1e6)}
            peer = {DRONE: LinkView(min(1.0 + turn / 10, 5.5))}
            window = windows.update(Reading(1.0 + turn / 10, {}, {DRONE: 32 * turn}, kernel, {}, peer))
        assert window is not None
        return window.values["report_age"]

    assert age(0.0) == pytest.approx(5.4)
    assert age(50.0) == pytest.approx(5.4 - 6 * 0.05) and age(950.0) == 0.0


def test_what_a_machine_that_stood_still_imitates_says_nothing_and_floods_do() -> None:
    scene = Scene()
    scene.link = LinkView(0.0, loss=0.3, delay_ms=400.0, packets_per_s=200.0)
    scene.run(5.0, hs_gate=30.0, drop_malformed=40.0)
    assert not scene.windows.blinded
    scene.now_s += 0.6
    held = scene.run(5.0, hs_gate=30.0, drop_malformed=40.0)
    assert scene.windows.blinded
    assert {window.values[name] for window in held for name in IMITATED} == {0.0}
    assert held[-1].values["garbage"] == pytest.approx(40, abs=11)
    after = scene.run(6.0, hs_gate=30.0)[-1].values
    assert not scene.windows.blinded
    assert after["hs_strange"] == pytest.approx(30, abs=11) and (after["delay"], after["loss_here"]) == (400.0, 0.3)


def test_a_short_stop_spoils_what_is_of_a_moment() -> None:
    stops = Stops()
    assert stops.held(1.0, 0.1, 0.0) == ()
    assert stops.held(1.4, 0.35, 0.0) == MOMENTARY and not stops.blinded
    assert stops.held(4.5, 0.1, 0.0) == ()
    assert stops.held(4.6, 0.1, 0.15) == MOMENTARY
    assert stops.held(5.3, 0.6, 0.15) == IMITATED and stops.blinded
    assert stops.held(15.2, 0.1, 0.0) == IMITATED and stops.held(15.4, 0.1, 0.0) == ()


def test_what_the_host_sends_to_its_own_closed_ports_is_not_from_outside() -> None:
    """Beside a download: 150 datagrams/s over loopback, and as many answers of the kernel that the port is closed."""
    download = {"packets": 820.0, "bytes": 1e6, "taken": 820.0}
    own = {**download, "loopback": 300.0, "udp_no_port": 150.0, "unreachable": 150.0}
    last = Scene().run(2.0, kernel=own)[-1].values
    assert last["no_port"] == 0 and last["unasked"] <= 11
    both = {**own, "packets": 920.0, "udp_no_port": 250.0}
    last = Scene().run(2.0, kernel=both)[-1].values
    assert last["no_port"] == pytest.approx(100, abs=11) and last["unasked"] == pytest.approx(100, abs=11)


def test_answers_about_closed_ports_elsewhere_hide_nothing() -> None:
    """They come from outside, too, and then nothing crosses loopback."""
    kernel = {"packets": 820.0, "bytes": 1e6, "taken": 320.0, "udp_no_port": 250.0, "unreachable": 250.0}
    last = Scene().run(2.0, kernel=kernel)[-1].values
    assert last["no_port"] == pytest.approx(250, abs=11) and last["unasked"] == pytest.approx(500, abs=11)


@pytest.mark.parametrize(
    ("resets", "broken_off", "failed", "strange"),
    [(20, 0, 20, 0), (0, 0, 20, 0), (100, 0, 0, 100), (0, 100, 100, 100), (100, 0, 20, 80), (50, 50, 50, 100)],
    ids=["own, to itself", "own, to others", "closed port", "open port", "closed port, and own", "scan"],
)
def test_connections_that_this_host_asked_for_in_vain_are_not_strange(
    resets: int, broken_off: int, failed: int, strange: int
) -> None:
    tables = (f"Tcp: OutRsts AttemptFails\nTcp: {resets} {failed}", f"TcpExt: EmbryonicRsts\nTcpExt: {broken_off}")
    kernel = {"packets": 820.0, "bytes": 1e6, **{name: float(each) for name, each in sums(*tables).items()}}
    assert Scene().run(1.0, kernel=kernel)[-1].values["tcp_strange"] == pytest.approx(strange, abs=11)
