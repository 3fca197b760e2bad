# SPDX-License-Identifier: Apache-2.0
"""`policy train`, `policy compare` and `replay`, as their users run them; no ROS is needed for these."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from commands import pqcmav, refused

from pqc_mav_common.testing import on_request

BEGIN_NS = 1_700_000_000_000_000_000


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A hot flight under the cascade, as the recorder leaves it."""
    from pqc_mav_interfaces.msg import PolicyDecision
    from rclpy.serialization import serialize_message

    from pqc_mav_policy.registry import engine_available, engine_catalogue
    from pqc_mav_policy.settings import Settings, make
    from pqc_mav_policy.telemetry.snapshot import dump
    from pqc_mav_policy_lab.flight_model.costs import published_costs
    from pqc_mav_policy_lab.missions.fly import Simulation, fly
    from pqc_mav_policy_lab.missions.simulated import mission
    from pqc_mav_recorder.file import RecordingFile
    from pqc_mav_recorder.schema import installed_topic

    catalogue = engine_catalogue()
    suite = "cs-mlkem768-aesgcm-mldsa65"
    simulation = Simulation(mission("hot").world(), suite, engine_available(), catalogue, published_costs(catalogue))
    kind = "pqc_mav_interfaces/msg/PolicyDecision"
    topic = installed_topic("/drone/pqc_policy/decision", kind)
    file = RecordingFile(tmp_path_factory.mktemp("replay") / "hot.mcap", {})
    for second in fly(simulation, make("cascade", catalogue, Settings())):
        decision = second.decision
        message = PolicyDecision(
            strategy="cascade",
            mode="auto",
            action=str(decision.action),
            guard=decision.guard,
            to_suite=decision.to_suite,
            inputs=dump(second.inputs, float(second.index)),
        )
        at = BEGIN_NS + second.index * 1_000_000_000
        file.write(topic, serialize_message(message), at, at)
    return file.finish()


@on_request("replays a flight twice, as test_replay.py of pqc_mav_policy_lab")
def test_replay_gives_the_same_bytes_every_time(recording: Path) -> None:
    first, second = (pqcmav("replay", str(recording), "--strategy", "hybrid") for _ in range(2))
    assert first.returncode == 0, first.stderr
    assert first.stdout == second.stdout and len(first.stdout.splitlines()) == 759
    assert json.loads(first.stdout.splitlines()[0])["t_s"] == 0.0


def test_replay_checks_what_was_decided(recording: Path) -> None:
    ended = pqcmav("replay", str(recording), "--check", "--changes")
    assert ended.returncode == 0 and "0 of 759 decisions differ" in ended.stderr
    assert '"action":"DOWN"' in ended.stdout and len(ended.stdout.splitlines()) < 200
    ended = pqcmav("replay", str(recording), "--check", "--strategy", "expert")
    assert ended.returncode == 1 and " of 759 decisions differ" in ended.stderr


def test_replay_takes_the_parameters_of_the_flight(recording: Path, tmp_path: Path) -> None:
    config = tmp_path / "policy.yaml"
    config.write_text("/**: {pqc_policy: {ros__parameters: {temperature_emergency_c: 100.0}}}")
    ended = pqcmav("replay", str(recording), "--check", "--config", str(config))
    assert ended.returncode == 1 and "DOWN_0" not in ended.stdout, ended.stderr
    config.write_text("/**: {pqc_policy: {ros__parameters: {temperature_emergency: 100.0}}}")
    assert "temperature_emergency_c" in refused(2, "replay", str(recording), "--config", str(config))
    config.write_text("nonsense")
    assert "expected" in refused(2, "replay", str(recording), "--config", str(config))


def test_replay_refusals(recording: Path, tmp_path: Path) -> None:
    assert "No such file" in refused(1, "replay", str(tmp_path / "no.mcap"))
    assert "no telemetry in namespace /other" in refused(1, "replay", str(recording), "--namespace", "other")
    assert "'luck' is not a strategy" in refused(2, "replay", str(recording), "--strategy", "luck")
    bad = tmp_path / "bad.json"
    bad.write_text("{}")
    line = refused(2, "replay", str(recording), "--strategy", "rl", "--table", str(bad))
    assert "not a trained table" in line


def test_train_is_reproducible_and_its_table_flies(recording: Path, tmp_path: Path) -> None:
    texts = []
    for name in ("a.json", "b.json"):
        ended = pqcmav("policy", "train", str(tmp_path / name), "--seed", "3", "--episodes", "2")
        assert ended.returncode == 0, ended.stderr
        texts.append((tmp_path / name).read_bytes())
    assert texts[0] == texts[1] and json.loads(texts[0])["training"]["seed"] == 3
    ended = pqcmav("replay", str(recording), "--strategy", "rl", "--table", str(tmp_path / "a.json"))
    assert ended.returncode == 0, ended.stderr
    assert "Cannot write" in refused(1, "policy", "train", "/proc/no/table.json", "--episodes", "1")


def test_compare_writes_page_and_figures(recording: Path, tmp_path: Path) -> None:
    ended = pqcmav("policy", "compare", str(recording), "--output", str(tmp_path / "out"))
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout == f"Written to {tmp_path / 'out'}: policy.md, policy.json\n"
    names = {entry.name for entry in (tmp_path / "out").iterdir()}
    assert names == {"policy.md", "policy.json"}
    rows = json.loads((tmp_path / "out" / "policy.json").read_text())["rows"]
    assert {(row["mission"], row["source"]) for row in rows} == {("hot", "recorded")}
    assert len(rows) == 8
    page = (tmp_path / "out" / "policy.md").read_text()
    assert "**0 of 8 flights are simulated**" in page
    assert pqcmav("policy", "compare", str(recording)).stdout == f"{page}\n"


def test_learn_writes_a_table_and_prints_the_order_that_follows(tmp_path: Path) -> None:
    from pqc_mav_interfaces.msg import HandshakeReport
    from rclpy.serialization import serialize_message

    from pqc_mav_recorder.file import RecordingFile
    from pqc_mav_recorder.schema import installed_topic

    topic = installed_topic("/drone/pqc_proxy/handshake", "pqc_mav_interfaces/msg/HandshakeReport")
    file = RecordingFile(tmp_path / "flight.mcap", {})
    report = HandshakeReport(ok=True, suite="cs-mlkem1024-aesgcm-falcon1024", handshake_ms=12.5)
    file.write(topic, serialize_message(report), BEGIN_NS, BEGIN_NS)
    flight, output = str(file.finish()), tmp_path / "learned.csv"
    ended = pqcmav("policy", "learn", flight, "--output", str(output))
    assert ended.returncode == 0, ended.stderr
    assert "1 handshake in 1 flight" in ended.stdout and "1 suite written" in ended.stdout
    assert " 12.5 ms " in ended.stdout, "as recorded, with the transfer in it once"
    assert "cs-mlkem1024-aesgcm-falcon1024,12.5" in output.read_text()
    assert "nothing can be learned" in refused(1, "policy", "learn", flight, "--namespace", "other")
    assert "Cannot read" in refused(2, "policy", "learn", flight, "--base", str(tmp_path / "no.csv"))
    assert "Cannot write" in refused(1, "policy", "learn", flight, "--output", "/proc/no/table.csv")


def test_judge_refusals() -> None:
    assert "'moon' is not a mission" in refused(2, "policy", "judge", "moon")


def test_compare_refusals(tmp_path: Path) -> None:
    assert "'moon' is not a mission" in refused(2, "policy", "compare", "moon")
    assert "Cannot read" in refused(2, "policy", "compare", "hot", "--costs", str(tmp_path / "no.json"))
    assert "No such file" in refused(2, "policy", "compare", str(tmp_path / "no.mcap"))
