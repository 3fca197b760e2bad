import socket
import time

import pytest

from pqc_mav_sim.flood import Flood


def test_datagrams_arrive_and_none_is_a_frame() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as target:
        target.bind(("127.0.0.1", 0))
        target.settimeout(10.0)
        flood = Flood("127.0.0.1", target.getsockname()[1], 500.0).start()
        got = [target.recv(2048) for _ in range(60)]
        sent = flood.stop()
    assert sent >= 60 and {len(each) for each in got} == {120}
    assert {each[0] for each in got} == {0x02, 0x12, 0xFF} and len(set(got)) == 60


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
