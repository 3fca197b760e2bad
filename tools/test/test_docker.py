# SPDX-License-Identifier: Apache-2.0
"""Dockerfiles and compose.yaml name what exists and agree with each other. No image is built here."""

from __future__ import annotations

import fnmatch
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from bare_machine import Fake, Run

ROOT = Path(__file__).resolve().parents[2]
DOCKER = ROOT / "docker"
COMPOSE = DOCKER / "compose.yaml"
IMAGES = {"pqcmav-tunneld": "tunneld.Dockerfile", "pqcmav-suite": "suite.Dockerfile"}


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    return dict(yaml.safe_load(COMPOSE.read_text(encoding="utf-8")))


@pytest.fixture(scope="module")
def services(compose: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return dict(compose["services"])


def instructions(image: str) -> list[tuple[str, str]]:
    text = (DOCKER / IMAGES[image]).read_text(encoding="utf-8")
    joined = re.sub(r"\\\n", " ", "\n".join(line for line in text.splitlines() if not line.startswith("#")))
    return [(line.split(" ", 1)[0], line.split(" ", 1)[1].strip()) for line in joined.splitlines() if line.strip()]


def last(image: str, word: str) -> str:
    return [rest for name, rest in instructions(image) if name == word][-1]


@pytest.mark.parametrize("image", IMAGES)
def test_an_image_takes_its_base_as_an_argument_and_runs_without_privileges(image: str) -> None:
    words = instructions(image)
    assert words[0][0] == "ARG" and words[0][1].startswith("BASE=")
    assert all(rest.split()[0] == "${BASE}" for name, rest in words if name == "FROM")
    assert last(image, "USER") == "pqcmav"
    names = [name for name, _ in words]
    assert "RUN" not in names[len(names) - names[::-1].index("USER") :], "nothing is made after the privileges went"
    assert last(image, "ENTRYPOINT").startswith("[") and last(image, "CMD").startswith("["), "no shell in between"


@pytest.mark.parametrize("page", ["README.md", "tunneld.Dockerfile"])
def test_a_package_meets_the_release_it_was_built_on(page: str) -> None:
    text = (DOCKER / page).read_text(encoding="utf-8")
    command = re.search(r"docker build -f docker/tunneld\.Dockerfile .*\\\n.*BASE=(.*) \.", text)
    assert command, "the default would be met by packages of Debian 12 alone"
    said = subprocess.run(["sh", "-c", f"echo {command[1]}"], capture_output=True, text=True, check=True).stdout
    assert re.fullmatch(r"\w+:\w+\n", said) or not Path("/etc/os-release").exists(), said


@pytest.mark.parametrize("image", IMAGES)
def test_what_an_image_copies_exists_and_is_not_ignored(image: str) -> None:
    ignored = [line for line in (ROOT / ".dockerignore").read_text(encoding="utf-8").split() if line]
    for source in [rest.split()[0] for name, rest in instructions(image) if name == "COPY" and "--from" not in rest]:
        if source == ".":
            for needed in ("src", "tools", "requirements", "docker", "colcon.meta", "config"):
                assert (ROOT / needed).exists()
                assert not any(fnmatch.fnmatch(needed, pattern) for pattern in ignored), needed
        else:
            assert source == "build-deb/pqcmav-tunneld_*_${TARGETARCH}.deb"
            assert "!build-deb/*.deb" in ignored
    for entry in (".git", ".venv", ".deps", "build", "install", "keys"):
        assert entry in ignored, f"{entry} would go to the builder"


def test_the_small_image_has_no_python() -> None:
    assert "python" not in (DOCKER / "tunneld.Dockerfile").read_text(encoding="utf-8").lower().replace("and python", "")


def test_programs_that_images_start_exist() -> None:
    assert (ROOT / "docker" / "entrypoint.sh").stat().st_mode & 0o111
    assert last("pqcmav-suite", "ENTRYPOINT") == '["/opt/pqc-mav/docker/entrypoint.sh"]'
    assert last("pqcmav-tunneld", "ENTRYPOINT") == '["/usr/bin/pqcmav-tunneld"]'
    assert "--healthy" in last("pqcmav-tunneld", "HEALTHCHECK")
    assert "--healthy" in (ROOT / "src/pqc_mav_tunnel/tunneld/main.cpp").read_text(encoding="utf-8")


def test_services_use_images_and_files_that_exist(services: dict[str, dict[str, Any]], compose: dict[str, Any]) -> None:
    assert set(services) == {"keys", "gcs", "drone", "vehicle", "ground"}
    for name, service in services.items():
        assert service["image"] in IMAGES, name
        for volume in service.get("volumes", []):
            source = volume.split(":")[0]
            assert (DOCKER / source).is_file() if source.startswith("./") else source in compose["volumes"], volume
        for network in service.get("networks", []):
            assert network in compose["networks"]
        for other, how in service.get("depends_on", {}).items():
            if how["condition"] == "service_healthy":
                assert "healthcheck" in services[other], f"{name} waits for {other}, which has no health check"
        mode = service.get("network_mode", "")
        assert not mode.startswith("service:") or mode.partition(":")[2] in service["depends_on"]


def test_every_service_is_without_privileges_and_with_a_read_only_root(services: dict[str, dict[str, Any]]) -> None:
    for name, service in services.items():
        assert service["read_only"] is True, name
        assert service["cap_drop"] == ["ALL"], name
        assert service["security_opt"] == ["no-new-privileges:true"], name
        assert not {"privileged", "cap_add", "ports", "user"} & set(service), name


def test_plaintext_stays_on_loopback_beside_its_end(services: dict[str, dict[str, Any]]) -> None:
    assert services["vehicle"]["network_mode"] == "service:drone"
    assert services["ground"]["network_mode"] == "service:gcs"
    assert services["vehicle"]["command"][2] == "127.0.0.1:14590", "plain_bind's default"
    assert services["ground"]["command"][2] == "127.0.0.1:14550", "the default of a drone's plain_peer"


def test_each_end_sees_its_own_keys_alone(services: dict[str, dict[str, Any]]) -> None:
    made = dict(volume.split(":")[:2] for volume in services["keys"]["volumes"])
    assert made == {"gcs-keys": "/keys/gcs", "drone-keys": "/keys/drones/drone1"}
    for end in ("gcs", "drone"):
        volumes = services[end]["volumes"]
        assert [volume for volume in volumes if "keys" in volume.split(":")[0]] == [
            volume for volume in volumes if volume.startswith(f"{end}-keys:/etc/pqcmav/keys")
        ]
        configuration = yaml.safe_load((DOCKER / f"{end}.yaml").read_text(encoding="utf-8"))
        assert configuration["keys"] == "/etc/pqcmav/keys"
        assert configuration["role"] == end
    assert yaml.safe_load((DOCKER / "drone.yaml").read_text(encoding="utf-8"))["peer"] in services


@pytest.mark.parametrize("service", ["vehicle", "ground"])
def test_commands_have_only_options_that_exist(services: dict[str, dict[str, Any]], service: str) -> None:
    program, *arguments = services[service]["command"]
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not on the path: run 'make setup' first")
    text = subprocess.run([program, "--help"], capture_output=True, text=True, timeout=60, check=True).stdout
    for option in arguments:
        if option.startswith("--"):
            assert option in text


@pytest.mark.parametrize("role", ["drone", "gcs"])
def test_configurations_are_good_but_for_the_keys(role: str) -> None:
    program = shutil.which("pqcmav-tunneld")
    if program is None:
        pytest.skip("pqcmav-tunneld is not on the path: run 'make setup' first")
    result = subprocess.run(
        [program, "--check", str(DOCKER / f"{role}.yaml")], capture_output=True, text=True, timeout=60
    )
    assert result.returncode == 2
    assert "/etc/pqcmav/keys" in result.stderr


def test_images_are_made_on_x86_64_alone(run: Run, fake: Fake) -> None:
    fake("uname", "echo aarch64")
    result = run("tools/images.sh")
    assert result.returncode != 0
    assert result.stderr == "error: make images makes images of both architectures on x86-64 only\n"


def test_what_is_missing_is_named_to_who_cannot_install_it(run: Run, fake: Fake) -> None:
    fake("uname", "echo x86_64")
    fake("sudo", "exit 0")
    fake("id", "echo 1000")
    result = run("tools/images.sh")
    assert result.returncode != 0
    assert result.stderr.startswith("error: missing: buildah mmdebstrap podman crun conmon netavark iproute2 ")
    assert len(result.stderr.splitlines()) == 1


@pytest.fixture
def calls(fake: Fake, workspace: Path, tmp_path: Path) -> Path:
    """The file in which fake programs write what was asked of them."""
    calls = tmp_path / "calls"
    fake("uname", "echo x86_64")
    fake("id", "echo 0")
    for tool in ("podman", "mmdebstrap", "ip", "qemu-aarch64-static", "update-binfmts", "arch-test"):
        fake(tool, "exit 0")
    for script in ("tools/deb.sh", "tools/debian_base.sh", "tools/run"):
        (workspace / script).write_text(f'#!/bin/bash\necho "{Path(script).name} $*" >>{calls}\n')
    fake(
        "buildah",
        f'shift 6; echo "buildah $*" >>{calls}; [ "$1" != images ] || echo "137 MB  localhost/pqcmav"; exit 0',
    )
    return calls


def built(lines: list[str]) -> list[tuple[str, ...]]:
    found = [re.findall(r"--platform (\S+) .*BASE=(\S+) --tag (\S+) --file (\S+)", line) for line in lines]
    return [each[0] for each in found if each]


def test_every_image_is_built_and_tried_in_order(run: Run, calls: Path) -> None:
    result = run("tools/images.sh")
    assert result.returncode == 0, result.stdout + result.stderr
    lines = calls.read_text(encoding="utf-8").splitlines()
    assert lines[0] == "deb.sh --no-test amd64 arm64"
    assert built(lines) == [
        ("linux/amd64", "localhost/pqcmav-base:amd64", "localhost/pqcmav-tunneld:amd64", "docker/tunneld.Dockerfile"),
        ("linux/arm64", "localhost/pqcmav-base:arm64", "localhost/pqcmav-tunneld:arm64", "docker/tunneld.Dockerfile"),
        ("linux/amd64", "localhost/pqcmav-base:amd64", "localhost/pqcmav-suite:amd64", "docker/suite.Dockerfile"),
    ]
    tried = [
        re.findall(r"image_test.py (.*) -- --root \S+ --runroot \S+ --storage-driver vfs$", line) for line in lines
    ]
    assert [each[0] for each in tried if each] == [
        "pair amd64 amd64",
        "pair amd64 arm64",
        "pair arm64 amd64",
        "demo",
        "flight",
        "campaign",
    ]
    assert len(re.findall(r"^ *\d+ s  ", result.stdout, re.MULTILINE)) == 13


def test_a_cluster_gets_its_programs_and_images_once(run: Run, fake: Fake, calls: Path, tmp_path: Path) -> None:
    for tool in ("containerd", "runc", "etcd", "iptables", "ipset", "conntrack", "nft", "unshare"):
        fake(tool, "exit 0")
    manifest = tmp_path / "module" / "config" / "manifests" / "metallb-native.yaml"
    manifest.parent.mkdir(parents=True)
    manifest.touch()
    fake("go", f'echo "go $1" >>{calls}; [ "$1" != list ] || echo {tmp_path}/module')
    fake("cc", "exit 0")
    fake("apt-get", "exit 0")
    for _ in range(2):
        result = run("tools/cluster.sh", "--runs", "1")
        assert result.returncode == 0, result.stdout + result.stderr
    lines = calls.read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if line.startswith(("go", "deb.sh", "run"))] == [
        "go build", "go build", "go list", "deb.sh --no-test amd64", "go list", *["run chaos/run cluster --runs 1"] * 2,
    ]  # fmt: skip
    assert [each[2] for each in built(lines)] == ["localhost/pqcmav-tunneld:amd64", "localhost/pqcmav-suite:amd64"]
    pushed = [line.split(":")[-2].rpartition("/")[2] for line in lines if "buildah push" in line]
    assert pushed == ["controller", "speaker", "pqcmav-pause", "pqcmav-tunneld", "pqcmav-suite"]


def test_a_cluster_needs_go(run: Run, fake: Fake, calls: Path) -> None:
    fake("id", "echo 0")
    result = run("tools/cluster.sh")
    assert result.returncode != 0 and not calls.exists()
    assert "needs Go 1.24" in result.stderr and len(result.stderr.splitlines()) == 1
