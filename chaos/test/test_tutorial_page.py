# SPDX-License-Identifier: Apache-2.0
"""Tutorials are read as written: marks, files, what is shown; a block without a mark is an error."""

from __future__ import annotations

import pytest
from tutorial_page import FILE, LOG, LOOK, NOT_RUN, RUN, SAYS, STAGE, START, Step, TutorialError, missing, steps

PAGE = """# Title

<!-- stage: link rtt_ms=60 -->
Text with `code`.

<!-- drone: run, exit 2 -->
```
one
two
```
<!-- says -->
```
hello
```
<!-- drone: file /etc/a.yaml -->
```yaml
role: drone
```

<!-- ground: start tunnel -->
```
pqcmav-tunneld
```
<!-- ground: look -->
```
pqcmav status --once
```
<!-- ground: log of tunnel -->
```
UP
```
<!-- drone: run, LINE from ground invite -->
```
pqcmav join LINE
```
<!-- not run: needs a board -->
```
sudo reboot
```
"""


def test_every_kind_is_read() -> None:
    assert steps(PAGE) == [
        Step(STAGE, 3, "link rtt_ms=60"),
        Step(RUN, 7, "one\ntwo", "drone", code=2),
        Step(SAYS, 12, "hello"),
        Step(FILE, 16, "role: drone", "drone", "/etc/a.yaml"),
        Step(START, 21, "pqcmav-tunneld", "ground", "tunnel"),
        Step(LOOK, 25, "pqcmav status --once", "ground"),
        Step(LOG, 29, "UP", "ground", "tunnel"),
        Step(RUN, 33, "pqcmav join LINE", "drone", source="ground invite"),
        Step(NOT_RUN, 37, "sudo reboot", name="needs a board"),
    ]


@pytest.mark.parametrize(
    ("page", "words"),
    [
        ("```\nls\n```\n", "no mark"),
        ("<!-- drone: run -->\nText between.\n```\nls\n```\n", "no mark"),
        ("<!-- drone: fly -->\n```\nls\n```\n", "'drone: fly' is no mark"),
        ("<!-- drone: start -->\n```\nls\n```\n", "is no mark"),
        ("<!-- drone: run it -->\n```\nls\n```\n", "is no mark"),
        ("<!-- says -->\n```\nls\n```\n", "no command"),
        ("<!-- drone: run -->\n```\nls\n", "no end"),
    ],
)
def test_a_page_that_cannot_be_run_is_refused(page: str, words: str) -> None:
    with pytest.raises(TutorialError, match=words):
        steps(page, "page.md")


@pytest.mark.parametrize(
    ("shown", "printed"),
    [
        ("gcs  drone1  UP", "gcs drone1        UP"),
        ("made in 9.2 ms, epoch 0.", "made in 12 ms, epoch 0."),
        ("3/s 1.9 kb/s  0.0%", "320/s 2.1 Mb/s 12.5%"),
        ("from … on port 5", "from 10.0.0.1 and on port 5"),
    ],
)
def test_lines_that_are_the_same(shown: str, printed: str) -> None:
    assert not missing(shown, ["before", printed])


@pytest.mark.parametrize(
    ("shown", "printed"),
    [
        ("epoch 1", "epoch 2"),
        ("UP", "not UP"),
        ("made in 9.2 ms", "made in nothing"),
        ("port 46011", "port 46012"),
        ("a.b", "axb"),
    ],
)
def test_lines_that_differ(shown: str, printed: str) -> None:
    assert missing(shown, [printed]) == shown


def test_lines_come_in_their_order() -> None:
    assert not missing("one\n\ntwo\n", ["one", "more", "two"])
    assert missing("two\none\n", ["one", "two"]) == "one"
