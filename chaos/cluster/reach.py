# SPDX-License-Identifier: Apache-2.0
"""What may reach a station's pod and what it may reach, tried from other pods, from outside and from within."""

from __future__ import annotations

from dataclasses import dataclass

from cluster.control import ClusterError
from cluster.laboratory import Laboratory
from cluster.network import API

_METRICS, _TUNNEL = 9464, 46011
_LIMIT_S = 3
_KEPT_OUT = "kept out"
_CALM = "except OSError: print('kept out')"
# Each prints what came of it; a page has to be one of ours.
_FETCH = f"""
import sys, urllib.request
try:
    said = urllib.request.urlopen(sys.argv[1], timeout={_LIMIT_S}).read()
    print('the page' if b'pqcmav_' in said else 'another page')
{_CALM}
"""
_CONNECT = f"""
import socket, sys
try: print('connected' if socket.create_connection((sys.argv[1], int(sys.argv[2])), {_LIMIT_S}) else '')
{_CALM}
"""
# Ports that are bound beyond loopback: in /proc/net an address is in the machine's order, 127.0.0.1 ends in 7F.
_BOUND = """
found = set()
for kind in ('udp', 'udp6', 'tcp', 'tcp6'):
    for line in open('/proc/net/' + kind).readlines()[1:]:
        address, port = line.split()[1].split(':')
        if not address.endswith('7F') and line.split()[3] in ('07', '0A'):
            found.add(kind[:3].upper() + ' ' + str(int(port, 16)))
print(', '.join(sorted(found)))
"""
_LISTEN = ["python3", "-m", "http.server", "8000", "--directory", "/proc/self/net"]
PROMETHEUS = {"app.kubernetes.io/name": "prometheus"}


@dataclass(frozen=True)
class Attempt:
    """Something that was tried, what has to come of it, and what did."""

    words: str
    wanted: str
    seen: str


def attempts(lab: Laboratory) -> list[Attempt]:
    """All of them, at station north."""
    control = lab.control
    status = lab.stations.pod("north")["status"]
    url = f"http://{status['podIP']}:{_METRICS}/metrics"
    tried = []
    for space, name, labels, wanted in (
        ("monitoring", "prometheus", PROMETHEUS, "the page"),
        ("monitoring", "stranger", {}, _KEPT_OUT),
        ("default", "prometheus", PROMETHEUS, _KEPT_OUT),
    ):
        control.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": space}}, _pod(space, name, labels))
        words = ["wait", "pod", name, "--namespace", space, "--for=condition=Ready", "--timeout=60s"]
        control.kubectl(*words, limit_s=90.0)
        seen = _in_pod(lab, space, name, "", _FETCH, url)
        tried.append(Attempt(f"metrics, from pod `{name}` in namespace `{space}`", wanted, seen))
    tried.append(
        Attempt("metrics, from station south", _KEPT_OUT, _in_pod(lab, "south", "pqcmav-0", "ground", _FETCH, url))
    )
    tried.append(Attempt("metrics, from outside", _KEPT_OUT, _outside(lab, _FETCH, url)))
    host, port = API.removeprefix("https://").split(":")
    pod = control.get("pod", "stranger", "--namespace", "monitoring")["status"]["podIP"]
    for words, address, number in (("the API server", host, port), ("another pod", pod, "8000")):
        # That it is there at all, a pod without a policy says.
        own = _in_pod(lab, "default", "prometheus", "", _CONNECT, address, number)
        tried.append(Attempt(f"{words}, from a pod without a policy", "connected", own))
        seen = _in_pod(lab, "north", "pqcmav-0", "ground", _CONNECT, address, number)
        tried.append(Attempt(f"{words}, from within station north", _KEPT_OUT, seen))
    bound = _in_pod(lab, "north", "pqcmav-0", "ground", _BOUND)
    tried.append(Attempt("ports bound beyond loopback in station north", f"TCP {_METRICS}, UDP {_TUNNEL}", bound))
    return tried


def _pod(space: str, name: str, labels: dict[str, str]) -> dict[str, object]:
    container = {"name": "main", "image": "localhost/pqcmav-suite:amd64", "command": _LISTEN}
    return {
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": space, "labels": labels},
        "spec": {"containers": [container], "terminationGracePeriodSeconds": 0, "automountServiceAccountToken": False},
    }  # fmt: skip


def _in_pod(lab: Laboratory, space: str, pod: str, container: str, script: str, *words: str) -> str:
    where = ["--namespace", space, pod, *(["--container", container] if container else [])]
    said = lab.control.kubectl("exec", *where, "--", "python3", "-c", script, *words).stdout.strip()
    if not said:
        raise ClusterError(f"nothing was tried from {pod} in {space}")
    return said


def _outside(lab: Laboratory, script: str, *words: str) -> str:
    return lab.network.run("outside", ["python3", "-c", script, *words], timeout=60).stdout.strip()
