#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Containers of the images that tools/images.sh made, run by podman without a daemon and without a network of its own.

    image_test.py pair GCS DRONE -- STORE...   the two ends, of these architectures: a MAVLink message each way
    image_test.py demo -- STORE...             the suite's demo; its exit code decides
    image_test.py flight -- STORE...           the services of docker/compose.yaml; the ground's exit code decides
    image_test.py campaign -- STORE...         a benchmark of two machines; what it measured has to verify

STORE are podman's options that say where the images are. Needs root. Both ends run in network namespaces of their own,
joined by a cable; nothing of this machine's network changes.
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import yaml
from containers import ADDRESSES, LIMIT_S, USER, Podman, cable, sh, udp_in
from image_campaign import campaign
from image_console import ask
from two_ends import GROUND, HANDSHAKE, PLAIN_OF_GCS, TestError, carry_messages, check, with_own_mounts

ROOT = Path(__file__).resolve().parent.parent
COMPOSE = ROOT / "docker" / "compose.yaml"
DEMO_LIMIT_S = 300.0


def tunneld(architecture: str) -> str:
    """The image of an end."""
    return f"localhost/pqcmav-tunneld:{architecture}"


def check_container(podman: Podman, container: str) -> None:
    """It has no privileges, cannot change its files, and carries no Python."""
    pid = int(podman.call("inspect", "--format={{.State.Pid}}", container).stdout)
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    check(f"Uid:\t{USER}\t{USER}\t{USER}\t{USER}" in status, f"{container} does not run as {USER}")
    check("CapEff:\t0000000000000000" in status and "NoNewPrivs:\t1" in status, f"{container} has privileges")
    for folder in ("/", "/etc/pqcmav", "/usr/bin", "/tmp", "/var/lib/pqcmav"):  # noqa: S108 - the container's
        result = podman.call("exec", "--user=0", container, "/bin/sh", "-c", f": >{folder}/new", good=False)
        check(result.returncode != 0, f"{container} can write to {folder}")
    python = podman.call("exec", container, "/bin/sh", "-c", "command -v python3 perl", good=False).stdout
    check("python" not in python, f"{container} has {python}")


def pair(podman: Podman, gcs: str, drone: str) -> str:
    """Handshake, a message each way, control sockets on the host, health, a clean end."""
    import pqc_mav_tunnel

    with ExitStack() as stack:
        stack.callback(podman.remove)
        networks = stack.enter_context(cable())
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="pqcmav-images-")))
        folder.chmod(0o755)
        pqc_mav_tunnel.init_keys(str(folder / "all"), ["drone1"], ["mldsa65"])
        run_folder = folder / "run"
        run_folder.mkdir()
        sh("chown", f"{USER}:{USER}", str(run_folder))
        ends = {}
        for role, keys, image in (("gcs", "gcs", tunneld(gcs)), ("drone", "drones/drone1", tunneld(drone))):
            place = folder / role
            shutil.copytree(folder / "all" / keys, place / "keys")
            text = (ROOT / "docker" / f"{role}.yaml").read_text(encoding="utf-8")
            extra = f"{PLAIN_OF_GCS}\n" if role == "gcs" else ""
            (place / f"{role}.yaml").write_text(text + extra, encoding="utf-8")
            place.chmod(0o755)
            sh("chown", "-R", f"{USER}:{USER}", str(place / "keys"))
            options = [
                f"--network=ns:/run/netns/{networks[role]}",
                f"--add-host=gcs:{ADDRESSES['gcs']}",
                f"--volume={place}:/etc/pqcmav/tunneld:ro",
                f"--volume={place / 'keys'}:/etc/pqcmav/keys:{'rw' if role == 'gcs' else 'ro'}",
                f"--volume={run_folder}:/run/pqcmav:rw",
            ]
            ends[role] = podman.start(role, image, options, [f"/etc/pqcmav/tunneld/{role}.yaml"])
            podman.wait_for(ends[role], "encrypted UDP port")
        handshake = podman.wait_for(ends["drone"], HANDSHAKE)[1]
        podman.wait_for(ends["drone"], "-> UP")
        ground = stack.enter_context(udp_in(networks["gcs"], GROUND))
        autopilot = stack.enter_context(udp_in(networks["drone"], 0))
        carry_messages(autopilot, ground)
        # What qemu takes for an end tells nothing of ours.
        answers = ask(run_folder, judge=gcs == drone == "amd64")
        for container in ends.values():
            podman.wait_healthy(container)
            check_container(podman, container)
        for container in reversed(ends.values()):
            podman.stop(container)
        return f"{gcs} gcs, {drone} drone: handshake {handshake}, a MAVLink message each way; {answers}"


def demo(podman: Podman) -> str:
    """What the suite's image does when it is told nothing."""
    try:
        container = podman.start("demo", "localhost/pqcmav-suite:amd64", ["--network=none", "--tmpfs=/tmp"], [])
        code = podman.wait_end(container, DEMO_LIMIT_S)
        said = podman.log(container)
        print(said)
        check(code == 0, f"the demo ended with {code}")
        return "the demo ended with 0, as a user without privileges and with a read-only root"
    finally:
        podman.remove()


def options_of(podman: Podman, service: dict[str, Any], networks: dict[str, str], role: str) -> list[str]:
    """What compose would pass on for a service."""
    check(service["read_only"] and service["cap_drop"] == ["ALL"], "a service is not hardened")
    options = [f"--tmpfs={place}" for place in service.get("tmpfs", [])]
    if service.get("network_mode") == "none":
        options.append("--network=none")
    else:
        options += [f"--network=ns:/run/netns/{networks[role]}", f"--add-host=gcs:{ADDRESSES['gcs']}"]
    for volume in service.get("volumes", []):
        source, rest = volume.split(":", 1)
        place = COMPOSE.parent / source if source.startswith("./") else podman.volume(source)
        options.append(f"--volume={place}:{rest}")
    return options


def flight(podman: Podman) -> str:
    """The services in the order in which they wait for each other; a cable is in the place of their network."""
    services = yaml.safe_load(COMPOSE.read_text(encoding="utf-8"))["services"]
    running: dict[str, str] = {}
    with ExitStack() as stack:
        stack.callback(podman.remove)
        networks = stack.enter_context(cable())
        while len(running) < len(services):
            name = next(
                name
                for name, service in services.items()
                if name not in running and set(service.get("depends_on", {})) <= set(running)
            )
            service = services[name]
            for other, how in service.get("depends_on", {}).items():
                if how["condition"] == "service_healthy":
                    podman.wait_healthy(running[other])
                elif how["condition"] == "service_completed_successfully":
                    code = podman.wait_end(running[other], LIMIT_S)
                    check(code == 0, f"{other} ended with {code}: {podman.log(running[other])}")
            role = service.get("network_mode", "").removeprefix("service:") or name
            image = f"localhost/{service['image']}:amd64"
            running[name] = podman.start(name, image, options_of(podman, service, networks, role), service["command"])
        code = podman.wait_end(running["ground"], DEMO_LIMIT_S)
        said = podman.log(running["ground"]).strip().splitlines()
        check(code == 0, f"the ground station ended with {code}: {said}")
        for name in ("drone", "gcs"):
            podman.stop(running[name])
        return f"the ground station flew the vehicle and ended with 0: {said[-1]}"


def main() -> int:
    """Run what the command line names."""
    tests: dict[str, Callable[..., str]] = {"pair": pair, "demo": demo, "flight": flight, "campaign": campaign}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("test", choices=tests)
    parser.add_argument("architectures", nargs="*")
    end = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    options = parser.parse_args(sys.argv[1:end])
    if len(options.architectures) != (2 if options.test == "pair" else 0):
        parser.error("'pair' takes two architectures, the others none")
    with_own_mounts()
    if not Path("/sys/fs/cgroup/cgroup.procs").exists():
        # crun refuses the old kind of cgroups, although it is to use none; only this process and its children see this.
        sh("mount", "-t", "cgroup2", "cgroup2", "/sys/fs/cgroup")
    podman = Podman(sys.argv[end + 1 :])
    try:
        print(tests[options.test](podman, *options.architectures))
    except (TestError, OSError, subprocess.SubprocessError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
