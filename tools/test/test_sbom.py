# SPDX-License-Identifier: Apache-2.0
"""The list of what a build contains follows the published schema, and is true of this build."""

from __future__ import annotations

import json
import re
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
import sbom

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build/pqc_mav_tunnel"


@pytest.fixture(scope="module")
def schema() -> Any:
    """CycloneDX 1.5 as its project publishes it, as a function that raises."""
    fastjsonschema = pytest.importorskip("fastjsonschema")
    folder = resources.files(pytest.importorskip("cyclonedx.schema._res"))

    def read(name: str) -> Any:
        return json.loads((folder / name.replace(".schema.json", ".SNAPSHOT.schema.json")).read_text("utf-8"))

    def by_address(address: str) -> Any:
        return read(address.rsplit("/", 1)[-1].replace(".SNAPSHOT", ""))

    return fastjsonschema.compile(
        read("bom-1.5.schema.json"), handlers={"http": by_address}, formats={"iri-reference": r".*"}
    )


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    return sbom.document(BUILD)


def component(document: dict[str, Any], name: str) -> dict[str, Any]:
    (found,) = [each for each in document["components"] if each["name"] == name]
    return dict(found)


def test_it_follows_the_schema(schema: Any, document: dict[str, Any]) -> None:
    schema(document)
    for spoiled in (
        {**document, "serialNumber": "urn:uuid:1"},
        {**document, "components": [{"name": "liboqs"}]},
        {**document, "surprise": 1},
        {**document, "components": [{"type": "library", "name": "x", "hashes": [{"alg": "SHA-256", "content": "0"}]}]},
    ):
        with pytest.raises(Exception, match="data"):
            schema(spoiled)


def test_the_versions_are_those_that_run(document: dict[str, Any]) -> None:
    import pqc_mav_tunnel

    assert component(document, "liboqs")["version"] == pqc_mav_tunnel.liboqs_version()
    assert component(document, "OpenSSL")["version"] == pqc_mav_tunnel.openssl_version()
    assert document["metadata"]["component"]["version"] == pqc_mav_tunnel.engine_version()
    assert {"yaml-cpp", "nlohmann-json", "uPlot"} <= {each["name"] for each in document["components"]}


def test_every_locked_package_is_there_with_its_hashes(document: dict[str, Any]) -> None:
    for layer in sbom.LAYERS:
        text = (ROOT / f"requirements/locked/{layer}.txt").read_text("utf-8").replace("\\\n", " ")
        for name, number, rest in re.findall(r"^([\w.-]+)(?:\[[a-z]+\])?==([^\s;]+)(.*)$", text, re.MULTILINE):
            (found,) = [each for each in document["components"] if each.get("purl") == f"pkg:pypi/{name}@{number}"]
            hashes = {each["content"] for each in found["externalReferences"][0]["hashes"]}
            assert hashes == set(re.findall(r"sha256:([0-9a-f]{64})", rest)), name


def test_what_depends_on_what_is_listed(document: dict[str, Any]) -> None:
    references = [each["bom-ref"] for each in document["components"]]
    assert len(references) == len(set(references))
    for each in document["dependencies"]:
        assert set(each["dependsOn"]) <= set(references)
    (daemon,) = [each for each in document["dependencies"] if each["ref"] == "program:pqcmav-tunneld"]
    assert any("liboqs@" in each for each in daemon["dependsOn"])


def test_the_same_build_gives_the_same_bytes() -> None:
    assert sbom.text(BUILD) == sbom.text(BUILD)


def test_a_folder_that_is_no_build_is_said(tmp_path: Path) -> None:
    with pytest.raises(sbom.SbomError, match="make setup"):
        sbom.document(tmp_path)
