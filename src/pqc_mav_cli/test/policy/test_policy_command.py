# SPDX-License-Identifier: Apache-2.0
"""`pqcmav policy` against a running drone without sensors: it says what it lacks, and does what the operator asks."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from commands import DEADLINE_S, Running, pqcmav, refused
from test_up import Ends

from pqc_mav_common.testing import until
from pqc_mav_common.testing_onlooker import Onlooker

SPACE = ("--namespace", "p/drone")
CHACHA = "cs-mlkem768-chacha20poly1305-mldsa65"


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory, keys: Path) -> Iterator[Ends]:
    ends = Ends(tmp_path_factory.mktemp("ends"), keys)
    gcs = Running("up", "gcs", "--config", str(ends.write("gcs")), "--namespace", "p/gcs")
    drone = Running("up", "drone", "--config", str(ends.write("drone")), *SPACE, "--sensing", "false")
    try:
        drone.wait_for("-> UP")
        drone.wait_for("strategy measured, mode auto")
        yield ends
    finally:
        drone.end(signal.SIGINT)
        gcs.end(signal.SIGINT)
        drone.kill()
        gcs.kill()


def test_explain_says_what_is_missing(pair: Ends) -> None:
    ended = pqcmav("policy", "explain", *SPACE, "--timeout", "30")
    assert ended.returncode == 0, ended.stderr
    assert "Rules out of use: battery: nothing has been heard yet" in " ".join(ended.stdout.split())
    ended = pqcmav("policy", "explain", *SPACE, "--json", "--timeout", "30")
    content = json.loads(ended.stdout)
    assert (content["strategy"], content["mode"]) == ("measured", "auto")
    out = {each["what"] for each in content["conditions"] if each["limit"] == "its rules are out"}
    assert {"battery", "thermal", "vehicle"} <= out


def test_explain_judges_by_the_limits_in_force_and_names_what_waits(pair: Ends) -> None:
    policy, name = "/p/drone/pqc_policy", "rollback_blackouts"
    with Onlooker() as onlooker:
        assert onlooker.put(policy, name, 9).successful
        content = json.loads(pqcmav("policy", "explain", *SPACE, "--json", "--timeout", "30").stdout)
        shown = pqcmav("policy", "explain", *SPACE, "--timeout", "30").stdout
        assert onlooker.put(policy, name, 3).successful
    assert content["waiting"] == {name: {"in_force": 3, "set": 9}}
    assert {each["limit"] for each in content["conditions"] if each["guard"] == "blackout"} == {"> 3"}
    said = f"'{name}' is set to 9, which counts from the next configure on; in force is 3"
    assert said in " ".join(shown.split())
    assert said not in " ".join(pqcmav("policy", "explain", *SPACE, "--timeout", "30").stdout.split())


def test_a_pinned_suite_is_taken_and_released_and_the_mode_set(pair: Ends) -> None:
    deadline = time.monotonic() + DEADLINE_S
    while (ended := pqcmav("policy", "pin", CHACHA, *SPACE)).returncode != 0:
        # The policy has to hear first which suites the proxy has.
        assert "cannot be pinned" in ended.stderr and time.monotonic() < deadline, ended.stderr
    assert ended.stdout == "Pinned ML-768-CP-MD-65; mode manual.\n"
    watching = Running("policy", "watch", *SPACE, "--every")
    try:
        watching.wait_for("pinned     ML-768-CP-MD-65")
        assert watching.end(signal.SIGINT) == 0
    finally:
        watching.kill()
    until(
        lambda: json.loads(pqcmav("status", "--json", *SPACE).stdout)[0]["status"]["suite"] == CHACHA,
        "the rekey to the pinned suite",
    )
    assert pqcmav("policy", "mode", "hold", *SPACE).stdout == "Mode hold.\n"
    released = json.loads(pqcmav("policy", "pin", "none", *SPACE, "--json").stdout)
    assert released == {"ok": True, "message": "Released; mode auto.", "suite": ""}


def test_refusals_are_one_line(pair: Ends) -> None:
    assert "pqcmav suites" in refused(2, "policy", "pin", "cs-nonsense", *SPACE)
    # No key of that signature was made; the policy has to hear first which suites the proxy has.
    until(
        lambda: "public key for falcon512" in refused(1, "policy", "pin", "ML-512-AG-FA-512", *SPACE),
        "the refusal of a suite without its key",
    )
    assert "is the policy running?" in refused(1, "policy", "explain", "--namespace", "no/such", "--timeout", "0.5")
    assert "is the policy running?" in refused(1, "policy", "mode", "auto", "--namespace", "no", "--timeout", "0.5")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("explain", "--namespace", "a b"), "'a b' is no namespace of ROS"),
        (("watch", "--namespace", "1a"), "'1a' is no namespace of ROS"),
        (("mode", "auto", "--namespace", "a//b"), "'a//b' is no namespace of ROS"),
        (("explain", "--timeout", "-1"), "--timeout is -1; it must be between 0 and 86400 s."),
        (("explain", "--timeout", "nan"), "nan is no number"),
        (("watch", "--timeout", "-1"), "--timeout is -1"),
        (("mode", "auto", "--timeout", "inf"), "inf is no number"),
        (("pin", ""), "Name the suite to pin, or 'none' to release the pin."),
    ],
)
def test_what_cannot_be_meant_is_refused_in_one_line(words: tuple[str, ...], said: str) -> None:
    """Without any policy: none is asked."""
    assert said in refused(2, "policy", *words)


def test_table_in_both_forms(tmp_path: Path) -> None:
    content = json.loads(pqcmav("policy", "table", "--json").stdout)
    assert len(content["suites"]) == 72
    assert [row["rank"] for row in content["suites"]] == list(range(72))
    assert {row["published_tier"] for row in content["suites"]} <= set(range(28))
    assert "FR-976A-AG-MD-65" in pqcmav("policy", "table", "--all").stdout
    assert "Cannot read" in refused(2, "policy", "table", "--measured", str(tmp_path / "none.json"))
