# SPDX-License-Identifier: Apache-2.0
import socket
import time
from collections.abc import Callable

import pytest

from pqc_mav_sim.flood import Flood

FRAME = (
    bytes((0x03, 1, 2, 3, 4)) + b"SESSION!" + (1000).to_bytes(8, "big") + b"\x07" + b"secret and tag, sixteen and more"
)


def received(overhear: Callable[[], bytes], held_s: float = 0.0) -> tuple[list[bytes], int]:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as target:
        target.bind(("127.0.0.1", 0))
        target.settimeout(10.0)
        flood = Flood("127.0.0.1", target.getsockname()[1], 500.0, overhear, held_s=held_s).start()
        got = [target.recv(2048) for _ in range(60)]
        return got, flood.stop()


def test_overheard_frames_are_replayed_and_their_headers_forged() -> None:
    got, sent = received(lambda: FRAME)
    assert sent >= 60 and got.count(FRAME) == 20
    forged = [each for each in got if each[:13] == FRAME[:13] and each != FRAME]
    assert len(forged) == 20 and all(each[21:22] == b"\x07" and len(each) == len(FRAME) for each in forged)
    assert all(1000 < int.from_bytes(each[13:21], "big") <= 1500 for each in forged)
    assert len({each[22:] for each in forged} | {FRAME[22:]}) == 21, "the attacker has no key"


def test_no_copy_races_its_original() -> None:
    got, _ = received(lambda: FRAME, held_s=60.0)
    assert {len(each) for each in got} == {120}, "what was just overheard is not used yet"


def test_without_anything_overheard_it_is_nonsense() -> None:
    got, _ = received(bytes)
    assert {len(each) for each in got} == {120} and len(set(got)) == 60


def test_the_rate_is_kept_over_a_pause_of_the_machine() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as target:
        target.bind(("127.0.0.1", 0))
        flood = Flood("127.0.0.1", target.getsockname()[1], 1000.0)
        began = time.monotonic()
        flood.start()
        while flood.sent < 200:
            assert time.monotonic() - began < 30
            time.sleep(0.01)
        took = time.monotonic() - began
        assert flood.stop() <= took * 1000.0 + 200


@pytest.mark.parametrize(("host", "rate"), [("192.0.2.1", 10.0), ("127.0.0.1", 0.0), ("127.0.0.1", 1e6)])
def test_other_machines_and_absurd_rates_are_refused(host: str, rate: float) -> None:
    with pytest.raises(ValueError, match=r"refused|out of range"):
        Flood(host, 9, rate)
