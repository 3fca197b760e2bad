# SPDX-License-Identifier: Apache-2.0
"""`chaos/run crashes`: what a crash costs a tunnel that runs in a process of its own.

Two `pqcmav up` (`ros2 launch` for a container) with `--tunnel daemon`, and traffic both ways. Proxy nodes are killed,
stopped and flooded by ROS 2, and no packet may be lost; tunnels are killed, open and paused, and must come back as they
were wanted.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import messages
import pqc_mav_tunnel
import psutil
import tables
from ends import DRONE_ID
from tally import percentile
from traffic import End, TrafficProcess, application_socket, total

from pqc_mav_bringup.respawn import Respawn
from pqc_mav_common import two_ends
from pqc_mav_common.child import Program, ProgramError
from pqc_mav_common.free_ports import free_ports, held_domain, own_run_folder
from pqc_mav_common.local_socket import Control, ControlError, Place
from pqc_mav_common.two_ends import HOST
from pqc_mav_common.waiting import wait_until

RATE = 320.0  # messages a second, each way
NODE, TUNNEL, CONTAINER = "pqc_proxy", "pqcmav-tunneld", "component_container_mt"
BACK_S = 1.0  # longest time until a killed tunnel is as it was wanted
STOP_S = 1.0
QUICK = Respawn().quick  # deaths after which the supervisor waits longer
_BETWEEN_S = (0.2, 0.6)
_LIMIT_S = 60.0
_QUIET_S = 2.0  # of nothing after which all has come: a machine that starves an end for a moment loses no packet
_STARVED = 2  # rooms of a scene that are done again: what sends was starved as well, so the tunnel is not to blame
_STEP_S = 0.005
UP = [sys.executable, "-c", "from pqc_mav_cli.entry import run; run()", "up"]
FLOODER = Path(__file__).resolve().parent / "flooder.py"
ALONE = ("--sensing", "false", "--policy", "false", "--detect", "false")


class CrashError(RuntimeError):
    """The measurement could not be made."""


@dataclass(frozen=True)
class Scene:
    """What is done `runs` times to a program of one end: a signal, or without one a flood of ROS 2."""

    title: str
    end: str
    program: str
    number: signal.Signals | None = signal.SIGKILL
    paused: bool = False


SCENES = {
    "node": Scene("kill -9 of the drone's proxy node", "drone", NODE),
    "ground": Scene("kill -9 of the gcs' proxy node", "gcs", NODE),
    "stopped": Scene(f"the drone's proxy node stands still for {STOP_S:g} s", "drone", NODE, signal.SIGSTOP),
    "flooded": Scene(f"ROS 2 and the drone's node flooded for {STOP_S:g} s", "drone", NODE, None),
    "tunnel": Scene("kill -9 of the drone's pqcmav-tunneld", "drone", TUNNEL),
    "server": Scene("kill -9 of the gcs' pqcmav-tunneld", "gcs", TUNNEL),
    "paused": Scene("kill -9 of a paused pqcmav-tunneld", "drone", TUNNEL, paused=True),
}


@dataclass(frozen=True)
class Outcome:
    """Of one scene: messages sent and lost, and how long each time until the tunnel was as wanted, and the node too."""

    sent: int
    lost: int
    back_s: list[float]
    wrong: int  # times that it came back in another state

    def good(self, scene: Scene) -> bool:
        """Whether it is as it has to be."""
        if not self.sent or self.wrong:
            return False
        return self.lost == 0 if scene.program == NODE else max(self.back_s) <= BACK_S


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add this command's options."""
    parser.add_argument("--runs", type=int, default=20, help="crashes in each scene")
    parser.add_argument("--only", default="", help=f"scenes, separated by commas, of: {', '.join(SCENES)}")
    parser.add_argument(
        "--proxy", choices=("py", "cpp", "composed"), default="py", help="whose node; composed: in a container"
    )
    parser.add_argument("--seed", type=int, default=1, help="of the times of the crashes")


def run(options: argparse.Namespace) -> int:
    """Measure, print and write; 0 when every scene is as it has to be."""
    names = options.only.split(",") if options.only else list(SCENES)
    if unknown := [name for name in names if name not in SCENES]:
        print(f"crashes: no scene {', '.join(unknown)}; there are: {', '.join(SCENES)}")
        return 2
    machine = tables.machine()
    outcomes = {}
    for name in names:
        try:
            outcomes[name] = measure(SCENES[name], options.runs, random.Random(options.seed), options.proxy)
        except (CrashError, ProgramError) as error:
            print(f"crashes: {name}: {error}")
            return 1
        print(f"{SCENES[name].title}: {outcomes[name]}", flush=True)
    runs = {name: asdict(each) for name, each in outcomes.items()}
    whole = {"machine": machine, "proxy": options.proxy, "rate": RATE, "runs": runs}
    tables.publish(
        options.output, "crashes", page(outcomes, machine, options.proxy), whole, part=len(names) < len(SCENES)
    )
    return 0 if all(each.good(SCENES[name]) for name, each in outcomes.items()) else 1


class Room(ExitStack):
    """Both ends under `pqcmav up`, and who talks through them. `settings`: the drone's. Use it in a `with` block."""

    def __init__(self, proxy: str = "py", settings: dict[str, Any] | None = None) -> None:
        super().__init__()
        self._proxy, self._settings = proxy, settings or {}
        self.ends: dict[str, Program] = {}

    def __enter__(self) -> Room:
        try:
            self._build()
        except BaseException:
            self.close()
            raise
        return self

    def _build(self) -> None:
        enter = self.enter_context
        folder = Path(enter(tempfile.TemporaryDirectory(prefix="pqcmav-crashes-")))
        variables = enter(own_run_folder())
        self.doors = {
            "drone": Place(Path(variables["PQCMAV_RUN_DIR"]) / f"drone-{DRONE_ID}.sock"),
            "gcs": Place(Path(variables["PQCMAV_RUN_DIR"]) / "gcs.sock"),
        }
        domain = str(enter(held_domain()))
        self.environment = {**os.environ, **variables, "ROS_DOMAIN_ID": domain, "PQCMAV_LOG_DIR": ""}
        pqc_mav_tunnel.init_keys(str(folder), [DRONE_ID])
        vehicle, ground = (enter(application_socket()) for _ in range(2))
        data, own_data, drone_plain, gcs_plain = free_ports(4)
        gcs = two_ends.gcs_config(str(folder), {DRONE_ID: ground.getsockname()[1]}, data_port=data)
        gcs["drone"][DRONE_ID]["plain_bind"] = f"{HOST}:{gcs_plain}"
        plain = f"{HOST}:{drone_plain}"
        drone = (
            two_ends.drone_config(str(folder), DRONE_ID, data, local_data_port=own_data, plain_bind=plain)
            | self._settings
        )
        for name, config in (("gcs", gcs), ("drone", drone)):
            path = two_ends.write(folder / f"{name}.yaml", {"/**": {NODE: {"ros__parameters": config}}})
            self.ends[name] = Program(name, self._line(name, path), env=self.environment, start_new_session=True)
            self.callback(self.ends[name].kill)
        for name in self.ends:
            self.wait(lambda name=name: self.linked(name), f"a session of the {name}")
            self.ends[name].wait_for("Asks pqcmav-tunneld")
        self.ways = [
            End(vehicle, 0, messages.DOWN, drone_plain, RATE),
            End(ground, 0, messages.UP, gcs_plain, RATE),
        ]

    def _line(self, name: str, path: Path) -> list[str]:
        alone = ALONE if name == "drone" else ALONE[-2:]
        composed = self._proxy == "composed"
        given = ("--config", str(path), "--tunnel", "daemon", "--proxy", "cpp" if composed else self._proxy, *alone)
        if not composed:
            return [*UP, name, *given]
        words = [f"{option[2:]}:={value}" for option, value in zip(given[::2], given[1::2], strict=True)]
        return ["ros2", "launch", "pqc_mav_bringup", f"{name}.launch.py", *words, "composed:=true"]

    def wait(self, holds: Callable[[], bool], what: str) -> float:
        """How long it took until that held. Raises CrashError."""
        began = time.monotonic()
        if not wait_until(holds, _LIMIT_S, _STEP_S):
            said = "; ".join(f"{name}: {end.last_words()}" for name, end in self.ends.items())
            raise CrashError(f"not within {_LIMIT_S:g} s: {what}. {said}")
        return time.monotonic() - began

    def ask(self, end: str, command: str) -> dict[str, Any]:
        """What the tunnel of an end answers; nothing while it is not there, or has not read its configuration."""
        try:
            with Control(self.doors[end]) as control:
                return control.ask(command)
        except (OSError, ControlError):
            return {}

    def linked(self, end: str) -> bool:
        """Whether its tunnel has a session."""
        tunnels = self.ask(end, "status").get("tunnels", [])
        return bool(tunnels) and tunnels[0]["state"] == "UP"

    def process(self, end: str, program: str) -> psutil.Process | None:
        """The one of this end that runs the program now."""
        if (self._proxy, program) == ("composed", NODE):
            program = CONTAINER
        for child in psutil.Process(self.ends[end].pid).children():
            try:
                if any(Path(word).name == program for word in child.cmdline()[:2]):
                    return child
            except psutil.Error:
                continue
        return None


def measure(scene: Scene, runs: int, generator: random.Random, proxy: str = "py") -> Outcome:
    """The scene, again and again. In rooms of their own, so that the supervisor waits as after the first deaths."""
    sent = received = wrong = starved = 0
    back: list[float] = []
    while len(back) < runs:
        found: list[tuple[float, str]] = []
        with Room(proxy) as room:
            if scene.paused:
                room.ask(scene.end, "pause")
            traffic = TrafficProcess(room.ways)
            try:
                for _ in range(min(QUICK, runs - len(back))):
                    time.sleep(generator.uniform(*_BETWEEN_S))
                    found.append(_crash(room, scene))
                counts = traffic.stop(_QUIET_S)
            finally:
                traffic.close()
        lost = total(counts, "sent") - total(counts, "received")
        if scene.program == NODE and lost and counts["late"] and starved < _STARVED:
            starved += 1
            print(f"{scene.title}: done again: this machine stood still, {counts['late']} messages were sent late")
            continue
        back += [back_s for back_s, _ in found]
        wrong += sum(state != ("inactive" if scene.paused else "active") for _, state in found)
        sent += total(counts, "sent")
        received += total(counts, "received")
    return Outcome(sent, sent - received, back, wrong)


def _crash(room: Room, scene: Scene) -> tuple[float, str]:
    """One of them. How long it took until the program was there again as wanted, and the state of the tunnel then."""
    victim = room.process(scene.end, scene.program)
    if victim is None:
        raise CrashError(f"no {scene.program} runs at the {scene.end}")
    if scene.number is None:
        return _disturb(room, scene)
    if scene.number == signal.SIGSTOP:
        return _disturb(room, scene, str(victim.pid))
    said = len(room.ends[scene.end].lines)
    victim.send_signal(scene.number)

    def there() -> bool:
        hello = room.ask(scene.end, "hello")
        return hello.get("pid", victim.pid) != victim.pid and not hello["starting"]

    if scene.program == TUNNEL:
        back_s = room.wait(there, "a tunnel that was started again")
        state = str(room.ask(scene.end, "hello")["state"])
        room.ends[scene.end].wait_for("pqcmav-tunneld is there again", said)
        if not scene.paused:
            room.wait(lambda: room.linked(scene.end), "a session")
        return back_s, state
    began = time.monotonic()
    room.ends[scene.end].wait_for("Asks pqcmav-tunneld", said)
    return time.monotonic() - began, str(room.ask(scene.end, "hello")["state"])


def _disturb(room: Room, scene: Scene, *pid: str) -> tuple[float, str]:
    """How long the node's answer took when the flood or the halt was over, and the state of the tunnel then."""
    line = [sys.executable, str(FLOODER), f"/{scene.end}/{NODE}", f"{STOP_S:g}", *pid]
    told = subprocess.run(line, env=room.environment, capture_output=True, text=True, timeout=_LIMIT_S, check=False)
    if told.returncode:
        raise CrashError(f"{FLOODER.name} failed: {told.stderr.strip()[-500:]}")
    return float(told.stdout), str(room.ask(scene.end, "hello")["state"])


def page(outcomes: dict[str, Outcome], machine: str, proxy: str = "py") -> str:
    """The results page."""
    text = "# Crashes of a tunnel in a process of its own\n\nBy `tools/run chaos/run crashes"
    starter = "ros2 launch" if proxy == "composed" else "pqcmav up"
    text += f"{f' --proxy {proxy}' if proxy != 'py' else ''}`: two `{starter}`, tunnel daemon, on loopback, {RATE:g} "
    text += f"messages/s each way, at most {QUICK} crashes in one start. *Back*: until the node asks its tunnel or "
    text += f"answers again, or the tunnel is as it was wanted (at most {BACK_S:g} s).\n\n*{machine}*\n\n"
    head = ("what", "times", "sent", "lost", "back p50 s", "worst s", "wrong state", "verdict")
    rows = []
    for name, one in outcomes.items():
        scene = SCENES[name]
        figures = [f"{value:.2f}" for value in (percentile(one.back_s, 0.5), max(one.back_s))]
        lost = "-" if scene.paused else one.lost
        verdict = "ok" if one.good(scene) else "FAILED"
        rows.append((scene.title, len(one.back_s), one.sent, lost, *figures, one.wrong, verdict))
    return text + tables.markdown(head, rows)
