#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Write what a build contains, as CycloneDX 1.5: libraries of the engine with the versions it
was built with, Python packages with the hashes of requirements/locked, JavaScript of the dashboard.

    sbom.py [--build build/pqc_mav_tunnel] [--output FILE]

The same commit and the same build give the same bytes. Libraries of the system are linked dynamically: what runs is the
version that is installed where the program runs.
"""

import argparse
import json
import re
import subprocess
import sys
import uuid
from collections.abc import Iterator
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
LAYERS = (
    "system",
    "wheels",
    "ros-jazzy",
    "analysis",
    "dashboard",
    "detect",
)  # those of tests and style are in no build
VENDOR = ROOT / "src/pqc_mav_dashboard/pqc_mav_dashboard/static/vendor"
LIBOQS = ROOT / "src/liboqs_vendor/scripts/build_liboqs.sh"
Component = dict[str, Any]


class SbomError(Exception):
    """What is missing, as a sentence."""


def git(*words: str) -> str:
    """What git says of this clone. Raises SbomError."""
    ended = subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, text=True, check=False)
    if ended.returncode != 0:
        raise SbomError(f"git {words[0]} failed: {ended.stderr.strip()}; this needs a clone with its history")
    return ended.stdout.strip()


def version() -> str:
    """Of all packages: they have one."""
    return found(r"<version>([^<]+)</version>", ROOT / "src/pqc_mav_tunnel/package.xml")


def found(pattern: str, file: Path) -> str:
    """The first group in a file's text. Raises SbomError."""
    try:
        match = re.search(pattern, file.read_text(encoding="utf-8", errors="replace"), re.MULTILINE)
    except OSError as error:
        raise SbomError(f"{file} cannot be read ({error.strerror}): run 'make setup' first") from None
    if match is None:
        raise SbomError(f"{file} does not say {pattern}")
    return match[1]


def properties(**values: str) -> list[dict[str, str]]:
    """Names of our own for what the format has no field for."""
    return [{"name": f"pqcmav:{name}", "value": value} for name, value in values.items()]


def cached(build: Path, name: str) -> Path:
    """A path in CMake's cache. Raises SbomError."""
    return Path(found(rf"^{name}:[A-Z]+=(.*)$", build / "CMakeCache.txt"))


def package_version(build: Path, name: str) -> str:
    """By the file in which a CMake package tells it."""
    folder = cached(build, f"{name}_DIR")
    for file in (*folder.glob("*onfigVersion.cmake"), *folder.glob("*-config-version.cmake")):
        return found(r'set\(PACKAGE_VERSION "([^"]+)"\)', file)
    raise SbomError(f"{folder} does not tell the version of {name}")


def crate() -> dict[str, str]:
    """Where liboqs' source comes from, as its build script pins it."""
    names = ("CRATE", "CRATE_VERSION", "LIBOQS_VERSION", "LIBOQS_COMMIT", "CRATE_SHA256")
    return {name: found(rf"\b{name}=(\S+)", LIBOQS) for name in names}


def liboqs() -> Component:
    """The one at .deps/liboqs: built from the pinned crate, or one that this machine had."""
    prefix = (ROOT / ".deps/liboqs").resolve()
    number = found(r'define OQS_VERSION_TEXT "([^"]+)"', prefix / "include/oqs/oqsconfig.h")
    shared = {"type": "library", "name": "liboqs", "licenses": [{"license": {"id": "MIT"}}], "version": number}
    if prefix.parent != (ROOT / ".deps").resolve():
        return {
            **shared,
            "purl": f"pkg:generic/liboqs@{number}",
            "properties": properties(linked="shared, of the system"),
        }
    pins = crate()
    name, release = pins["CRATE"], f"{pins['CRATE_VERSION']}+liboqs-{pins['LIBOQS_VERSION']}"
    return {
        **shared,
        "purl": f"pkg:github/open-quantum-safe/liboqs@{pins['LIBOQS_COMMIT']}",
        "externalReferences": [
            {"type": "vcs", "url": f"https://github.com/open-quantum-safe/liboqs#{pins['LIBOQS_COMMIT']}"},
            {
                "type": "distribution",
                "url": f"https://static.crates.io/crates/{name}/{name}-{release}.crate",
                "hashes": [{"alg": "SHA-256", "content": pins["CRATE_SHA256"]}],
            },
        ],
        "properties": properties(
            linked="shared, shipped in the packages", algorithms=", ".join(algorithms()), commit=pins["LIBOQS_COMMIT"]
        ),
    }


def libraries(build: Path) -> list[Component]:
    """What pqcmav-tunneld and the engine's module for Python are linked with, or compiled with."""
    header = cached(build, "OPENSSL_INCLUDE_DIR") / "openssl/opensslv.h"
    system = [
        ("OpenSSL", found(r'define\s+OPENSSL_VERSION_STR\s+"([^"]+)"', header), "Apache-2.0", "shared, of the system"),
        ("yaml-cpp", package_version(build, "yaml-cpp"), "MIT", "shared, of the system"),
        ("nlohmann-json", package_version(build, "nlohmann_json"), "MIT", "compiled in"),
    ]
    return [
        liboqs(),
        *(
            {
                "type": "library",
                "name": library,
                "version": number,
                "purl": f"pkg:generic/{library.lower()}@{number}",
                "licenses": [{"license": {"id": licence}}],
                "properties": properties(linked=how),
            }
            for library, number, licence, how in system
        ),
    ]


def algorithms() -> list[str]:
    """That liboqs is built with."""
    lines = (ROOT / "src/liboqs_vendor/algorithms.txt").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def in_packages() -> set[str]:
    """The Python packages that come along in pqcmav-cli."""
    script = ROOT / "tools/deb_build.sh"
    return {name for what in ("wanted", "dashboard") for name in found(rf'^{what}="([^"]+)"', script).split()}


def python_packages() -> Iterator[Component]:
    """Of the locked layers, each with the hashes of all files that may be installed as it."""
    shipped = in_packages()
    seen: dict[str, Component] = {}
    for layer in LAYERS:
        text = (ROOT / f"requirements/locked/{layer}.txt").read_text(encoding="utf-8").replace("\\\n", " ")
        for line in text.splitlines():
            match = re.match(r"([a-z0-9._-]+)(?:\[[a-z]+\])?==([^\s;]+)(?:\s*;([^-]*?))?\s+--hash", line)
            if match is None:
                continue
            name, number = match[1], match[2]
            purl = f"pkg:pypi/{name}@{number}"
            if purl in seen:
                continue
            where = "workspace and packages" if name in shipped else "workspace"
            condition = {"condition": match[3].strip()} if match[3] else {}
            hashes = re.findall(r"--hash=sha256:([0-9a-f]{64})", line)
            seen[purl] = {
                "type": "library",
                "name": name,
                "version": number,
                "purl": purl,
                "externalReferences": [
                    {
                        "type": "distribution",
                        "url": f"https://pypi.org/project/{name}/{number}/#files",
                        "hashes": [{"alg": "SHA-256", "content": each} for each in hashes],
                    }
                ],
                "properties": properties(layer=layer, part=where, **condition),
            }
    yield from seen.values()


def scripts() -> Iterator[Component]:
    """JavaScript that is not ours."""
    from hashlib import sha256

    for folder in sorted(VENDOR.iterdir()):
        for file in sorted(folder.glob("*.js")):
            name, number = (found(pattern, file) for pattern in (r"github\.com/\S+/(\w+)", r"\(v([0-9.]+)\)"))
            yield {
                "type": "library",
                "name": name,
                "version": number,
                "purl": f"pkg:npm/{name.lower()}@{number}",
                "hashes": [{"alg": "SHA-256", "content": sha256(file.read_bytes()).hexdigest()}],
                "licenses": [{"license": {"id": "MIT"}}],
                "properties": properties(file=str(file.relative_to(ROOT)), part="dashboard"),
            }


def document(build: Path) -> dict[str, Any]:
    """All of it. Raises SbomError."""
    commit, number = git("rev-parse", "HEAD"), version()
    engine, python, script = libraries(build), list(python_packages()), list(scripts())
    components = [*engine, *python, *script]
    for each in components:
        each["bom-ref"] = each["purl"]
    compiler = next(build.glob("CMakeFiles/*/CMakeCXXCompiler.cmake"), build / "CMakeFiles/CMakeCXXCompiler.cmake")
    brand, release = (found(rf'set\(CMAKE_CXX_COMPILER_{of} "([^"]+)"\)', compiler) for of in ("ID", "VERSION"))
    ours = {
        "pqcmav-tunneld": engine,
        "pqcmav": [*engine, *python],
        "pqcmav-dashboard": [*(each for each in python if is_of(each, "dashboard")), *script],
    }
    programs: list[Component] = [
        {"type": "application", "bom-ref": f"program:{name}", "name": name, "version": number} for name in ours
    ]
    root = {
        "type": "application",
        "bom-ref": "pqc-mav",
        "name": "pqc-mav",
        "version": number,
        "licenses": [{"license": {"id": "Apache-2.0"}}],
        "properties": properties(commit=commit, compiler=f"{brand} {release}"),
    }
    when = datetime.fromtimestamp(int(git("log", "-1", "--format=%ct")), timezone.utc)
    body = {
        "metadata": {"timestamp": when.strftime("%Y-%m-%dT%H:%M:%SZ"), "component": root},
        "components": [*programs, *components],
        "dependencies": [
            {"ref": "pqc-mav", "dependsOn": [each["bom-ref"] for each in programs]},
            *({"ref": f"program:{name}", "dependsOn": [each["purl"] for each in on]} for name, on in ours.items()),
        ],
    }
    serial = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(body, sort_keys=True))
    return {"bomFormat": "CycloneDX", "specVersion": "1.5", "serialNumber": f"urn:uuid:{serial}", "version": 1, **body}


def is_of(component: Component, layer: str) -> bool:
    """Whether it was locked for that layer."""
    return {"name": "pqcmav:layer", "value": layer} in component["properties"]


def text(build: Path) -> str:
    """The document as it is written."""
    return json.dumps(document(build), indent=1) + "\n"


def main() -> int:
    """Write it, or print it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build/pqc_mav_tunnel")
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    try:
        written = text(options.build)
    except SbomError as error:
        sys.exit(f"error: {error}")
    if options.output is None:
        print(written, end="")
    else:
        options.output.write_text(written, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
