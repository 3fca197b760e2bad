# SPDX-License-Identifier: Apache-2.0
"""A headless Chromium, where one is installed: it prints the page as PDF."""

import shutil
import subprocess
import tempfile
from pathlib import Path

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")


def find() -> str | None:
    """The browser's path, or None."""
    return next((path for name in _NAMES if (path := shutil.which(name))), None)


def run(arguments: list[str], timeout_s: float = 120.0) -> subprocess.CompletedProcess[str]:
    """Runs the browser headless with a profile of its own. Raises FileNotFoundError and subprocess.TimeoutExpired."""
    browser = find()
    if browser is None:
        raise FileNotFoundError("no Chromium is installed")
    with tempfile.TemporaryDirectory(prefix="pqcmav-browser-", ignore_cleanup_errors=True) as profile:
        # The sandbox needs privileges that containers and build machines lack; the page is our own.
        fixed = ["--headless", "--disable-gpu", "--no-sandbox", "--hide-scrollbars", f"--user-data-dir={profile}"]
        return subprocess.run(
            [browser, *fixed, *arguments], capture_output=True, text=True, timeout=timeout_s, check=False
        )


def print_pdf(html: str, target: Path) -> str:
    """Prints a page to `target`. Returns "" when it is there, else one sentence that says why not."""
    if find() is None:
        return "PDF skipped: no Chromium is installed (apt-get install chromium)."
    with tempfile.TemporaryDirectory(prefix="pqcmav-pdf-") as folder:
        page, printed = Path(folder) / "report.html", Path(folder) / "report.pdf"
        page.write_text(html, encoding="utf-8")
        try:
            # The outline, which viewers show as bookmarks, is made from the tags: they stay, half as large again.
            flags = ["--no-pdf-header-footer", "--generate-pdf-document-outline"]
            done = run([*flags, f"--print-to-pdf={printed}", page.as_uri()])
        except subprocess.TimeoutExpired:
            return "PDF skipped: Chromium did not finish printing within two minutes."
        if not printed.is_file() or not printed.stat().st_size:
            return f"PDF skipped: Chromium ended with code {done.returncode} and printed nothing."
        temporary = target.with_name(f".{target.name}.new")
        temporary.write_bytes(printed.read_bytes())
        temporary.replace(target)
    return ""
