# SPDX-License-Identifier: Apache-2.0
"""A node of the cluster: containerd, kubelet, kube-proxy, and kube-router for network policies.

A node has its own network, mounts, host name and processes. Its first process is the parent of all others, so when that
one is killed nothing of the node goes on, as when a machine loses its power; its disk stays.
"""

from __future__ import annotations

import json
import shutil
import signal
from pathlib import Path

from children import into

from cluster.control import GIVE_WAY, ClusterError, Control, cni
from cluster.network import API, NODES, Network
from pqc_mav_common.child import Program

PAUSE = "localhost/pqcmav-pause:1"
_START_S = 120.0
_SOCKET = "/run/containerd/containerd.sock"
# In the node's own mounts: what programs expect at fixed places comes from the node's folder.
_FIRST = """set -e
mount --make-rprivate /
mount -t tmpfs tmpfs /run
for place in lib/kubelet lib/cni log/pods log/containers; do
  mkdir -p "$1/$place" "/var/$place"
  mount --bind "$1/$place" "/var/$place"
done
mount --make-rshared /
hostname "$2"
containerd --config "$1/containerd.toml" >"$1/containerd.log" 2>&1 &
parts=$!
until ctr --address {socket} version >/dev/null 2>&1; do sleep 0.1; done
for image in "$1"/../images/*.tar; do
  ctr --address {socket} --namespace k8s.io images import --snapshotter overlayfs "$image" >"$1/images.log" 2>&1
done
"$3/kubelet" --config="$1/kubelet.yaml" --kubeconfig="$4" --hostname-override="$2" --node-ip="$5" \\
  >"$1/kubelet.log" 2>&1 &
parts+=" $!"
"$3/kube-proxy" --config="$1/proxy.yaml" --hostname-override="$2" >"$1/proxy.log" 2>&1 &
parts+=" $!"
# It ends until the kubelet has told the cluster of this node.
until "$3/kube-router" --run-router=false --run-service-proxy=false --run-firewall=true --kubeconfig="$6" \\
  --hostname-override="$2"; do sleep 0.5; done >"$1/router.log" 2>&1 &
echo started
wait -n $parts
echo "a program of $2 ended"
""".replace("{socket}", _SOCKET)


class Node:
    """One node; `start` it, `kill` it, and start it again."""

    def __init__(self, name: str, binaries: Path, folder: Path, network: Network, control: Control) -> None:
        self.name = name
        self._binaries, self._folder, self._network = binaries, folder / name, network
        self._folder.mkdir()
        self._first: Program | None = None
        authority = control.authority
        group = "system:nodes"
        kubelet = authority.kubeconfig(name, f"system:node:{name}", group, API)
        # As kubeadm and kube-router's own manifests give it: what it reads are nodes, pods, services and policies.
        proxy = authority.kubeconfig(f"{name}-proxy", "system:kube-proxy", "", API)
        router = authority.kubeconfig(f"{name}-router", "kube-router", "system:masters", API)
        self._files = (kubelet, router)
        (self._folder / "net.d").mkdir()
        (self._folder / "net.d" / "10-pods.conflist").write_text(cni(name), encoding="utf-8")
        (self._folder / "containerd.toml").write_text(self._containerd(), encoding="utf-8")
        self._write("kubelet.yaml", self._kubelet(authority.path("ca")))
        self._write("proxy.yaml", self._proxy(proxy))

    def _write(self, name: str, settings: dict[str, object]) -> None:
        (self._folder / name).write_text(json.dumps(settings), encoding="utf-8")

    def _containerd(self) -> str:
        plugin = 'plugins."io.containerd.grpc.v1.cri"'
        return (
            f'version = 2\nroot = "{self._folder}/containerd"\nstate = "/run/containerd"\n'
            f'[grpc]\naddress = "{_SOCKET}"\n'
            f'[{plugin}]\nsandbox_image = "{PAUSE}"\nrestrict_oom_score_adj = true\n'
            f'[{plugin}.cni]\nbin_dir = "/usr/lib/cni"\nconf_dir = "{self._folder}/net.d"\n'
        )

    @staticmethod
    def _kubelet(authority: Path) -> dict[str, object]:
        return {
            "apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration", "cgroupDriver": "cgroupfs",
            # All nodes share one machine, so none divides it among kinds of pods.
            "cgroupsPerQOS": False, "enforceNodeAllocatable": [], "failSwapOn": False, "failCgroupV1": False,
            "oomScoreAdj": 0, "containerRuntimeEndpoint": f"unix://{_SOCKET}", "resolvConf": "",
            "authentication": {"x509": {"clientCAFile": str(authority)}, "anonymous": {"enabled": False}},
            "nodeStatusUpdateFrequency": "2s", "clusterDNS": ["10.47.0.10"],
            "evictionHard": {"memory.available": "100Mi"}, "imageGCHighThresholdPercent": 100,
            "imageGCLowThresholdPercent": 99,
        }  # fmt: skip

    @staticmethod
    def _proxy(kubeconfig: Path) -> dict[str, object]:
        return {
            "apiVersion": "kubeproxy.config.k8s.io/v1alpha1", "kind": "KubeProxyConfiguration", "mode": "iptables",
            "clientConnection": {"kubeconfig": str(kubeconfig)}, "oomScoreAdj": 0,
            "conntrack": {"maxPerCore": 0, "min": 0},
        }  # fmt: skip

    def start(self) -> None:
        """Switch it on."""
        kubelet, router = self._files
        own = ("--mount", "--uts", "--ipc", "--pid", "--fork", "--kill-child", "--mount-proc")
        words = [str(self._folder), self.name, str(self._binaries), str(kubelet), NODES[self.name], str(router)]
        command = [*GIVE_WAY, "unshare", *own, "bash", "-c", _FIRST, "node", *words]
        self._first = Program(self.name, command, limit_s=_START_S, **into(self._network[self.name].descriptor))
        self._first.wait_for("started")

    def check(self) -> None:
        """Raise ClusterError if one of its programs has ended."""
        if self._first is not None and self._first.process.poll() is not None:
            raise ClusterError(f"{self.name} is down: {self._first.last_words()}")

    def kill(self) -> None:
        """Take its power."""
        if self._first is not None:
            self._first.end(signal.SIGKILL)
            self._first = None
            self._network.reset(self.name)

    def remove(self) -> None:
        """Leave nothing of it."""
        self.kill()
        shutil.rmtree(self._folder, ignore_errors=True)
