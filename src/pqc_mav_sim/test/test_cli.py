# SPDX-License-Identifier: Apache-2.0
"""Both programs as a user runs them: processes, signals, exit codes, JSON."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from pqc_mav_sim import ground_cli, vehicle_cli
from pqc_mav_sim.endpoint import resolve

ROOT = Path(__file__).resolve().parents[1]
DEADLINE_S = 60.0
GROUND = "import sys; from pqc_mav_sim.ground_cli import main; sys.exit(main())"


class Program:
    """A child process whose first line on stderr tells that it runs."""

    def __init__(self, *command):
        path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
        self.process = subprocess.Popen(
            [sys.executable, *command],
            env={**os.environ, "PYTHONPATH": path, "PYTHONUNBUFFERED": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._timer = threading.Timer(DEADLINE_S, self.process.kill)
        self._timer.start()

    def wait_for_line(self):
        return self.process.stderr.readline()

    def finish(self):
        out, err = self.process.communicate()
        self._timer.cancel()
        return self.process.returncode, out, err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_vehicle_ends_cleanly_on_a_signal(make_ground, number):
    ground = make_ground()
    vehicle = Program("-m", "pqc_mav_sim", "--connect", str(ground.link.address), "--profile", "client", "--json")
    assert "320 messages/s" in vehicle.wait_for_line()
    assert ground.wait_for(lambda _v: ground._received.total() > 100, DEADLINE_S)
    vehicle.process.send_signal(number)
    code, out, err = vehicle.finish()
    assert code == 0
    assert err == ""
    summary = json.loads(out)
    assert summary["sent"] > 100
    assert summary["send_failed"] == 0
    assert summary["mode"] == "HOLD"
    assert out.count("\n") == 1


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ground_ends_cleanly_on_a_signal(make_vehicle, number):
    ground = Program("-c", GROUND, "--listen", "127.0.0.1:0", "--interval", "0.2")
    vehicle = make_vehicle(resolve(ground.wait_for_line().split()[-1]))
    while "disarmed" not in ground.process.stdout.readline():
        pass
    deadline = time.monotonic() + DEADLINE_S
    while vehicle.snapshot()["gcs"] != "connected":  # its first heartbeat may still be on the way
        assert time.monotonic() < deadline
        time.sleep(0.01)
    ground.process.send_signal(number)
    code, out, err = ground.finish()
    assert (code, err) == (0, "")
    assert "lost 0" in out.splitlines()[-1]


def test_vehicle_and_ground_programs_fly_together():
    ground = Program(
        *("-c", GROUND, "--listen", "127.0.0.1:0", "--duration", "12", "--json", "--interval", "0.5"),
        *("--takeoff", "--uplink-rate", "50"),
    )
    # port 0 is any port, so the ground program says in its first line which one it got
    address = ground.wait_for_line().split()[-1]
    vehicle = Program("-m", "pqc_mav_sim", "--connect", address, "--profile", "client", "--duration", "12", "--json")
    code, out, err = ground.finish()
    assert code == 0, err
    heard = json.loads(out)
    assert heard["vehicle"]["armed"]
    assert heard["vehicle"]["relative_altitude_m"] > 1.0
    assert heard["lost"] == heard["crc_errors"] == 0
    assert "alt" in err
    code, out, _ = vehicle.finish()
    assert code == 0
    assert json.loads(out)["received_by_type"]["MANUAL_CONTROL"] > 0


def test_ground_without_a_vehicle_says_so(capfd):
    assert ground_cli.main(["--listen", "127.0.0.1:0", "--duration", "0.3"]) == ground_cli.EXIT_NO_VEHICLE
    assert "no vehicle yet" in capfd.readouterr().out


def test_ground_reports_a_refusal(make_vehicle, make_ground, capfd, monkeypatch):
    made = []
    real = ground_cli.GroundClient

    def remember(*args, **kwargs):
        made.append(real(*args, **kwargs))
        make_vehicle(made[0].link.address)
        return made[0]

    monkeypatch.setattr(ground_cli, "GroundClient", remember)
    code = ground_cli.main(["--listen", "127.0.0.1:0", "--duration", "3", "--land-after", "1.5"])
    assert code == ground_cli.EXIT_REFUSED
    assert "HOLD" in capfd.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "give --connect"),
        (["--connect", "127.0.0.1"], "has no port"),
        (["--connect", "127.0.0.1:0"], "not a number from 1"),
        (["--connect", "no-such-host.invalid:1"], "does not resolve"),
        (["--connect", "[::1]:9", "--bind", "127.0.0.1:0"], "mix IPv4 and IPv6"),
        (["--connect", "127.0.0.1:9", "--rate", "1"], "give 5 to 10000"),
        (["--connect", "127.0.0.1:9", "--rate", "nan"], "give 5 to 10000"),
        (["--connect", "127.0.0.1:9", "--sysid", "251"], "give 1 to 250"),
        (["--connect", "127.0.0.1:9", "--battery", "101"], "give 0 to 100"),
        (["--connect", "127.0.0.1:9", "--param", "COM_LOW_BAT_ACT"], "not NAME=VALUE"),
        (["--connect", "127.0.0.1:9", "--param", "COM_NONE=1"], "COM_NONE does not exist"),
        (["--connect", "127.0.0.1:9", "--param", "COM_DL_LOSS_T=3"], "COM_DL_LOSS_T must be 5..300"),
        (["--connect", "127.0.0.1:9", "--param", "MAV_SYS_ID=7"], "MAV_SYS_ID follows the system id"),
        (["--connect", "127.0.0.1:9", "--home", "47,8"], "latitude,longitude,altitude"),
        (["--connect", "127.0.0.1:9", "--home", "99,8,0"], "out of range"),
        (["--connect", "127.0.0.1:9", "--duration", "0"], "more than 0"),
        (["--connect", "127.0.0.1:9", "--altitude", "500"], "give 2 to 120"),
    ],
)
def test_wrong_vehicle_arguments_are_one_line(capsys, arguments, says):
    assert vehicle_cli.main(arguments) == vehicle_cli.EXIT_USAGE
    error = capsys.readouterr().err
    assert says in error
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "says"),
    [(["--listen", "nowhere"], "has no port"), (["--listen", "127.0.0.1:0", "--uplink-rate", "-1"], "out of range")],
)
def test_wrong_ground_arguments_are_one_line(capsys, arguments, says):
    assert ground_cli.main(arguments) == ground_cli.EXIT_USAGE
    error = capsys.readouterr().err
    assert says in error
    assert error.count("\n") == 1


def test_port_in_use_is_one_line(make_ground, capsys):
    taken = str(make_ground().link.address)
    assert ground_cli.main(["--listen", taken]) == ground_cli.EXIT_USAGE
    assert vehicle_cli.main(["--bind", taken]) == vehicle_cli.EXIT_USAGE
    assert capsys.readouterr().err.count("is another program using it") == 2


@pytest.mark.parametrize("parser", [vehicle_cli.build_parser(), ground_cli.build_parser()])
def test_help_names_every_option(parser):
    text = parser.format_help()
    for action in parser._actions:
        assert action.option_strings[-1] in text
        assert action.help


def test_parameters_from_the_command_line():
    parser = vehicle_cli.build_parser()
    args = parser.parse_args(["--connect", "127.0.0.1:9", "--param", "COM_LOW_BAT_ACT=0", "--param", "BAT_LOW_THR=0.3"])
    vehicle = vehicle_cli.build_vehicle(args)
    try:
        config = vehicle.autopilot.plant.flight.config
        assert config.low_battery_action == 0 and config.battery.low == pytest.approx(0.3)
    finally:
        vehicle.link.close()
