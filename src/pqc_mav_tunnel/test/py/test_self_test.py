# SPDX-License-Identifier: Apache-2.0
"""An end whose library is faulty does not start."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from tunnel_support import LIGHT, drone_config

PROGRAM = shutil.which("pqcmav-tunneld")
COMPILER = shutil.which("cc")
# In front of liboqs: every signature is good, and a ciphertext gives nobody's secret.
FAULTS = {
    "OQS_SIG_verify": "int OQS_SIG_verify(void) { return 0; }",
    "OQS_KEM_decaps": "int OQS_KEM_decaps(void) { return -1; }",
}


@pytest.mark.parametrize(
    ("function", "display", "step"),
    [
        ("OQS_SIG_verify", "ML-DSA-44", "a signature of another message verifies"),
        ("OQS_KEM_decaps", "ML-KEM-512", "rejecting a ciphertext of another key"),
    ],
)
def test_a_faulty_library_keeps_an_end_from_starting(
    keys: Path, tmp_path: Path, function: str, display: str, step: str
) -> None:
    if PROGRAM is None or COMPILER is None:
        pytest.skip("pqcmav-tunneld and a C compiler are needed")
    linked = subprocess.run(["ldd", PROGRAM], capture_output=True, text=True, timeout=30).stdout
    if "liboqs" not in linked:
        pytest.skip("this build has no shared liboqs to put a fault into")
    source, shim, file = tmp_path / "fault.c", tmp_path / "fault.so", tmp_path / "drone.yaml"
    source.write_text(FAULTS[function])
    subprocess.run([COMPILER, "-shared", "-fPIC", "-o", str(shim), str(source)], check=True, timeout=60)
    file.write_text(json.dumps(drone_config(keys, {"data": 1}, suite=LIGHT, provider="liboqs", self_test=True)))
    done = subprocess.run(
        [PROGRAM, str(file)],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "LD_PRELOAD": str(shim)},
    )
    assert done.returncode == 1, done.stderr
    assert done.stderr.count("\n") == 1, done.stderr
    assert f"The self test failed at {display} by liboqs" in done.stderr and step in done.stderr, done.stderr
