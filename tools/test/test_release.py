# SPDX-License-Identifier: Apache-2.0
"""A release verifies; one changed byte, another key, a missing or an added file, and it does not."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest
import release
import sbom
import verify_release
from bare_machine import OTHER, OWNER, public_keys
from verify_release import KEYRING, PROVENANCE, SUMS, ReleaseError, verify

ROOT = Path(__file__).resolve().parents[2]
CONTROL = "Package: pqcmav-tunneld\nVersion: 1\nArchitecture: amd64\nMaintainer: T <t@example.org>\nDescription: x\n"
pytestmark = pytest.mark.skipif(
    any(shutil.which(name) is None for name in ("gpg", "gpgv", "dpkg-deb")), reason="needs gpg and gpgv"
)


@pytest.fixture(scope="module")
def made(keys: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release with what stands in for packages: their content is other tests' business."""
    work = tmp_path_factory.mktemp("release")
    packages, tree = work / "packages", work / "tree"
    packages.mkdir()
    (packages / f"pqcmav_{sbom.version()}-1_all.deb").write_bytes(b"package")
    for place, mode in (
        ("usr/bin/pqcmav-tunneld", 0o755),
        ("usr/lib/pqcmav/liboqs.so.7", 0o644),
        ("etc/x.yaml", 0o644),
    ):
        (tree / place).parent.mkdir(parents=True, exist_ok=True)
        (tree / place).write_bytes(b"content")
        (tree / place).chmod(mode)
    (tree / "DEBIAN").mkdir(mode=0o755)
    (tree / "DEBIAN/control").write_text(CONTROL)
    package = packages / f"pqcmav-tunneld_{sbom.version()}-1_amd64.deb"
    subprocess.run(
        ["dpkg-deb", "--root-owner-group", "--build", str(tree), str(package)], check=True, capture_output=True
    )
    with pytest.MonkeyPatch.context() as patch:
        say = sbom.git
        patch.setattr(release, "git", lambda *words: "" if words[0] == "status" else say(*words))
        release.make(work / "made", OWNER, packages, ROOT / "build/pqc_mav_tunnel")
    return work / "made"


@pytest.fixture
def copy(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "copy"))


def test_a_good_release(made: Path, keys: Path) -> None:
    version = sbom.version()
    program = [sys.executable, str(ROOT / "tools/verify_release.py"), str(made), str(keys / f"{OWNER}.gpg")]
    ended = subprocess.run(program, capture_output=True, text=True, check=False, env={"PATH": os.environ["PATH"]})
    assert ended.returncode == 0, ended.stderr
    names = [f"pqc-mav-{version}.tar.gz", f"pqcmav-tunneld-{version}-amd64.tar.gz", f"pqcmav_{version}-1_all.deb"]
    assert all(name in ended.stdout for name in (*names, PROVENANCE, "sbom.cdx.json"))
    # Without any program of ours, as the page says.
    subprocess.run(["sha256sum", "--check", "--strict", "--quiet", SUMS], cwd=made, check=True)
    with tarfile.open(made / names[0]) as archive:
        assert f"pqc-mav-{version}/Makefile" in archive.getnames()
    with tarfile.open(made / names[1]) as archive:
        assert {(each.name, each.mode, each.uid) for each in archive} == {
            ("usr/bin/pqcmav-tunneld", 0o755, 0), ("usr/lib/pqcmav/liboqs.so.7", 0o644, 0)
        }  # fmt: skip


def test_the_key_of_nobody_else_is_published(made: Path) -> None:
    assert public_keys(made / KEYRING) == [OWNER]


def test_the_provenance_names_commit_and_sources(made: Path) -> None:
    statement = json.loads((made / PROVENANCE).read_text("utf-8"))
    definition = statement["predicate"]["buildDefinition"]
    assert statement["_type"] == "https://in-toto.io/Statement/v1"
    assert definition["externalParameters"]["source"]["commit"] == sbom.git("rev-parse", "HEAD")
    assert {"buildType", "externalParameters", "resolvedDependencies"} <= set(definition)
    assert statement["predicate"]["runDetails"]["builder"]["id"]
    assert sbom.crate()["CRATE_SHA256"] in json.dumps(definition["resolvedDependencies"])


def change(name: str, at: int = -3) -> Callable[[Path], object]:
    """One bit of a file."""

    def spoil(folder: Path) -> None:
        content = bytearray((folder / name).read_bytes())
        content[at] ^= 1
        (folder / name).write_bytes(content)

    return spoil


def relabel(folder: Path) -> None:
    """A changed file with its new digest in the list, which the signature then does not cover."""
    change("sbom.cdx.json")(folder)
    lines = [
        f"{verify_release.digest(p)}  {p.name}\n"
        for p in sorted(folder.iterdir())
        if p.name not in (SUMS, f"{SUMS}.asc", KEYRING)
    ]
    (folder / SUMS).write_text("".join(lines))


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (change(f"pqc-mav-{sbom.version()}.tar.gz", 100), "is not the file that was signed"),
        (change(f"pqcmav_{sbom.version()}-1_all.deb"), "is not the file that was signed"),
        (change("sbom.cdx.json"), "is not the file that was signed"),
        (change(PROVENANCE), "is not the file that was signed"),
        (change(SUMS), "no good signature"),
        (change(f"{SUMS}.asc", 80), "no good signature"),
        (relabel, "no good signature"),
        (lambda folder: (folder / "sbom.cdx.json").unlink(), "sbom.cdx.json is missing"),
        (lambda folder: (folder / f"{SUMS}.asc").unlink(), "is missing"),
        (lambda folder: (folder / SUMS).unlink(), "is missing"),
        (lambda folder: (folder / "more.deb").write_bytes(b"x"), "nobody signed it"),
    ],
)
def test_a_changed_release(copy: Path, keys: Path, spoil: Callable[[Path], object], said: str) -> None:
    verify(copy, keys / f"{OWNER}.gpg")
    spoil(copy)
    with pytest.raises(ReleaseError, match=said):
        verify(copy, keys / f"{OWNER}.gpg")


def test_another_key_signs(copy: Path, keys: Path) -> None:
    release.sign(copy / SUMS, OTHER)
    verify(copy, copy / KEYRING)  # the key that lies beside it says nothing
    with pytest.raises(ReleaseError, match="no good signature by the key"):
        verify(copy, keys / f"{OWNER}.gpg")


def test_the_owner_signs_a_provenance_of_other_files(copy: Path, keys: Path) -> None:
    statement = json.loads((copy / PROVENANCE).read_text("utf-8"))
    statement["subject"].pop()
    (copy / PROVENANCE).write_text(json.dumps(statement))
    relabel(copy)
    release.sign(copy / SUMS, OWNER)
    with pytest.raises(ReleaseError, match="speaks of other files"):
        verify(copy, keys / f"{OWNER}.gpg")


@pytest.mark.parametrize("line", ["0" * 64 + "  ../passwd", "0" * 64 + " x", "x", "0" * 63 + "  x"])
def test_a_line_that_is_no_digest_and_name(line: str) -> None:
    with pytest.raises(ReleaseError, match="no digest and name"):
        verify_release.read_sums(line)


def test_no_release_of_changes_or_of_old_packages_or_by_no_key(
    keys: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    say = sbom.git
    monkeypatch.setattr(release, "git", lambda *words: " M file" if words[0] == "status" else say(*words))
    with pytest.raises(sbom.SbomError, match="commit them"):
        release.make(tmp_path / "out", OWNER, tmp_path, ROOT / "build/pqc_mav_tunnel")
    old = tmp_path / f"pqcmav_{sbom.version()}-1_all.deb"
    old.write_bytes(b"")
    os.utime(old, (0, 0))
    monkeypatch.setattr(release, "git", lambda *words: "" if words[0] == "status" else say(*words))
    with pytest.raises(sbom.SbomError, match="older than this commit"):
        release.make(tmp_path / "out", OWNER, tmp_path, ROOT / "build/pqc_mav_tunnel")
    old.unlink()
    with pytest.raises(sbom.SbomError, match="gpg did not sign"):
        release.make(tmp_path / "out", "nobody@example.org", tmp_path, ROOT / "build/pqc_mav_tunnel")
    assert not (tmp_path / "out").exists()
