# SPDX-License-Identifier: Apache-2.0
"""scripts/build_liboqs.sh: what it refuses, and that its key follows its inputs. The set-up itself builds."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

TOOLS = ("bash", "cat", "cmake", "cc", "cut", "dirname", "env", "grep", "head", "mkdir", "nproc", "paste", "rm")
MORE_TOOLS = ("readlink", "sha256sum", "tail", "tar", "uname")


def tool_folder(tmp_path: Path, *left_out: str) -> Path:
    """Make a folder for PATH that has what the script needs, but no cargo and nothing of `left_out`."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for tool in (*TOOLS, *MORE_TOOLS):
        found = shutil.which(tool)
        if found and tool not in left_out:
            (folder / tool).symlink_to(found)
    return folder


def run(
    package: Path, tmp_path: Path, bin_folder: Path, *arguments: str, **extra: str
) -> subprocess.CompletedProcess[str]:
    """Ask for a build into tmp_path with an empty cargo home."""
    environment = {"PATH": str(bin_folder), "HOME": str(tmp_path), "CARGO_HOME": str(tmp_path / "cargo"), **extra}
    script = package / "scripts" / "build_liboqs.sh"
    command = [str(bin_folder / "bash"), str(script), "--prefix", str(tmp_path / "prefix"), *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)


def assert_one_line(result: subprocess.CompletedProcess[str], *words: str) -> None:
    """The script stopped, with one line that has all the words."""
    assert result.returncode != 0
    assert len(result.stderr.splitlines()) == 1, result.stderr
    assert result.stderr.startswith("error: ")
    for word in words:
        assert word in result.stderr


def fake_cargo(folder: Path, body: str) -> None:
    cargo = folder / "cargo"
    cargo.write_text(f"#!{folder / 'bash'}\n{body}\n")
    cargo.chmod(0o755)


def test_no_cargo_is_one_line_that_says_what_to_install(package_copy: Path, tmp_path: Path) -> None:
    result = run(package_copy, tmp_path, tool_folder(tmp_path))
    assert_one_line(result, "cargo is missing", "apt-get install cargo-web")
    assert not (tmp_path / "prefix").exists()


def test_no_compiler_is_one_line(package_copy: Path, tmp_path: Path) -> None:
    result = run(package_copy, tmp_path, tool_folder(tmp_path, "cc"))
    assert_one_line(result, "cc is missing", "apt-get install g++")


def test_no_network_is_one_line_with_cargos_own_words(package_copy: Path, tmp_path: Path) -> None:
    folder = tool_folder(tmp_path)
    fake_cargo(
        folder, 'if [ "$1" = fetch ]; then echo "error: could not resolve host" >&2; exit 101; fi; echo "cargo 1.80"'
    )
    result = run(package_copy, tmp_path, folder)
    assert_one_line(result, "no network", "could not resolve host", "cargo 1.80")


def test_crate_of_another_content_is_never_built(package_copy: Path, tmp_path: Path) -> None:
    folder = tool_folder(tmp_path)
    fake_cargo(folder, "exit 0")
    cache = tmp_path / "cargo" / "registry" / "cache" / "index"
    cache.mkdir(parents=True)
    (cache / "oqs-sys-0.11.0+liboqs-0.13.0.crate").write_bytes(b"something else")
    result = run(package_copy, tmp_path, folder)
    assert_one_line(result, "pinned SHA-256")
    assert not (tmp_path / "prefix").exists()


def test_crate_file_given_by_hand_is_checked_too(package_copy: Path, tmp_path: Path) -> None:
    crate = tmp_path / "mine.crate"
    crate.write_bytes(b"something else")
    result = run(package_copy, tmp_path, tool_folder(tmp_path), LIBOQS_CRATE=str(crate))
    assert_one_line(result, "LIBOQS_CRATE", "SHA-256")


def key(package: Path, *arguments: str) -> str:
    script = package / "scripts" / "build_liboqs.sh"
    command = [str(script), "--key", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=20, check=True).stdout.strip()


def test_key_changes_with_every_input_and_with_nothing_else(package_copy: Path) -> None:
    first = key(package_copy)
    assert first == key(package_copy)
    (package_copy / "README.md").write_text("other words\n")
    assert key(package_copy) == first

    algorithms = package_copy / "algorithms.txt"
    algorithms.write_text(algorithms.read_text() + "KEM_bike_l1\n")
    second = key(package_copy)
    assert second != first

    source = package_copy / "compat" / "sig_supports_ctx_str.c"
    source.write_text(source.read_text() + "\n")
    assert key(package_copy) not in {first, second}


def test_a_first_demos_library_is_another_one_with_some_of_the_algorithms(package_copy: Path) -> None:
    whole, demo = (
        {line for line in (package_copy / name).read_text().splitlines() if not line.startswith("#")}
        for name in ("algorithms.txt", "algorithms_demo.txt")
    )
    assert {"KEM_ml_kem_768", "SIG_ml_dsa_65"} < demo < whole
    first = key(package_copy), key(package_copy, "--demo")
    assert first[0] != first[1]
    (package_copy / "algorithms_demo.txt").write_text("KEM_ml_kem_768\n")
    assert key(package_copy) == first[0]
    assert key(package_copy, "--demo") not in first


def test_key_follows_the_toolchain_and_not_the_machine_that_builds(package_copy: Path, tmp_path: Path) -> None:
    toolchain = tmp_path / "toolchain.cmake"
    toolchain.write_text("set(CMAKE_C_COMPILER one-gcc)\n")
    first = key(package_copy, "--toolchain", str(toolchain))
    assert first != key(package_copy)
    toolchain.write_text("set(CMAKE_C_COMPILER another-gcc)\n")
    assert key(package_copy, "--toolchain", str(toolchain)) not in {first, key(package_copy)}


def test_the_toolchains_compiler_is_asked_for(package_copy: Path, tmp_path: Path) -> None:
    toolchain = tmp_path / "toolchain.cmake"
    toolchain.write_text("set(prefix one)\nset(CMAKE_C_COMPILER ${prefix}-gcc)\n")
    result = run(package_copy, tmp_path, tool_folder(tmp_path), "--toolchain", str(toolchain))
    assert_one_line(result, "one-gcc is missing")


def test_a_toolchain_file_that_is_not_there_is_one_line(package_copy: Path, tmp_path: Path) -> None:
    missing = tmp_path / "no" / "toolchain.cmake"
    assert_one_line(run(package_copy, tmp_path, tool_folder(tmp_path), "--toolchain", str(missing)), str(missing))


def test_unknown_argument_is_refused(package_copy: Path) -> None:
    script = package_copy / "scripts" / "build_liboqs.sh"
    result = subprocess.run([str(script), "--what"], capture_output=True, text=True, timeout=20, env=dict(os.environ))
    assert_one_line(result, "--what")
