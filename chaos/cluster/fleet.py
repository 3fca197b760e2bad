# SPDX-License-Identifier: Apache-2.0
"""Ground stations in the cluster, made from docker/k8s as docs/scale.md says, and their drones outside of it."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import tarfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import yaml
from stations import Daemon
from traffic import application_socket

from cluster.balancer import Balancer
from cluster.control import ClusterError, Control, until
from cluster.hearing import Autopilots
from cluster.network import Network
from pqc_mav_common import two_ends

STATIONS = ("north", "south", "west")
MANIFESTS = Path(__file__).resolve().parents[2] / "docker" / "k8s"
HOST = "127.0.0.1"
_PORT, _PLAIN, _AUTOPILOT, _HEARS = 46011, 15000, 16000, 17000
_UP_S, FAILBACK_S = 60.0, 2
_MOST = 60  # drones


def command(*words: str, cwd: Path | None = None) -> str:
    """Run one of our commands, which has to succeed, and return what it printed."""
    result = subprocess.run(words, capture_output=True, text=True, check=False, timeout=120, cwd=cwd)
    if result.returncode != 0:
        raise ClusterError(f"{' '.join(words)}: {result.stderr.strip() or result.stdout.strip()}")
    return result.stdout


class Stations:
    """The stations' folders, secrets and pods."""

    def __init__(self, folder: Path, control: Control, balancer: Balancer, drones: Sequence[str]) -> None:
        self.keys, self._folder, self._control, self._balancer = folder / "keys", folder / "k8s", control, balancer
        self.drones = list(drones)
        shutil.copytree(MANIFESTS / "base", self._folder / "base")
        self.make_keys()
        for name in STATIONS:
            namespace = {
                "apiVersion": "v1", "kind": "Namespace",
                "metadata": {"name": name, "labels": {"pod-security.kubernetes.io/enforce": "restricted"}},
            }  # fmt: skip
            control.apply(namespace)
            self.write(name)
            self.give_keys(name)
            self.apply(name)
            balancer.serve(name, "pqcmav", name)

    def make_keys(self) -> None:
        """Keys for all drones at all stations; those that exist stay."""
        stations = [word for name in STATIONS for word in ("--station", name)]
        command("pqcmav", "keys", "init", *self.drones, "--root", str(self.keys), *stations)

    def write(self, name: str) -> None:
        """The folder of a station: the one of north with its own name, our images, and ground software in its pod."""
        folder = self._folder / name
        folder.mkdir(exist_ok=True)
        station = yaml.safe_load((MANIFESTS / "north" / "kustomization.yaml").read_text(encoding="utf-8"))
        station["namespace"] = name
        for image in station["images"]:
            image |= {"newName": f"localhost/{image['name']}", "newTag": "amd64"}
        station["configMapGenerator"].append({"name": "ground", "files": ["ground.py"]})
        station["patches"] = [{"path": "ground.yaml"}]
        shutil.copy(Path(__file__).with_name("ground.py"), folder)
        config = yaml.safe_load((MANIFESTS / "north" / "gcs.yaml").read_text(encoding="utf-8"))
        ports = {drone: _PLAIN + at for at, drone in enumerate(self.drones)}
        config |= {"gcs_id": name, "drones": self.drones}
        config["drone"] = {drone: {"plain_bind": f"{HOST}:{port}"} for drone, port in ports.items()}
        ground = {
            "name": "ground", "image": "pqcmav-suite",
            "command": ["python3", "/ground/ground.py", name, *map(str, ports.values())],
            "restartPolicy": "Always", "resources": {"requests": {"cpu": "200m"}},
            "securityContext": {
                "allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]},
            },
            "volumeMounts": [{"name": "ground", "mountPath": "/ground", "readOnly": True}],
        }  # fmt: skip
        patch = {
            "apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "pqcmav"},
            "spec": {"template": {"spec": {
                "initContainers": [ground], "volumes": [{"name": "ground", "configMap": {"name": "ground"}}],
            }}},
        }  # fmt: skip
        for file, content in (("kustomization", station), ("gcs", config), ("ground", patch)):
            (folder / f"{file}.yaml").write_text(yaml.safe_dump(content), encoding="utf-8")

    def add(self) -> str:
        """One more drone, which has keys now and which no station knows yet. Returns its name."""
        self.drones.append(f"drone{len(self.drones) + 1}")
        self.make_keys()
        return self.drones[-1]

    def renew(self, drone: str) -> None:
        """A new PSK for a drone, which no end has read yet."""
        command("pqcmav", "keys", "rotate", drone, "--root", str(self.keys))

    def update(self, name: str) -> None:
        """Have a station know the drones as they are now."""
        self.write(name)
        self.give_keys(name)
        self.apply(name)
        self.wait(name)

    def give_keys(self, name: str) -> None:
        """Put a station's keys into its secret."""
        packed = self._folder / "keys.tar.gz"
        with tarfile.open(packed, "w:gz") as tar:
            tar.add(self.keys / "stations" / name, ".")
        words = ["create", "secret", "generic", "pqcmav-keys", f"--from-file={packed}", "--namespace", name]
        made = self._control.kubectl(*words, "--dry-run=client", "-o", "json").stdout
        packed.unlink()
        self._control.kubectl("apply", "--server-side", "-f", "-", text=made)

    def apply(self, name: str) -> None:
        """`kubectl apply -k`, as a user does."""
        self._control.kubectl("apply", "-k", str(self._folder / name))

    def restart(self, name: str) -> None:
        """Start a station anew, and wait until it is there."""
        self._control.kubectl("rollout", "restart", "statefulset", "pqcmav", "--namespace", name)
        self.wait(name)

    def share_network(self, name: str, shared: bool) -> None:
        """Give a station's pod the network of its node, which the `restricted` standard forbids; or its own again."""
        level = "privileged" if shared else "restricted"
        label = f"pod-security.kubernetes.io/enforce={level}"
        self._control.kubectl("label", "namespace", name, label, "--overwrite")
        patch = json.dumps({"spec": {"template": {"spec": {"hostNetwork": shared or None}}}})
        self._control.kubectl("patch", "statefulset", "pqcmav", "--namespace", name, "--type=merge", "--patch", patch)
        self.wait(name)

    def wait(self, name: str) -> None:
        """Wait until what was applied runs, and its address leads there."""
        words = ["rollout", "status", "statefulset", "pqcmav", "--namespace", name, "--timeout=100s"]
        result = self._control.kubectl(*words, good=False, limit_s=120.0)
        if result.returncode != 0:
            raise ClusterError(f"station {name} did not start: {self.trouble(name)}")
        problem = f"the address of station {name} leads elsewhere"
        self._control.wait(lambda: self._balancer.at(name) == self.node(name), problem)

    def trouble(self, name: str) -> str:
        """What the cluster says of a station's pod, for a sentence."""
        events = self._control.kubectl("get", "events", "--namespace", name, "-o", "json", good=False).stdout
        said = [each["message"] for each in json.loads(events or "{}").get("items", []) if each["type"] == "Warning"]
        return "; ".join(said[-3:]) or "no warning was given"

    def pod(self, name: str) -> dict[str, Any]:
        """The station's pod."""
        return self._control.get("pod", "pqcmav-0", "--namespace", name)

    def node(self, name: str) -> str:
        """On which node its pod is."""
        return str(self.pod(name).get("spec", {}).get("nodeName", ""))

    def address(self, name: str) -> str:
        """The address of its service."""
        return self._balancer.address(name)

    def said(self, name: str, *words: str) -> str:
        """What a command in the pod prints, whatever its exit code is."""
        return self._control.kubectl("exec", "--namespace", name, "pqcmav-0", *words, good=False).stdout


class Drones:
    """Drones outside of the cluster, each a pqcmav-tunneld of its own, and their autopilots."""

    def __init__(self, folder: Path, network: Network, stations: Stations) -> None:
        self._network, self._folder, self._stations = network, folder, stations
        self._daemons: dict[str, Daemon] = {}
        outside = network["outside"]
        # For those that are still to come, too.
        ears = {f"drone{at + 1}": outside.call(partial(application_socket, _HEARS + at)) for at in range(_MOST)}
        self.autopilots = Autopilots(ears)

    def start(self, drone: str, address: str = "") -> None:
        """Start one, which goes back to its first station when that is well; `address`: that one's, if not usual."""
        at = self._stations.drones.index(drone)
        first = STATIONS.index(self.first(drone))
        order = [*STATIONS[first:], *STATIONS[:first]]
        config = two_ends.drone_config(
            self._stations.keys, drone, _PORT, standby=True, failback_s=FAILBACK_S, bind="",
            peer=[f"{name}@{(name == order[0] and address) or self._usual(name)}" for name in order],
            plain_bind=f"{HOST}:{_AUTOPILOT + at}", plain_peer=f"{HOST}:{_HEARS + at}",
        )  # fmt: skip
        path = two_ends.write(self._folder / f"{drone}.yaml", config)
        self._daemons[drone] = Daemon(path, self._network["outside"])
        self._daemons[drone].start()

    def _usual(self, name: str) -> str:
        return f"{self._stations.address(name)}:{_PORT}"

    def end(self, drone: str) -> None:
        """Switch one off; it is no longer among the started."""
        self._daemons.pop(drone).end()

    @property
    def started(self) -> list[str]:
        """Those that fly."""
        return list(self._daemons)

    def first(self, drone: str) -> str:
        """The station that it prefers; the order of its stations is that of its number."""
        return STATIONS[self._stations.drones.index(drone) % len(STATIONS)]

    def wait(self, drones: Sequence[str] = ()) -> None:
        """Wait until each has a session with its station and one in reserve, and hears commands."""
        for drone in drones or self._daemons:
            until(partial(self._connected, drone), partial(self._why_not_connected, drone), _UP_S)

    def _connected(self, drone: str) -> bool:
        return len(self._daemons[drone].said("] handshake with")) >= 2 and bool(self.autopilots.commands(drone, 1))

    def _why_not_connected(self, drone: str) -> str:
        return f"{drone} is not connected: {self.last_words(drone)}"

    def reload(self, drone: str) -> None:
        """Have one read its keys again."""
        program = self._daemons[drone].program
        if program is not None:
            program.process.send_signal(signal.SIGHUP)

    def last_words(self, drone: str) -> str:
        """What one has said."""
        return self._daemons[drone].last_words()

    def close(self) -> None:
        """End them."""
        for daemon in self._daemons.values():
            daemon.end()
        self.autopilots.close()
