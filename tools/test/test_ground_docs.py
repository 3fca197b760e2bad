# SPDX-License-Identifier: Apache-2.0
"""The configurations on the pages about autopilots and ground software are good, as pqcmav-tunneld sees them."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

tunnel = pytest.importorskip("pqc_mav_tunnel", reason="the engine's Python module is not built")

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGES = ("applications", "serial-port")
BLOCK = re.compile(r"^```yaml\n(.*?)^```", re.MULTILINE | re.DOTALL)
TUNNELD = shutil.which("pqcmav-tunneld")


def blocks(page: str) -> list[str]:
    """The whole configurations of a page; a fragment has no role."""
    found = BLOCK.findall((DOCS / f"{page}.md").read_text(encoding="utf-8"))
    return [text for text in found if "role:" in text]


CASES = [(page, number, text) for page in PAGES for number, text in enumerate(blocks(page), 1)]


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("keys") / "root"
    tunnel.init_keys(str(root), ["drone1", "drone2"], sig_tokens=["mldsa65"])
    return root


@pytest.mark.skipif(TUNNELD is None, reason="pqcmav-tunneld is not on the path: run 'make setup' first")
@pytest.mark.parametrize(("page", "number", "text"), CASES, ids=[f"{page}-{number}" for page, number, _ in CASES])
def test_a_configuration_is_good(page: str, number: int, text: str, keys: Path, tmp_path: Path) -> None:
    values = yaml.safe_load(text)
    own = keys / "gcs" if values["role"] == "gcs" else keys / "drones" / values["drone_id"]
    file = tmp_path / "end.yaml"
    file.write_text(re.sub(r"^keys: .*$", f"keys: {own}", text, flags=re.MULTILINE), encoding="utf-8")
    checked = subprocess.run(
        [str(TUNNELD), "--check", str(file)], capture_output=True, text=True, timeout=60, check=False
    )
    assert (checked.returncode, checked.stderr) == (0, ""), f"docs/{page}.md, configuration {number}"


@pytest.mark.parametrize("page", PAGES)
def test_every_page_has_a_configuration_and_says_what_was_tried(page: str) -> None:
    text = (DOCS / f"{page}.md").read_text(encoding="utf-8")
    assert blocks(page)
    assert "**Not tried:**" in text, page
