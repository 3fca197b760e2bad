# SPDX-License-Identifier: Apache-2.0
from pqc_mav_proxy.attempts import AGAIN_S, Attempts


def test_one_reason_is_said_once_and_again_every_minute() -> None:
    attempts = Attempts()
    said = [second for second in range(0, 200, 2) if attempts.failed("d1", "no such host", float(second))]
    assert said == [0, AGAIN_S, 2 * AGAIN_S, 3 * AGAIN_S]
    assert attempts.failed("d1", "another reason", 200.0)
    assert attempts.failed("d2", "no such host", 200.0)


def test_the_to_and_fro_of_attempts_is_not_said_after_their_failure() -> None:
    attempts = Attempts()
    assert attempts.changed("d1", "DOWN", "HANDSHAKING")
    assert attempts.failed("d1", "no such host", 0.0)
    assert not attempts.changed("d1", "HANDSHAKING", "DOWN")
    assert not attempts.changed("d1", "DOWN", "HANDSHAKING")
    assert attempts.changed("d2", "DOWN", "HANDSHAKING")
    assert attempts.changed("d1", "HANDSHAKING", "UP")
    attempts.connected("d1")
    assert attempts.changed("d1", "UP", "DOWN")
    assert attempts.changed("d1", "DOWN", "HANDSHAKING")


def test_a_warning_is_repeated_after_a_minute() -> None:
    attempts = Attempts()
    assert attempts.warned("no answer yet", 5.0)
    assert not attempts.warned("no answer yet", 60.0)
    assert attempts.warned("another", 60.0)
    assert attempts.warned("no answer yet", 65.0)
