# SPDX-License-Identifier: Apache-2.0
"""tools/deb_repository.sh: what lies beside the packages. What apt says of it is for repository_test.py."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from bare_machine import OTHER, OWNER, Fake, public_keys

pytestmark = pytest.mark.skipif(
    any(shutil.which(name) is None for name in ("gpg", "gpgv", "dpkg-deb")), reason="needs gpg and gpgv"
)


@pytest.mark.usefixtures("keys")
@pytest.mark.parametrize("key", [OWNER, OTHER])
def test_the_key_that_signed_is_published_and_no_other(workspace: Path, tmp_path: Path, fake: Fake, key: str) -> None:
    (workspace / "build-deb").mkdir()
    (workspace / "build-deb/pqcmav_1_all.deb").touch()
    fake("dpkg-deb", "echo all")
    fake("apt-ftparchive", "echo Suite: any")
    subprocess.run(
        ["bash", "tools/deb_repository.sh", "build-deb/repository", key],
        cwd=workspace, env={**os.environ, "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}"}, check=True,
    )  # fmt: skip
    assert public_keys(workspace / "build-deb/repository/pqcmav-archive-keyring.gpg") == [key]
