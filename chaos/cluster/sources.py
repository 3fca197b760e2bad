# SPDX-License-Identifier: Apache-2.0
"""Whose address a gcs sees a drone's packets come from, by the way on which they reach its pod."""

from __future__ import annotations

import json

from cluster.control import until
from cluster.laboratory import Laboratory
from cluster.network import NODES, OUTSIDE

WANTED = OUTSIDE
_STATION = "north"
_SOCKET = "/run/pqcmav/gcs.sock"


def sources(lab: Laboratory) -> dict[str, str]:
    """By way."""
    return {
        "service, by the load balancer's address": _seen(lab, lab.drones.started[0]),
        "service, by the port of the node (NodePort)": _at_node(lab, _service(lab)["nodePort"]),
        "the network of the node (`hostNetwork`)": _by_the_nodes_network(lab),
    }


def _service(lab: Laboratory) -> dict[str, int]:
    return dict(lab.control.get("service", "pqcmav", "--namespace", _STATION)["spec"]["ports"][0])


def _by_the_nodes_network(lab: Laboratory) -> str:
    lab.stations.share_network(_STATION, True)
    try:
        return _at_node(lab, _service(lab)["port"])
    finally:
        lab.stations.share_network(_STATION, False)


def _at_node(lab: Laboratory, port: int) -> str:
    drone = lab.spare
    lab.drones.start(drone, f"{NODES[lab.stations.node(_STATION)]}:{port}")
    try:
        lab.drones.wait([drone])
        return _seen(lab, drone)
    finally:
        lab.drones.end(drone)


def _seen(lab: Laboratory, drone: str) -> str:
    words = ["--container", "metrics", "--", "/opt/pqc-mav/docker/entrypoint.sh", "pqcmav", "status", "--json"]

    def row() -> str:
        told = lab.stations.said(lab.drones.first(drone), *words, "--socket", _SOCKET)
        return next((str(each["peer"]).rpartition(":")[0] for each in _rows(told) if each["drone_id"] == drone), "")

    return until(row, lambda: f"{drone} is not to be seen at its station")


def _rows(told: str) -> list[dict[str, object]]:
    return [each["status"] for each in json.loads(told)]
