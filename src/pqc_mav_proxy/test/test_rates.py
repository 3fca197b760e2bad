# SPDX-License-Identifier: Apache-2.0
import pytest

from pqc_mav_proxy.rates import RATES, RateMeter


def counters(packets: int) -> dict[str, int]:
    return {counter: packets * (100 if "bytes" in counter else 1) for counter in RATES.values()}


def test_first_reading_has_no_rate() -> None:
    assert set(RateMeter().update("a", counters(5), 1.0).values()) == {0.0}


def test_rates_are_per_second_and_per_drone() -> None:
    meter = RateMeter()
    meter.update("a", counters(0), 10.0)
    meter.update("b", counters(1000), 10.0)
    rates = meter.update("a", counters(640), 12.0)
    assert rates["tx_packets_per_s"] == pytest.approx(320.0)
    assert rates["rx_bytes_per_s"] == pytest.approx(32_000.0)
    assert meter.update("b", counters(1010), 11.0)["rx_packets_per_s"] == pytest.approx(10.0)


def test_counters_that_started_anew_and_a_clock_that_stands_give_no_rate() -> None:
    meter = RateMeter()
    meter.update("a", counters(1000), 1.0)
    assert meter.update("a", counters(10), 2.0)["tx_packets_per_s"] == 0.0
    assert meter.update("a", counters(20), 2.0)["tx_packets_per_s"] == 0.0
