# SPDX-License-Identifier: Apache-2.0
import signal

import pytest

from pqc_mav_bringup.description import SystemDescription
from pqc_mav_bringup.respawn import FINALIZED, ExitCode, Lives, Respawn, Verdict, describe
from pqc_mav_bringup.systems import DRONE, GCS, NODE, RECORDER
from pqc_mav_common.errors import ExitCode as ExitCodeOfNodes

POLICY = Respawn(delay_s=0.5, quick=2, factor=2.0, max_delay_s=3.0, settled_s=10.0, most_deaths=6)


def test_a_clean_end_is_the_end() -> None:
    for policy in (None, POLICY):
        assert Lives(policy).ended(0, 0.1) == Verdict()


def test_without_a_policy_one_bad_end_is_the_systems() -> None:
    assert Lives(None).ended(7, 99.0) == Verdict(failure=ExitCode.FAILED, text="ended with exit code 7")


@pytest.mark.parametrize(
    ("code", "failure", "text"),
    [(2, ExitCode.CONFIG, ""), (3, ExitCode.FAILED, ""), (1, ExitCode.FAILED, "ended with exit code 1")],
)
def test_what_would_fail_again_is_not_tried_again(code: int, failure: ExitCode, text: str) -> None:
    assert Lives(POLICY).ended(code, 0.1) == Verdict(failure=failure, text=text)


@pytest.mark.parametrize("code", [1, 2, 3, 126, 127])
def test_a_later_failure_to_start_may_pass_and_ends_nothing_else(code: int) -> None:
    """Its port may be free in a moment; its file may have been changed, or its library replaced, since it began."""
    for process in DRONE.processes:
        lives = Lives(process.respawn)
        assert lives.ended(-signal.SIGKILL, 0.1).again_in_s == 0.3
        again = lives.ended(code, 0.1)
        assert again.again_in_s == 0.3 and not again.failure and f"exit code {code}" in again.text


def test_delays_grow_a_long_life_forgets_them_and_it_ends_some_time() -> None:
    lives = Lives(POLICY)
    assert [lives.ended(-11, 9.9).again_in_s for _ in range(5)] == [0.5, 0.5, 1.0, 2.0, 3.0]
    last = lives.ended(-11, 9.9)
    assert last == Verdict(text="ended with signal SIGSEGV for the 6th time in a row; the rest goes on without it")
    lives = Lives(POLICY)
    assert [lives.ended(-11, 10.0).again_in_s for _ in range(20)] == [0.5] * 20


def test_a_proxy_is_never_given_up() -> None:
    (proxy,) = [each for each in DRONE.processes if each.package == "pqc_mav_proxy" and each.name == NODE]
    assert proxy.respawn is not None
    lives = Lives(proxy.respawn)
    assert all(lives.ended(code, 0.1).again_in_s is not None for code in (-11, 0) for _ in range(1000))


def test_a_proxy_that_a_lifecycle_manager_shut_down_stays_away() -> None:
    (proxy,) = [each for each in DRONE.processes if each.package == "pqc_mav_proxy" and each.name == NODE]
    verdict = Lives(proxy.respawn).ended(FINALIZED, 0.1)
    assert verdict.again_in_s is None and not verdict.failure and "lifecycle manager" in verdict.text
    assert FINALIZED == ExitCodeOfNodes.FINALIZED


@pytest.mark.parametrize("code", [126, 127])
def test_what_cannot_be_executed_is_not_tried_again(code: int) -> None:
    for process in (each for each in DRONE.processes if each.name != RECORDER):
        assert Lives(process.respawn).ended(code, 0.1) == Verdict(
            failure=ExitCode.CONFIG, text=f"ended with {describe(code)}"
        )
    assert "or a library that it needs" in describe(code)


@pytest.mark.parametrize("system", [DRONE, GCS], ids=lambda system: system.name)
@pytest.mark.parametrize("code", [1, 2, 3, 126, 127])
def test_a_recorder_never_ends_the_rest(system: SystemDescription, code: int) -> None:
    """After a reset in flight the disk may be full at its first start; if it was killed, its remains are there."""
    (recorder,) = [each for each in system.processes if each.name == RECORDER]
    passing = code in (1, 3)
    first, second = Lives(recorder.respawn), Lives(recorder.respawn)
    assert second.ended(-signal.SIGKILL, 60.0).again_in_s == 0.3
    assert second.ended(code, 1.0).again_in_s == 0.3
    verdict = first.ended(code, 1.0)
    assert not verdict.failure and (verdict.again_in_s is not None) is passing
    assert passing or verdict.text == f"ended with {describe(code)}; the rest goes on without it"


def test_signals_have_names() -> None:
    assert [describe(code) for code in (5, -9, -200)] == ["exit code 5", "signal SIGKILL", "signal 200"]
