# SPDX-License-Identifier: Apache-2.0
"""The impairment model against what its settings promise; statistics with fixed seeds."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pqc_mav_sim.impairment.model import Fate, ImpairedDirection
from pqc_mav_sim.impairment.settings import Impairment, ImpairmentError

FRAMES = 20_000


def offer_all(impairment: Impairment, frames: int = FRAMES, step: float = 0.001, size: int = 200) -> list[Fate]:
    model = ImpairedDirection("7/a_to_b", impairment)
    return [model.offer(size, i * step) for i in range(frames)]


def delays(fates: list[Fate], step: float = 0.001) -> list[float]:
    return [fate.times[0] - i * step for i, fate in enumerate(fates) if fate.times]


def test_default_passes_everything_at_once() -> None:
    assert [fate.times for fate in offer_all(Impairment(), 100)] == [(i * 0.001,) for i in range(100)]


@pytest.mark.parametrize("loss", [0.01, 0.05, 0.3])
def test_independent_loss_hits_its_share(loss: float) -> None:
    lost = sum(fate.lost == "loss" for fate in offer_all(Impairment(loss=loss)))
    assert abs(lost - FRAMES * loss) < 4 * (FRAMES * loss * (1 - loss)) ** 0.5


def test_bursts_have_their_length_and_the_same_share() -> None:
    lost = [bool(fate.lost) for fate in offer_all(Impairment(loss=0.1, burst=8), 100_000)]
    runs = [len(list(group)) for gone, group in itertools.groupby(lost) if gone]
    assert sum(lost) / len(lost) == pytest.approx(0.1, rel=0.1)
    assert sum(runs) / len(runs) == pytest.approx(8, rel=0.1)


@pytest.mark.parametrize("per_s", [10, 1000])
def test_dead_times_have_their_length_however_many_frames_there_are(per_s: int) -> None:
    direction = ImpairedDirection("1", Impairment(loss=0.3, dead_ms=100))
    times = [i / per_s for i in range(600 * per_s)]
    lost = [bool(direction.offer(100, now).lost) for now in times]
    assert sum(lost) / len(lost) == pytest.approx(0.3, rel=0.1)
    runs = [len(list(group)) for gone, group in itertools.groupby(lost) if gone]
    if per_s == 1000:
        assert min(runs[1:]) >= 99  # two that touch count as one; the first may have begun before


def test_the_first_frame_finds_the_air_as_any_other_does() -> None:
    rules = Impairment(loss=0.2, dead_ms=200)
    links = [ImpairedDirection(str(seed), rules) for seed in range(4000)]
    for now in (5.0, 5.1, 6.0):
        gone = sum(bool(link.offer(100, now).lost) for link in links)
        assert gone / len(links) == pytest.approx(0.2, abs=0.03)


def test_jitter_stays_within_its_width_and_is_never_early() -> None:
    seen = delays(offer_all(Impairment(delay_ms=50, jitter_ms=10, keep_order=False)))
    assert 0.040 <= min(seen) < 0.041
    assert 0.059 < max(seen) <= 0.060
    assert sum(seen) / len(seen) == pytest.approx(0.050, rel=0.01)

    short = offer_all(Impairment(delay_ms=1, jitter_ms=10, keep_order=False))
    assert min(delays(short)) >= -1e-9


def test_order_is_kept_under_jitter_unless_told_otherwise() -> None:
    def outs(keep_order: bool) -> list[float]:
        return [f.times[0] for f in offer_all(Impairment(delay_ms=50, jitter_ms=40, keep_order=keep_order), 500)]

    assert outs(True) == sorted(outs(True))
    assert outs(False) != sorted(outs(False))


def test_reordering_holds_back_its_share() -> None:
    seen = delays(offer_all(Impairment(reorder=0.25, reorder_ms=20)))
    held = sum(x > 0.019 for x in seen)
    assert held / FRAMES == pytest.approx(0.25, abs=0.015)
    assert sum(x < 1e-9 for x in seen) == FRAMES - held


def test_duplicates_come_out_twice() -> None:
    doubled = sum(len(fate.times) == 2 for fate in offer_all(Impairment(duplicate=0.1)))
    assert doubled / FRAMES == pytest.approx(0.1, abs=0.01)


def test_rate_spaces_frames_and_bounds_the_queue() -> None:
    # 1,000 frames/s of 200 bytes into 64 kbit/s = 40 frames/s, with room for 10 frames
    fates = offer_all(Impairment(rate_bit_s=64_000, queue_bytes=2_000), 5_000)
    outs = [fate.times[0] for fate in fates if fate.times]
    assert len(outs) == pytest.approx(5 * 40 + 10, abs=2)
    assert min(b - a for a, b in itertools.pairwise(outs)) == pytest.approx(0.025)
    assert max(delays(fates)) <= 2_000 * 8 / 64_000 + 1e-9
    assert {fate.lost for fate in fates if not fate.times} == {"queue"}


def test_a_rate_may_count_more_or_less_than_the_frame() -> None:
    for overhead, expected in ((-14, 43), (50, 32)):  # frames/s of 200 bytes
        fates = offer_all(Impairment(rate_bit_s=64_000, queue_bytes=2_000, overhead_bytes=overhead), 5_000)
        assert len([fate for fate in fates if fate.times]) == pytest.approx(5 * expected + 10, abs=4)


def test_a_cut_link_loses_everything_and_heals() -> None:
    model = ImpairedDirection("1/x", Impairment(down=True))
    assert model.offer(100, 0.0) == Fate((), "down")
    model.impairment = Impairment()
    assert model.offer(100, 1.0) == Fate((1.0,))


def test_a_loss_may_hit_one_kind_alone() -> None:
    model = ImpairedDirection("1/x", Impairment(loss=1.0, only="control"))
    assert model.offer(100, 0.0, "control").lost == "loss"
    assert model.offer(100, 0.0, "data") == Fate((0.0,))
    with pytest.raises(ImpairmentError, match="no kind of datagram"):
        Impairment(only="video")


def test_a_seed_repeats_and_directions_differ() -> None:
    rules = Impairment(delay_ms=20, jitter_ms=5, loss=0.2, duplicate=0.1, reorder=0.1)
    runs = [
        [model.offer(100, i * 0.01) for i in range(500)]
        for model in (ImpairedDirection(seed, rules) for seed in ("3/a", "3/a", "3/b"))
    ]
    assert runs[0] == runs[1]
    assert runs[0] != runs[2]


def test_one_setting_leaves_the_draws_of_the_others_alone() -> None:
    plain = [bool(f.lost) for f in offer_all(Impairment(loss=0.2), 1000)]
    delayed = [bool(f.lost) for f in offer_all(Impairment(loss=0.2, delay_ms=50, jitter_ms=20, duplicate=0.5), 1000)]
    assert plain == delayed


@given(
    loss=st.floats(0, 0.9),
    delay=st.floats(0, 500),
    jitter=st.floats(0, 500),
    rate=st.sampled_from([0.0, 64_000.0]),
    twice=st.floats(0, 1),
    sizes=st.lists(st.integers(60, 1514), min_size=1, max_size=60),
)
def test_nothing_comes_out_before_it_went_in(
    loss: float, delay: float, jitter: float, rate: float, twice: float, sizes: list[int]
) -> None:
    model = ImpairedDirection(
        "5/x", Impairment(delay_ms=delay, jitter_ms=jitter, loss=loss, rate_bit_s=rate, duplicate=twice)
    )
    last = 0.0
    for i, size in enumerate(sizes):
        fate = model.offer(size, i * 0.003)
        assert bool(fate.times) != bool(fate.lost)
        assert all(out >= i * 0.003 for out in fate.times)
        if fate.times:
            assert fate.times[0] >= last
            last = fate.times[0]


@pytest.mark.parametrize(
    ("settings", "word"),
    [
        ({"loss": 1.5}, "loss"),
        ({"delay_ms": -1}, "delay_ms"),
        ({"queue_bytes": 0}, "queue_bytes"),
        ({"only": "pareto"}, "pareto"),
        ({"loss": 0.9, "burst": 2}, "bursts"),
        ({"loss": 0.3, "burst": 2, "dead_ms": 100}, "dead_ms"),
        ({"loss": 1.0, "dead_ms": 100}, "dead_ms"),
        ({"delay": 5}, "unknown setting delay"),
    ],
)
def test_bad_settings_are_refused_by_name(settings: dict[str, object], word: str) -> None:
    with pytest.raises(ImpairmentError, match=word):
        Impairment.from_dict(settings)
