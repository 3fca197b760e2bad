# SPDX-License-Identifier: Apache-2.0
"""What the tests of all packages lean on."""

from __future__ import annotations

import signal
import sys
import time

import pytest

from pqc_mav_common.testing import DEADLINE_S, Running, on_request, until

TALKER = "import time\nprint('one', flush=True)\nprint('two', flush=True)\ntime.sleep(600)"


def test_until_returns_what_it_found_or_says_what_did_not_come() -> None:
    found = iter([None, 0, "it"])
    assert until(lambda: next(found), "it") == "it"
    with pytest.raises(AssertionError, match=r"not within 0\.02 s: rain"):
        until(lambda: False, "rain", 0.02)


def test_what_is_costly_is_run_on_request(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PQCMAV_SLOW", raising=False)
    skipped = on_request("takes an hour").mark
    assert (skipped.args, skipped.kwargs) == ((True,), {"reason": "takes an hour; PQCMAV_SLOW=1 runs it"})
    monkeypatch.setenv("PQCMAV_SLOW", "1")
    assert on_request("takes an hour").mark.args == (False,)


def test_a_running_process_is_heard_and_ended() -> None:
    process = Running([sys.executable, "-c", TALKER])
    try:
        process.wait_for("two")
        assert process.lines == ["one", "two"]
        assert process.end(signal.SIGTERM) == -signal.SIGTERM
    finally:
        process.kill()


def test_a_process_that_has_ended_is_not_waited_for() -> None:
    process = Running([sys.executable, "-c", "print('port in use')"])
    began = time.monotonic()
    with pytest.raises(AssertionError, match="no 'ready' in:\nport in use"):
        process.wait_for("ready")
    assert time.monotonic() - began < DEADLINE_S / 2
    process.wait_for("in use")
