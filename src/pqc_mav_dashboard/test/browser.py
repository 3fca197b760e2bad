# SPDX-License-Identifier: Apache-2.0
"""The page in a real browser (see webdriver.py), as a person looks at it, and axe-core out of its npm package."""

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
from webdriver import PACKAGES, Browser, missing, opened

from pqc_mav_common.testing import until

# Everything is tried in one browser, the first that is installed; in the others what differs between browsers is, or
# everything as well with PQCMAV_BROWSERS=all.
NAMES = list(PACKAGES)
FIRST = next((name for name in NAMES if not missing(name)), NAMES[0])
WHOLE = NAMES if os.environ.get("PQCMAV_BROWSERS") == "all" else [FIRST]
AXE = "axe-core-4.14.1"
AXE_SHA512 = (
    "1477dafa598d8d065f273d6af302aa203c02e83131707b7fa648cd41bd3d6b73"
    "4f8c22a0dab86ee6a6f64b8afbe804b214d36db85a2826965edfb3a0b9d546b5"
)
SHOTS = os.environ.get("PQCMAV_SHOTS", "")  # a folder for pictures, to look at
LOOK_S = 0.05  # between two looks at a page: each takes time from the page itself
TALLEST = 3800  # px of a picture: the screen of WebKitGTK ends there
# What the functions below look for. `said`: the innermost elements in sight that contain a text.
FINDERS = """
const shown = (e) => e.checkVisibility() && e.getClientRects().length > 0;
const text = (e) => (e.innerText ?? e.textContent).replace(/\\s+/g, " ").trim();
const named = (e) => e.getAttribute("aria-label") || (e.labels && e.labels[0] ? text(e.labels[0]) : text(e));
const all = (where) => [...document.querySelectorAll(where)].filter(shown);
const said = (what, where) => all(where + ", " + where + " *").filter((e) => text(e).includes(what)
  && ![...e.children].some((child) => shown(child) && text(child).includes(what)));
"""


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
def page_in(name: str = FIRST) -> Iterator[Page]:
    """A browser for some pages. Skips the test where it is not installed."""
    with opened(name) as browser:
        yield Page(browser)


class Page:
    """What is in a browser's window."""

    def __init__(self, browser: Browser) -> None:
        self.browser = browser
        self.width = 0

    def open(self, url: str, width: int = 1280, scheme: str = "light") -> Page:
        """A page anew, as wide and as light as asked."""
        self.width = width
        self.browser.go(url)
        self.browser.size(width, 844 if width < 500 else 900)
        for _ in range(3):
            if self.run("return document.documentElement.dataset.theme") != scheme:
                self.click("button", "Theme", whole=False)
        return self

    def run(self, script: str, *arguments: Any) -> Any:
        """The value of a function's body, which has FINDERS at hand."""
        return self.browser.run(FINDERS + script, *arguments)

    def until(self, script: str, *arguments: Any, what: str = "") -> Any:
        """Waits until an expression is true, and gives its value."""
        found = lambda: self.run(f"return {script}", *arguments)  # noqa: E731
        return until(found, what or f"{script} {arguments}", step_s=LOOK_S)

    def says(self, what: str, where: str = "body") -> None:
        """Waits until a text is in sight."""
        found = "said(arguments[0], arguments[1]).length"
        try:
            self.until(found, what, where)
        except AssertionError:
            raise AssertionError(f"{what!r} is not on the page:\n{self.run('return text(document.body)')}") from None

    def find(self, where: str, name: str, *, whole: bool = True) -> Any:
        """Waits for the element that a person calls so, by its label or its text."""
        same = "named(e) === arguments[1]" if whole else "named(e).startsWith(arguments[1])"
        return self.until(f"all(arguments[0]).find((e) => {same})", where, name)

    def click(self, where: str, name: str, *, whole: bool = True) -> None:
        """With the pointer."""
        self.browser.click(self.find(where, name, whole=whole))

    def enter(self, where: str, name: str, value: str, *, whole: bool = True) -> None:
        """A value into a field, at once; keys are `browser.press`."""
        self.run(
            "const [field, value] = arguments; field.value = value;"
            "for (const what of ['input', 'change']) field.dispatchEvent(new Event(what, { bubbles: true }));",
            self.find(where, name, whole=whole),
            value,
        )

    def texts(self, where: str) -> list[str]:
        """Of all elements in sight, in their order."""
        return list(self.run("return all(arguments[0]).map(text)", where))

    def is_good(self, name: str, axe_text: str = "") -> None:
        """No fault, nothing fetched from elsewhere, nothing wider than the window, nothing that axe-core minds."""
        self.shot(name)
        assert self.run("return document.getElementById('fault').textContent") == ""
        foreign = (
            "return performance.getEntriesByType('resource').map((e) => e.name)"
            ".filter((name) => !name.startsWith(location.origin + '/'))"
        )
        assert self.run(foreign) == []
        wide = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
        assert self.run(wide) <= 0
        if axe_text:
            assert self.violations(axe_text) == []

    def violations(self, axe_text: str) -> list[str]:
        """What axe-core finds, one line each."""
        self.browser.run(f"{axe_text}; window.axe = axe;")
        found = self.browser.run_async("return await axe.run(document, {resultTypes: ['violations']})")
        return [
            f"{each['id']} ({each['impact']}): {each['help']}: {[node['html'][:120] for node in each['nodes'][:3]]}"
            for each in found["violations"]
        ]

    def shot(self, name: str) -> None:
        """A picture of the whole page, where somebody wants to look."""
        if not SHOTS:
            return
        height = self.run("return document.documentElement.scrollHeight")
        self.browser.size(self.width, min(TALLEST, height))
        (Path(SHOTS) / f"{name}.png").write_bytes(self.browser.picture())
        self.browser.size(self.width, 844 if self.width < 500 else 900)
