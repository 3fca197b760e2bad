# SPDX-License-Identifier: Apache-2.0
"""The benchmark's recipe for two machines with two containers: the agent on the ground, the controller at the drone.

Each has a network, processes, files and a host name of its own; they meet at a cable and nowhere else.
"""

import json
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from containers import ADDRESSES, USER, Podman, cable, sh
from two_ends import check

SUITE = "ML-1024-AG-FA-1024"
HANDSHAKES = 6
IMAGE = "localhost/pqcmav-suite:amd64"
CAMPAIGN_LIMIT_S = 400.0
AGENT_READY = "agent for"


def campaign(podman: Podman, image: str = IMAGE) -> str:
    """Both ends up, one run of handshakes and data, and `pqcmav bench verify` on what the drone's container wrote."""
    with ExitStack() as stack:
        stack.callback(podman.remove)
        networks = stack.enter_context(cable())
        for name in networks.values():
            sh("ip", "-n", name, "route", "add", "224.0.0.0/4", "dev", "air")  # by which DDS finds its peers
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="pqcmav-campaign-")))
        folder.chmod(0o755)
        for name in ("keys", "gcs", "drone", "results"):
            (folder / name).mkdir()

        def run(role: str, name: str, places: Sequence[str], *words: str) -> str:
            options = [
                f"--network=ns:/run/netns/{networks[role]}",
                f"--hostname={role}",
                "--tmpfs=/tmp",
                "--env=ROS_AUTOMATIC_DISCOVERY_RANGE=SUBNET",
                "--env=ROS_DOMAIN_ID=77",
                # Containers of one network take each other for processes of one machine, but share no memory.
                "--env=FASTDDS_BUILTIN_TRANSPORTS=UDPv4",
                *(f"--volume={folder}/{place}" for place in places),
            ]
            started: str = podman.start(f"{role}-{name}", image, options, ["pqcmav", *words])
            return started

        sh("chown", "-R", f"{USER}:{USER}", str(folder))
        keys = run("gcs", "keys", ["keys:/keys:rw"], "keys", "init", "drone1", "--root", "/keys/all")
        check(podman.wait_end(keys, CAMPAIGN_LIMIT_S) == 0, f"no keys: {podman.log(keys)}")
        mine = ("--drone-id", "drone1", "--peer", ADDRESSES["gcs"], "--keys", "/keys/drones/drone1")
        served = ("--keys", "/keys/gcs", "--drones", "drone1", "--key-pool-depth", "0")
        gcs = run("gcs", "up", ["keys/all/gcs:/keys/gcs:rw"], "up", "gcs", *served)
        drone = run("drone", "up", ["keys/all/drones:/keys/drones:ro"], "up", "drone", *mine)
        podman.wait_for(drone, "-> UP")
        agent = run("gcs", "agent", [], "bench", "run", "--role", "agent")
        podman.wait_for(agent, AGENT_READY)
        asked = ("--suite", SUITE, "--handshakes", str(HANDSHAKES), "--duration", "3", "--attempts", "1")
        root = ("--root", "/results", "--name", "c")
        results = ["results:/results:rw"]
        controller = run("drone", "bench", results, "bench", "run", "--role", "controller", *root, *asked)
        code = podman.wait_end(controller, CAMPAIGN_LIMIT_S)
        check(code == 0, f"the campaign ended with {code}: {podman.log(controller)}")
        verify = run("drone", "verify", results, "bench", "verify", "/results/c")
        code = podman.wait_end(verify, CAMPAIGN_LIMIT_S)
        said = podman.log(verify).strip()
        check(code == 0, f"what was measured does not verify: {said}")
        (file,) = (folder / "results" / "c").rglob("metrics.json")
        context = (measured := json.loads(file.read_text(encoding="utf-8")))["run_context"]
        names = context["host"], context["gcs_host"]
        check(names == ("drone", "gcs"), f"the run says that it was on {names}")
        count = measured["handshake"]["handshakes"]
        check(count == HANDSHAKES, f"{count} handshakes of {HANDSHAKES} were measured")
        for container in (agent, drone, gcs):
            podman.stop(container)
        return f"{SUITE}: {count} handshakes, median {measured['handshake']['handshake_ms']:.1f} ms; {said}"
