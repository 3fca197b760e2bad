# SPDX-License-Identifier: Apache-2.0
"""The manifests in docker/k8s: consistent with each other, the images and the engine; `make cluster` runs them."""

from __future__ import annotations

import re
import shutil
import stat
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docker" / "k8s"
NAMES = ("service", "statefulset", "networkpolicy")
TUNNELD = shutil.which("pqcmav-tunneld")


def manifest(name: str, folder: str = "base") -> dict[str, Any]:
    return dict(yaml.safe_load((FOLDER / folder / f"{name}.yaml").read_text(encoding="utf-8")))


SERVICE, SET, POLICY = (manifest(name) for name in NAMES)
NORTH = manifest("kustomization", "north")
POD = SET["spec"]["template"]
CONTAINERS = {each["name"]: each for each in (*POD["spec"]["initContainers"], *POD["spec"]["containers"])}
ENGINE = manifest("gcs", "north")


def test_the_parts_fit_together() -> None:
    assert sorted(manifest("kustomization")["resources"]) == sorted(f"{name}.yaml" for name in NAMES)
    assert {path.stem for path in (FOLDER / "base").iterdir()} == {*NAMES, "kustomization"}
    assert NORTH["resources"] == ["../base"] and NORTH["namespace"] == ENGINE["gcs_id"] == "north"
    assert {each["image"] for each in CONTAINERS.values()} == {each["name"] for each in NORTH["images"]}
    labels = POD["metadata"]["labels"]
    selectors = (
        SET["spec"]["selector"]["matchLabels"],
        SERVICE["spec"]["selector"],
        POLICY["spec"]["podSelector"]["matchLabels"],
    )
    for selector in selectors:
        assert selector and selector.items() <= labels.items()
    assert SET["spec"]["serviceName"] == SERVICE["metadata"]["name"]
    assert SET["spec"]["replicas"] == 1, "two processes with the keys of one station would both be that station"
    volumes = {each["name"]: each for each in POD["spec"]["volumes"]}
    mounted = {mount["name"] for each in CONTAINERS.values() for mount in each["volumeMounts"]}
    assert mounted == set(volumes)
    (generator,) = NORTH["configMapGenerator"]
    assert volumes["config"]["configMap"]["name"] == generator["name"] and generator["files"] == ["gcs.yaml"]
    kinds = {yaml.safe_load(path.read_text(encoding="utf-8")).get("kind") for path in FOLDER.rglob("*.yaml")}
    assert "Secret" not in kinds, "keys are never committed"


def test_ports_are_those_of_the_engine_and_the_exporter() -> None:
    (tunnel,) = CONTAINERS["gcs"]["ports"]
    (metrics,) = CONTAINERS["metrics"]["ports"]
    assert (tunnel["containerPort"], tunnel["protocol"]) == (ENGINE["data_port"], "UDP")
    (served,) = SERVICE["spec"]["ports"]
    assert (served["targetPort"], served["protocol"]) == (tunnel["name"], "UDP")
    assert served["port"] == 46011, "the default of the drones"
    arguments = CONTAINERS["metrics"]["args"]
    assert arguments[arguments.index("--listen") + 1] == f"[$(POD_IP)]:{metrics['containerPort']}"
    assert arguments[arguments.index("--socket") + 1] == ENGINE["control_socket"]
    annotations = POD["metadata"]["annotations"]
    assert annotations["prometheus.io/port"] == str(metrics["containerPort"])
    assert annotations["prometheus.io/path"] == "/metrics" and annotations["prometheus.io/scrape"] == "true"
    tunnel_rule, metrics_rule = POLICY["spec"]["ingress"]
    assert tunnel_rule == {"ports": [{"protocol": "UDP", "port": tunnel["name"]}]}
    assert metrics_rule["from"] and metrics_rule["ports"] == [{"protocol": "TCP", "port": metrics["name"]}]
    assert POLICY["spec"]["egress"] == [] and set(POLICY["spec"]["policyTypes"]) == {"Ingress", "Egress"}


def test_nothing_has_privileges() -> None:
    user = re.search(r"^ARG USER_ID=(\d+)$", (ROOT / "docker/tunneld.Dockerfile").read_text("utf-8"), re.MULTILINE)
    assert user
    pod = POD["spec"]["securityContext"]
    assert pod["runAsNonRoot"] and pod["runAsUser"] == pod["runAsGroup"] == pod["fsGroup"] == int(user[1])
    assert pod["seccompProfile"] == {"type": "RuntimeDefault"} and POD["spec"]["automountServiceAccountToken"] is False
    for container in CONTAINERS.values():
        context = container["securityContext"]
        assert context["readOnlyRootFilesystem"] and not context["allowPrivilegeEscalation"]
        assert context["capabilities"] == {"drop": ["ALL"]}
        assert container["resources"]["limits"]["memory"]
    for name in ("keys", "run"):
        (volume,) = (each for each in POD["spec"]["volumes"] if each["name"] == name)
        assert volume["emptyDir"]["medium"] == "Memory"


def test_the_pages_copy_of_the_keys_is_its_owners(tmp_path: Path) -> None:
    page = (ROOT / "docs/scale.md").read_text(encoding="utf-8")
    (pack,) = re.findall(r"^.*tar -C .*$", page, re.MULTILINE)
    assert page.index("create namespace") < page.index(pack), "it is done again 'from tar on' for a new drone"
    (tmp_path / "keys/stations/north").mkdir(parents=True)
    subprocess.run(["sh", "-c", f"umask 022; {pack}"], cwd=tmp_path, check=True, timeout=60)
    assert stat.S_IMODE((tmp_path / "keys.tar.gz").stat().st_mode) == 0o600


@pytest.mark.skipif(TUNNELD is None, reason="pqcmav-tunneld is not on the path: run 'make setup' first")
def test_the_engine_takes_what_the_first_container_unpacks(tmp_path: Path) -> None:
    """By its own command, with folders of this machine in place of the pod's; as docs/scale.md packs the keys."""
    tunnel = pytest.importorskip("pqc_mav_tunnel", reason="the engine's Python module is not built")
    tunnel.init_keys(str(tmp_path / "made"), ["drone1", "drone2"], sig_tokens=["mldsa65"], gcs_id="north")
    secret, volume, keys = (tmp_path / name for name in ("secret", "volume", "keys"))
    secret.mkdir()
    volume.mkdir()
    volume.chmod(0o2777)  # as an emptyDir
    subprocess.run(
        ["tar", "-C", str(tmp_path / "made" / "gcs"), "-czf", str(secret / "keys.tar.gz"), "."], check=True, timeout=60
    )
    container = CONTAINERS["keys"]
    (script,) = container["args"]
    script = script.replace("/secret/", f"{secret}/").replace("/volume/own", f"{volume}/own")
    for _ in range(2):  # a container may be started again
        subprocess.run([*container["command"], script], check=True, timeout=60)
    (mount,) = (each for each in CONTAINERS["gcs"]["volumeMounts"] if each["name"] == "keys")
    (volume / mount["subPath"]).rename(keys)  # as it is mounted, without the volume's top on the way
    for path in (keys, *keys.rglob("*")):
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0, path
    config = tmp_path / "gcs.yaml"
    text = (FOLDER / "north" / "gcs.yaml").read_text(encoding="utf-8")
    config.write_text(text.replace(f"keys: {mount['mountPath']}", f"keys: {keys}"), encoding="utf-8")
    checked = subprocess.run(
        [str(TUNNELD), "--check", str(config)], capture_output=True, text=True, timeout=60, check=False
    )
    assert (checked.returncode, checked.stderr) == (0, "")
