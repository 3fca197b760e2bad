# SPDX-License-Identifier: Apache-2.0
from pqc_mav_wirespec.ratelimit import TokenBuckets


def test_five_failures_then_one_per_second():
    buckets = TokenBuckets()
    for _ in range(5):
        assert buckets.admits("192.0.2.1", 10.0)
        buckets.charge("192.0.2.1", 10.0)
    assert not buckets.admits("192.0.2.1", 10.9)
    assert buckets.admits("192.0.2.1", 11.0)
    buckets.charge("192.0.2.1", 11.0)
    assert not buckets.admits("192.0.2.1", 11.0)
    assert buckets.admits("192.0.2.2", 10.0)


def test_a_long_pause_fills_no_more_than_the_burst():
    buckets = TokenBuckets()
    buckets.charge("192.0.2.1", 0.0)
    for _ in range(5):
        buckets.charge("192.0.2.1", 1000.0)
    assert not buckets.admits("192.0.2.1", 1000.0)


def test_success_costs_nothing():
    buckets = TokenBuckets()
    assert all(buckets.admits("192.0.2.1", 0.0) for _ in range(100))
