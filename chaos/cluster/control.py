# SPDX-License-Identifier: Apache-2.0
"""The cluster's control plane: etcd, the API server, the controller manager and the scheduler."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from children import into

from cluster.authority import Authority
from cluster.network import API, CONTROL, PODS, SERVICES, Network
from pqc_mav_common.child import Program
from pqc_mav_common.waiting import wait_until

Found = TypeVar("Found")
_START_S = 120.0
# Control plane and nodes share this machine with what is measured, and are other machines elsewhere: they give way.
GIVE_WAY = ("sh", "-c", 'echo 15 >/proc/self/autogroup 2>/dev/null; exec nice -n 15 "$@"', "sh")
_FIRST_SERVICE = "10.47.0.1"


class ClusterError(RuntimeError):
    """The cluster did not do what it should: one sentence."""


def until(done: Callable[[], Found | None], problem: Callable[[], str], limit_s: float = _START_S) -> Found:
    """Wait for a condition and return what it gave."""
    if not (found := wait_until(done, limit_s, 0.1)):
        raise ClusterError(problem())
    return found


class Control:
    """Runs the control plane in its namespace, and asks it as an administrator does."""

    def __init__(self, binaries: Path, folder: Path, network: Network) -> None:
        self._binaries, self._folder = binaries, folder
        self._network = network
        self._programs: list[Program] = []
        pki = folder / "pki"
        pki.mkdir(mode=0o700)
        self.authority = authority = Authority(pki)
        authority.issue("api", "kube-apiserver", addresses=(CONTROL, _FIRST_SERVICE, "127.0.0.1"))
        authority.issue("to-kubelets", "kube-apiserver", "system:masters")
        self._admin = authority.kubeconfig("admin", "admin", "system:masters", API)
        manager = authority.kubeconfig("manager", "system:kube-controller-manager", "", API)
        scheduler = authority.kubeconfig("scheduler", "system:kube-scheduler", "", API)
        self._start("etcd", ["etcd", "--data-dir", str(folder / "etcd"), "--log-level", "warn"])
        self._start("kube-apiserver", self._api_server())
        self.wait(
            lambda: self.kubectl("get", "--raw=/readyz", good=False).stdout == "ok", "the API server is not ready"
        )
        self._start(
            "kube-controller-manager",
            [
                str(binaries / "kube-controller-manager"), f"--kubeconfig={manager}", "--leader-elect=false",
                f"--root-ca-file={authority.path('ca')}", "--use-service-account-credentials=true",
                f"--service-account-private-key-file={authority.path('accounts', 'key')}",
            ],
        )  # fmt: skip
        command = [str(binaries / "kube-scheduler"), f"--kubeconfig={scheduler}", "--leader-elect=false"]
        self._start("kube-scheduler", command)

    def _api_server(self) -> list[str]:
        path = self.authority.path
        return [
            str(self._binaries / "kube-apiserver"), "--etcd-servers=http://127.0.0.1:2379", f"--bind-address={CONTROL}",
            f"--advertise-address={CONTROL}", f"--client-ca-file={path('ca')}", f"--tls-cert-file={path('api')}",
            f"--tls-private-key-file={path('api', 'key')}", f"--service-cluster-ip-range={SERVICES}",
            "--authorization-mode=Node,RBAC", "--kubelet-preferred-address-types=InternalIP",
            "--enable-admission-plugins=NodeRestriction",
            # No kube-proxy runs here, so webhooks are asked at their pods.
            "--enable-aggregator-routing=true",
            f"--kubelet-client-certificate={path('to-kubelets')}", f"--kubelet-client-key={path('to-kubelets', 'key')}",
            "--service-account-issuer=https://cluster.test",
            f"--service-account-key-file={path('accounts', 'key')}",
            f"--service-account-signing-key-file={path('accounts', 'key')}",
        ]  # fmt: skip

    def _start(self, name: str, command: Sequence[str]) -> None:
        self._programs.append(
            Program(name, [*GIVE_WAY, *command], limit_s=10.0, **into(self._network["control"].descriptor))
        )

    def wait(self, done: Callable[[], Found | None], problem: str, limit_s: float = _START_S) -> Found:
        """Wait for something in the cluster; fails at once when a program of the control plane has ended."""

        def attempt() -> Found | None:
            for program in self._programs:
                if program.process.poll() is not None:
                    raise ClusterError(f"{program.name} ended: {program.last_words()}")
            return done()

        return until(attempt, lambda: problem, limit_s)

    def kubectl(
        self, *words: str, text: str | None = None, good: bool = True, limit_s: float = 60.0
    ) -> subprocess.CompletedProcess[str]:
        """Run kubectl as an administrator, with `text` as its input; raises ClusterError if it has to succeed."""
        command = [*GIVE_WAY, str(self._binaries / "kubectl"), f"--kubeconfig={self._admin}", *words]
        result = self._network.run("control", command, input=text, timeout=limit_s, check=False, start_new_session=True)
        if good and result.returncode != 0:
            raise ClusterError(f"kubectl {' '.join(words)}: {result.stderr.strip()}")
        return result

    def get(self, *words: str) -> dict[str, Any]:
        """What kubectl finds, read; nothing if it finds nothing."""
        result = self.kubectl("get", *words, "-o", "json", good=False)
        return dict(json.loads(result.stdout)) if result.returncode == 0 else {}

    def version(self) -> str:
        """Of the API server."""
        return str(json.loads(self.kubectl("version", "-o", "json").stdout)["serverVersion"]["gitVersion"]).lstrip("v")

    def apply(self, *things: dict[str, Any]) -> None:
        """Have the cluster make these."""
        self.kubectl("apply", "-f", "-", text=json.dumps({"apiVersion": "v1", "kind": "List", "items": things}))

    def close(self) -> None:
        """End it all, the last one first, and not by asking: nothing is kept, and clients would be waited for."""
        for program in reversed(self._programs):
            program.kill()


def cni(node: str) -> str:
    """How a node gives its pods an address: by the bridge of the reference plugins."""
    ways = {"type": "host-local", "ranges": [[{"subnet": f"{PODS[node]}.0/24"}]], "routes": [{"dst": "0.0.0.0/0"}]}
    bridge = {"type": "bridge", "bridge": "pods", "isGateway": True, "hairpinMode": True, "ipam": ways}
    plugins = [bridge, {"type": "portmap", "capabilities": {"portMappings": True}}]
    return json.dumps({"cniVersion": "0.4.0", "name": "pods", "plugins": plugins})
