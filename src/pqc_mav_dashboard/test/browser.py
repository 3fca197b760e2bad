# SPDX-License-Identifier: Apache-2.0
"""Debian's Chromium, driven by Playwright, and axe-core out of its npm package."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = shutil.which("chromium") or ""
needs_chromium = pytest.mark.skipif(
    not CHROMIUM, reason="Chromium is not installed; 'apt-get install chromium' lets the page be tested"
)
AXE = "axe-core-4.14.1"
AXE_SHA512 = (
    "1477dafa598d8d065f273d6af302aa203c02e83131707b7fa648cd41bd3d6b73"
    "4f8c22a0dab86ee6a6f64b8afbe804b214d36db85a2826965edfb3a0b9d546b5"
)
SHOTS = os.environ.get("PQCMAV_SHOTS", "")  # a folder for pictures, to look at


@lru_cache(maxsize=1)
def axe() -> str:
    """The text of axe.min.js. Skips the test where the npm registry cannot be reached."""
    kept = Path(__file__).resolve().parents[3] / ".deps" / AXE / "axe.min.js"
    if not kept.is_file():
        if not shutil.which("npm"):
            pytest.skip("npm is not installed, which brings axe-core")
        with tempfile.TemporaryDirectory() as folder:
            command = ["npm", "pack", "--silent", AXE.replace("core-", "core@")]
            ended = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
            package = Path(folder) / f"{AXE}.tgz"
            if not package.is_file():
                pytest.skip(f"axe-core could not be had: {' '.join(ended.stderr.split())[:200]}")
            assert hashlib.sha512(package.read_bytes()).hexdigest() == AXE_SHA512, "another file than the pinned one"
            with tarfile.open(package) as files:
                member = files.extractfile("package/axe.min.js")
                assert member is not None
                kept.parent.mkdir(parents=True, exist_ok=True)
                kept.write_bytes(member.read())
    return kept.read_text(encoding="utf-8")


@contextmanager
def chromium() -> Iterator[Any]:
    """A browser without a window."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        # Root has no sandbox; what is shown is our own page.
        options = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=options)
        try:
            yield browser
        finally:
            browser.close()


class Page:
    """A page in a context of its own, and everything it complained about or asked of others."""

    def __init__(self, browser: Any, url: str, width: int = 1280, scheme: str = "light", *, axe_text: str = "") -> None:
        self.context = browser.new_context(
            viewport={"width": width, "height": 844 if width < 500 else 900}, color_scheme=scheme
        )
        if axe_text:
            self.context.add_init_script(axe_text)
        self.page = self.context.new_page()
        self.page.set_default_timeout(30_000)
        self.complaints: list[str] = []
        self.foreign: list[str] = []
        self.page.on("console", lambda said: self.complaints.append(said.text) if said.type != "log" else None)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        host = url.partition("://")[2].partition("/")[0]
        self.page.on("request", lambda r: None if f"//{host}/" in r.url else self.foreign.append(r.url))
        self.page.goto(url)

    def violations(self) -> list[str]:
        """What axe-core finds, one line each."""
        found = self.page.evaluate("axe.run(document, {resultTypes: ['violations']})")
        return [
            f"{each['id']} ({each['impact']}): {each['help']}: {[node['html'][:120] for node in each['nodes'][:3]]}"
            for each in found["violations"]
        ]

    def too_wide(self) -> int:
        """Pixels by which the page is wider than the window."""
        wide = self.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        return int(wide)

    def shot(self, name: str) -> None:
        """A picture, where somebody wants to look."""
        if SHOTS:
            self.page.screenshot(path=f"{SHOTS}/{name}.png", full_page=True)

    def close(self) -> None:
        """Closes it."""
        self.context.close()
