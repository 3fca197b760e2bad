# SPDX-License-Identifier: Apache-2.0
import threading

from pqc_mav_common.repeater import Repeater


def test_it_works_between_start_and_stop_and_has_no_thread_otherwise() -> None:
    before, done = threading.active_count(), threading.Semaphore(0)
    repeater = Repeater(0.001, done.release, print)
    for _ in range(2):
        repeater.start()
        repeater.start()
        assert repeater.running and threading.active_count() == before + 1
        assert all(done.acquire(timeout=10) for _ in range(5))
        repeater.stop()
        repeater.stop()
        assert not repeater.running and threading.active_count() == before
    while done.acquire(blocking=False):
        pass
    assert not done.acquire(timeout=0.02), "nothing comes after stop"


def test_what_fails_is_told_and_done_again() -> None:
    told: list[Exception] = []
    enough = threading.Event()

    def work() -> None:
        raise ValueError("no room")

    def failed(error: Exception) -> None:
        told.append(error)
        if len(told) == 3:
            enough.set()

    repeater = Repeater(0.001, work, failed)
    repeater.start()
    assert enough.wait(10)
    repeater.stop()
    assert str(told[0]) == "no room"
