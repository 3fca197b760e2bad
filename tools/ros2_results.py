# SPDX-License-Identifier: Apache-2.0
"""What `colcon test` left behind: the tests of each package, and what became of them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

PASSED, FAILED, SKIPPED = "passed", "failed", "skipped"


@dataclass(frozen=True)
class Case:
    """One test; `why` is what a skipped or failed one says."""

    package: str
    name: str
    outcome: str
    why: str = ""


def _first_line(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if line.strip()), "")


def _reason(skipped: ElementTree.Element) -> str:
    """Of a test the message is the reason alone; of a whole file the text has it behind file and line."""
    if skipped.get("message") == "collection skipped":
        found = re.search(r"""(['"])Skipped: (.*)\1\)$""", skipped.text or "")
        return found[2] if found else skipped.text or ""
    return _first_line(skipped.get("message") or skipped.text or "")


def junit(report: Path, package: str) -> Iterator[Case]:
    """The tests in a file that pytest or ament's test runner wrote."""
    for case in ElementTree.parse(report).getroot().iter("testcase"):  # noqa: S314 - our own runner wrote it
        name = ".".join(part for part in (case.get("classname"), case.get("name")) if part)
        bad = [each for kind in ("failure", "error") for each in case.findall(kind)]
        skipped = case.find("skipped")
        if bad:
            yield Case(package, name, FAILED, _first_line(bad[0].get("message") or bad[0].text or ""))
        elif skipped is not None:
            yield Case(package, name or "all", SKIPPED, _reason(skipped))
        else:
            yield Case(package, name, PASSED)


def ctest(report: Path, package: str, told: set[str]) -> Iterator[Case]:
    """The tests in CTest's file, without those of which a file of their own tells more."""
    for case in ElementTree.parse(report).getroot().iter("Test"):  # noqa: S314 - our own runner wrote it
        name = case.findtext("Name") or ""
        if "Status" not in case.attrib or name in told:
            continue
        outcome = {"passed": PASSED, "notrun": SKIPPED}.get(case.attrib["Status"], FAILED)
        yield Case(package, name, outcome, "" if outcome == PASSED else "CTest says no more")


def reports(build: Path) -> list[Path]:
    """The files in a package's build folder that tell of its tests."""
    newest = sorted(build.glob("Testing/*/Test.xml"))[-1:]
    return [*sorted(build.glob("pytest.xml")), *sorted(build.glob("test_results/*/*.xml")), *newest]


def cases(build: Path) -> list[Case]:
    """All tests that the files in a package's build folder tell of."""
    found: list[Case] = []
    files = reports(build)
    told = {file.name.partition(".")[0] for file in files if file.name != "Test.xml"}
    for file in files:
        found += ctest(file, build.name, told) if file.name == "Test.xml" else junit(file, build.name)
    return found


def forget(build: Path) -> None:
    """Remove what an earlier run left: it must not be taken for that of the next."""
    for file in reports(build):
        file.unlink()
