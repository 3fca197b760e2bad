# SPDX-License-Identifier: Apache-2.0
"""The scenes' logic against the simulated vehicle, and against real autopilots where their folders are given."""

from __future__ import annotations

import json
import random
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import air
import autopilots
import pytest
from autopilots.files import read_file, read_log
from autopilots.ground import Ground, LateError, mavlink, waypoint
from autopilots.lasting import overlaps
from autopilots.pilot import Pilot
from autopilots.scenes import SCENES
from autopilots.vehicles import ARDUPILOT, MODELS, PX4, MissingError
from autopilots.watching import verdicts
from traffic import application_socket

from pqc_mav_detect.channels import CHANNELS
from pqc_mav_detect.window import Window
from pqc_mav_sim.habits import HABITS

needs_root = pytest.mark.skipif(bool(air.need_root()), reason=air.need_root() or "-")
ROOT = Path(__file__).resolve().parents[2]
FTP = struct.Struct("<HBBBBBxI")  # sequence, session, opcode, size, opcode of the request, burst is over, offset
Row = dict[str, Any]


@pytest.fixture
def talk() -> Any:
    """A ground station, and the autopilot's side of the conversation: what it says, and what it hears."""
    with application_socket() as end, application_socket() as vehicle:
        vehicle.settimeout(5.0)
        mav = mavlink.MAVLink(None, srcSystem=1, srcComponent=1)

        def say(message: Any, lose: bool = False) -> None:
            data = message.pack(mav)
            mav.seq = (mav.seq + 1) % 256
            if not lose:
                vehicle.sendto(data, end.getsockname())

        yield Ground(end), say, vehicle


def beat() -> Any:
    return mavlink.MAVLink_heartbeat_message(mavlink.MAV_TYPE_QUADROTOR, mavlink.MAV_AUTOPILOT_PX4, 0, 0, 3, 3)


def test_lost_messages_are_counted_by_the_sequence_across_its_end(talk: Any) -> None:
    ground, say, _ = talk
    for number in range(300):
        say(beat(), lose=number in (10, 11, 255))
    ground.wait(lambda: ground.total == 297, 5.0, "297 heartbeats")
    assert ground.lost == 3 and ground.system == 1


def test_what_was_overtaken_is_not_lost_nor_is_what_is_of_another_dialect(talk: Any) -> None:
    ground, _, vehicle = talk
    mav = mavlink.MAVLink(None, srcSystem=1, srcComponent=1)
    raw = []
    for mav.seq in range(4):
        raw.append(beat().pack(mav))
    unknown = bytearray(raw[2])
    unknown[7:10] = (12_000_000).to_bytes(3, "little")
    for datagram in (raw[0], bytes(unknown), raw[3], raw[1]):
        vehicle.sendto(datagram, ground._socket.getsockname())
    ground.wait(lambda: ground.total == 3, 5.0, "three heartbeats")
    assert ground.lost == 0


def test_what_other_components_say_is_not_the_autopilots(talk: Any) -> None:
    ground, say, vehicle = talk
    other = mavlink.MAVLink(None, srcSystem=1, srcComponent=154)
    vehicle.sendto(beat().pack(other), ground._socket.getsockname())
    say(beat())
    ground.wait(lambda: ground.total, 5.0, "a heartbeat")
    assert ground.total == 1 and ground.lost == 0


def test_what_does_not_come_is_said_with_the_autopilots_words(talk: Any) -> None:
    ground, say, _ = talk
    say(mavlink.MAVLink_statustext_message(4, b"PreArm: no fix"))
    with pytest.raises(LateError, match=r"a landing did not come within 0\.3 s; the autopilot said: PreArm: no fix"):
        ground.wait(lambda: False, 0.3, "a landing")


def test_parameters_that_were_lost_are_asked_for_and_counted(talk: Any) -> None:
    ground, say, _vehicle = talk
    say(beat())
    ground.wait(lambda: ground.total, 5.0, "a heartbeat")
    answers = [mavlink.MAVLink_param_value_message(f"P{i}".encode(), i, 9, 5, i) for i in (0, 2, 4)]
    for each in answers:
        say(each)
    asked: list[int] = []

    def answer(message: Any) -> None:
        if message.get_type() == "PARAM_REQUEST_READ":
            asked.append(message.param_index)
            say(mavlink.MAVLink_param_value_message(b"late", 1.0, 9, 5, message.param_index))

    real = ground.send
    ground.send = lambda message: (answer(message), real(message))
    assert ground.parameters(10.0)["missing"] == 2
    assert asked == [1, 3]


def test_a_waypoint_lies_where_it_should() -> None:
    item = waypoint(1, 3, 111.32, 0.0, 20.0)
    assert (item.seq, item.x, item.y, item.z) == (3, 473_987_420, 85_455_940, 20.0)
    there = waypoint(1, 3, 0.0, 111.32 / 2, 20.0, home=(60.0, -73.0))
    assert (there.x, there.y) == (600_000_000, -729_990_000)


CONTENT = bytes(range(256)) * 8


def answering(talk: Any, answer: Callable[[Any], list[Any]]) -> Ground:
    """The ground, once it has heard the vehicle; what it sends is answered, but for a fifth of it."""
    ground, say, _ = talk
    say(beat())
    ground.wait(lambda: ground.total, 5.0, "a heartbeat")
    real, generator = ground.send, random.Random(1)

    def send(message: Any) -> None:
        for each in answer(message):
            say(each, lose=generator.random() < 0.2)
        real(message)

    ground.send = send
    return ground


def test_a_log_is_read_whole_though_pieces_get_lost(talk: Any) -> None:
    def answer(message: Any) -> list[Any]:
        if message.get_type() == "LOG_REQUEST_LIST":
            return [mavlink.MAVLink_log_entry_message(1, 1, 1, 0, len(CONTENT))]
        if message.get_type() != "LOG_REQUEST_DATA":
            return []
        places = range(message.ofs, min(message.ofs + message.count, len(CONTENT)), 90)
        pieces = [(at, CONTENT[at : at + 90]) for at in places]
        return [mavlink.MAVLink_log_data_message(1, at, len(data), list(data.ljust(90, b"x"))) for at, data in pieces]

    assert read_log(answering(talk, answer), len(CONTENT))[1] == CONTENT


def test_a_file_is_read_in_bursts_though_pieces_get_lost(talk: Any) -> None:
    def reply(request: int, offset: int, data: bytes, over: bool = False) -> Any:
        payload = FTP.pack(0, 3, 128, len(data), request, over, offset) + data
        return mavlink.MAVLink_file_transfer_protocol_message(0, 255, 190, list(payload.ljust(251, b"x")))

    def answer(message: Any) -> list[Any]:
        if message.get_type() != "FILE_TRANSFER_PROTOCOL":
            return []
        raw = bytes(message.payload)
        _, session, opcode, size, _, _, offset = FTP.unpack(raw[: FTP.size])
        if opcode == 4:
            assert raw[FTP.size : FTP.size + size] == b"logs/1"
            return [reply(4, 0, len(CONTENT).to_bytes(4, "little"))]
        if opcode != 15:
            return []
        assert session == 3
        places = list(range(offset, len(CONTENT), size))[:4]  # a burst
        return [reply(15, at, CONTENT[at : at + size], at == places[-1]) for at in places]

    assert read_file(answering(talk, answer), "logs/1")[1] == CONTENT


@pytest.mark.parametrize("ardupilot", [True, False])
def test_a_pilot_knows_both_numberings_of_modes(talk: Any, ardupilot: bool) -> None:
    ground, say, _ = talk
    autopilot = mavlink.MAV_AUTOPILOT_ARDUPILOTMEGA if ardupilot else mavlink.MAV_AUTOPILOT_PX4
    custom = 3 if ardupilot else 4 << 16 | 4 << 24
    say(mavlink.MAVLink_heartbeat_message(2, autopilot, 128, custom, 4, 3))
    say(mavlink.MAVLink_global_position_int_message(0, 454_549_850, -737_571_230, 0, 0, 0, 0, 0, 0))
    ground.wait(lambda: ground.total == 2, 5.0, "a heartbeat and a position")
    pilot = Pilot(ground)
    assert pilot.armed and pilot.mode == pilot.modes.custom(pilot.modes.mission)
    assert pilot.modes.of(custom) == pilot.modes.mission
    items = pilot.square(40.0)
    assert [item.seq for item in items] == list(range(len(items)))
    assert items[ardupilot].command == mavlink.MAV_CMD_NAV_TAKEOFF
    assert (items[-1].x, items[-1].y) == (454_549_850, -737_571_230)  # it ends where the vehicle is
    assert items[-1].command == mavlink.MAV_CMD_NAV_LAND


def test_verdicts_are_counted_once_each() -> None:
    def windows(forged: float) -> list[Window]:
        quiet = dict.fromkeys(CHANNELS, 0.0)
        return [
            Window(turn / 10, 0.1, {**quiet, "forged": forged if 100 <= turn < 150 else 0.0}) for turn in range(300)
        ]

    assert verdicts(windows(0.0), 30.0, ["rules"]) == {"rules_attack": 0.0, "rules_suspicious": 0.0}
    assert verdicts(windows(200.0), 30.0, ["rules"])["rules_attack"] == 1.0
    with pytest.raises(LateError, match="only 200 windows in 30 s"):
        verdicts(windows(0.0)[:200], 30.0, ["rules"])


def test_an_autopilot_that_is_not_given_is_skipped_with_a_sentence(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for model in (ARDUPILOT, PX4):
        monkeypatch.delenv(model.variable, raising=False)
        with pytest.raises(MissingError, match=f"{model.variable} is not given"):
            model.folder()
        monkeypatch.setenv(model.variable, str(tmp_path))
        with pytest.raises(MissingError, match=f"'make autopilots {model.variable}={tmp_path}' builds it"):
            model.folder()


def test_new_lines_replace_those_of_the_same_scene_and_a_cell_that_would_repeat_is_empty() -> None:
    def row(scene: str, seconds: float, **more: Any) -> Row:
        run = {"seconds": seconds, "count": 3, "missing": 0, "load": 1.0, **more}
        return {"scene": scene, "autopilot": "px4", "way": "direct", "machine": "m, load average 1", "runs": [run, run]}

    old = [row("parameters", 1.0), row("thin-parameters", 9.0)]
    whole = autopilots.merged(old, [row("parameters", 2.0, failed="it fell down")])
    assert [each["runs"][0]["seconds"] for each in whole] == [2.0, 9.0]
    text = autopilots.page(whole)
    title = SCENES["parameters"].title
    assert f"| {title} | seconds; parameters; missing at first | PX4 SIH | - | 0/2; 2; 3; 0 | 1 |" in text
    assert f"{title}, PX4 SIH, direct: it fell down.\n" in text
    assert f"\n| {SCENES['thin-parameters'].title} |  | PX4 SIH | - | 2/2; 9; 3; 0 | 1 |" in text


def test_rates_are_the_mean_of_the_runs_without_the_tunnel() -> None:
    run, failed = {"alone/HEARTBEAT": 1.0, "alone": 1.0}, {"failed": "no climb"}
    row = {"scene": "rates", "autopilot": "px4", "machine": "m"}
    rows = [
        {**row, "way": "direct", "runs": [run, {"alone/HEARTBEAT": 2.0}, failed]},
        {**row, "way": "tunnel", "runs": [{"alone/HEARTBEAT": 9.0}]},
    ]
    assert autopilots.rates_of(rows) == {"px4": {"alone": {"HEARTBEAT": 1.5}}}


@pytest.mark.parametrize("name", ["ardupilot", "px4"])
def test_the_simulated_habits_are_those_that_were_recorded(name: str) -> None:
    recording = json.loads((ROOT / "bench/results/autopilots-rates.json").read_text(encoding="utf-8"))
    if name not in recording:
        pytest.skip(f"{MODELS[name].title} has not been recorded")
    alone, habits = recording[name]["alone"], HABITS[name]
    # Others come now and then: home, words, clocks.
    assert habits.on_request == ({kind for kind, hz in alone.items() if hz >= 0.5} == {"HEARTBEAT"})
    for number, hz in habits.unasked_hz.items():
        assert alone[mavlink.mavlink_map[number].msgname] == pytest.approx(hz, abs=0.1)


def fly(scene: str, model: str, tunnel: bool) -> Row:
    figures = autopilots.once((scene, model, tunnel, 1))
    assert "failed" not in figures, figures
    return figures


@needs_root
def test_the_simulated_vehicle_gives_parameters_and_keeps_a_mission() -> None:
    assert fly("parameters", "simulated", True)["count"] > 100
    assert fly("mission", "simulated", False)["same"] == 1
    assert fly("radio-parameters", "simulated", True)["count"] > 100


@needs_root
def test_three_applications_get_the_simulated_vehicles_parameters() -> None:
    assert fly("grounds", "simulated", True)["count"] > 100


@needs_root
@pytest.mark.parametrize(("scene", "trips"), [("turns", 0), ("turns-lte", 1)])
def test_a_mission_outlasts_ways_that_fail_in_turns_but_not_with_one_alone(
    scene: str, trips: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("autopilots.lasting._SIDE_M", 15.0)
    monkeypatch.setattr("autopilots.pilot.HEIGHT_M", 8.0)
    figures = fly(scene, "simulated", True)
    assert figures["trips"] == trips and figures["fails"] >= 2


def test_a_pause_without_a_heartbeat_is_no_pause() -> None:
    assert overlaps([(0.0, 5.0), (5.5, 8.0)], [(9.0, 12.0), (3.0, 7.0)]) == [(3.0, 7.0)]
    assert overlaps([(0.0, 5.0), (6.0, 8.0)], [(3.0, 7.0)]) == [(3.0, 5.0), (6.0, 7.0)]


@needs_root
@pytest.mark.parametrize(("scene", "events"), [("cuts", "cuts"), ("outages", "fails")])
def test_detectors_watch_a_flight_whose_ways_fail(scene: str, events: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("autopilots.lasting.WATCHED_MIN", 0.3)
    monkeypatch.setattr("autopilots.lasting._CUT_EVERY_S", (2.0, 4.0))
    monkeypatch.setattr("autopilots.lasting._PAUSE_S", 3.0)
    # The ways fail so close together that 2.6 s without any, one heartbeat that the radio lost before (5 %) and the
    # beat after make 5 s: a failsafe then is foreseen.
    monkeypatch.setattr("autopilots.lasting._TOO_LONG_S", 2.0)
    figures = fly(scene, "simulated", True)
    assert figures[events] > 1 and figures["rules_attack"] == figures["xgboost_attack"] == 0


@needs_root
@pytest.mark.parametrize("name", ["ardupilot", "px4"])
def test_a_real_autopilot_gives_its_parameters_through_the_tunnel(name: str) -> None:
    try:
        MODELS[name].folder()
    except MissingError as error:
        pytest.skip(str(error))
    assert fly("parameters", name, True)["count"] > 500
