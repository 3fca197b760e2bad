# SPDX-License-Identifier: Apache-2.0
import pytest

from pqc_mav_wirespec.encoding import frame
from pqc_mav_wirespec.errors import MalformedError
from pqc_mav_wirespec.hsframes import Ack
from pqc_mav_wirespec.rtt import Rtt
from pqc_mav_wirespec.sender import MessageSender, Window


def sender(total=60_000, *, limit=1200, in_session=False, rtt=None, first=100):
    made = MessageSender(
        frame(2, bytes(total - 5)), limit, rtt or Rtt(0.6), in_session=in_session, parity=True, next_packet=first
    )
    made.packet = first
    return made


def send_all(made, now=0.0):
    """Sends what may go; returns the indices."""
    sent = []
    while (index := made.next_index()) is not None:
        made.on_sent(index, made.packet, now, 1200)
        made.packet += 1
        sent.append(index)
    return sent


def acked(made, have, echo, ours=True):
    return made.on_ack(Ack.of(2, echo, 0, made.cut.count, set(have)), ours, made.packet)


def test_ten_at_first_and_two_inside_a_session():
    assert send_all(sender()) == list(range(10))
    assert send_all(sender(in_session=True)) == [0, 1]


def test_the_window_doubles_once_per_round():
    rtt = Rtt(0.6)
    rtt.sample(0.1)
    made = sender(rtt=rtt)
    send_all(made)
    assert acked(made, range(10), 109)
    assert made.window.size == 20
    assert len(send_all(made)) == 20
    acked(made, range(11), 109)
    assert made.window.size == 20, "the round has not ended"
    acked(made, range(12), 111)
    assert made.window.size == 40


def test_delay_shrinks_the_window_and_random_loss_does_not():
    rtt = Rtt(0.6)
    rtt.sample(0.1)
    window = Window(100.0, doubling=True)
    window.round.sent, window.round.lost, window.round.least_rtt = 50, 15, 0.11
    window.end_round(rtt, 10)
    assert (window.size, window.least_loss) == (200.0, 0.3)
    window.round.sent, window.round.lost, window.round.least_rtt = 50, 20, 0.11
    window.end_round(rtt, 20)
    assert window.size == 256.0
    window.round.sent, window.round.least_rtt = 50, 0.16
    window.end_round(rtt, 30)
    assert (window.size, window.doubling) == (pytest.approx(0.7 * 256), False)
    window.round.sent, window.round.lost, window.round.least_rtt = 50, 30, 0.11
    window.end_round(rtt, 40)
    assert window.size == pytest.approx(0.49 * 256), "20 points above the least share of a round (0)"
    window.end_round(rtt, 50)
    assert window.size == pytest.approx(0.49 * 256 * 9 / 8)


def test_what_an_ack_lacks_is_lost_and_goes_before_anything_new():
    made = sender()
    send_all(made)
    acked(made, [0, 1, 3, 4], 104)
    assert made.lost == 1
    assert send_all(made)[0] == 2
    assert acked(made, [0, 1, 3, 4], 104) is False
    assert made.lost == 1


def test_an_echo_that_was_never_sent_acknowledges_and_loses_nothing():
    made = sender()
    send_all(made)
    assert acked(made, [0, 5], 10**9, ours=False)
    assert made.lost == 0
    assert made.acked == {0, 5}


def test_nothing_above_the_last_base_plus_256():
    rtt = Rtt(0.6)
    rtt.sample(0.1)
    made = sender(1_000_000, rtt=rtt)
    made.window.size = 10_000
    assert send_all(made)[-1] == 256
    acked(made, range(1, 257), 100 + 256)
    assert send_all(made) == [0]
    acked(made, range(257), made.packet - 1)
    made.window.size = 10_000
    assert send_all(made)[-1] == 513


def test_a_time_out_sends_the_two_oldest_whatever_the_window_says():
    made = sender()
    send_all(made)
    acked(made, [0, 2], 100, ours=False)
    made.window.size = 2
    made.on_timeout()
    assert send_all(made) == [1, 3]
    made.on_timeout()
    assert send_all(made) == [4, 5]


def test_parity_goes_once_behind_its_group():
    made = sender(5000)
    assert send_all(made) == [0, 1, 2, 3, 5, 4]
    made.on_timeout()
    assert send_all(made) == [0, 1]


def test_a_smaller_cut_ignores_acks_of_the_old_one():
    made = sender(5000)
    send_all(made)
    acked(made, [0], 100)
    made.shrink(True, made.packet)
    assert made.cut.size == 498
    assert made.acked == set()
    assert acked(made, [0, 1], 105) is False
    sent = send_all(made)
    assert sent[:2] == [0, 1]
    assert acked(made, [0], made.packet - len(sent))


@pytest.mark.parametrize("ack", [Ack(2, 200, 0, 54), Ack(2, 200, 0, 52, b"\3"), Ack(2, 200, 0, 53, b"\1")])
def test_an_ack_beyond_the_message_is_malformed(ack):
    made = sender()
    assert made.cut.count == 53
    with pytest.raises(MalformedError):
        made.check(ack)
