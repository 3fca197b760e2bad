# SPDX-License-Identifier: Apache-2.0
import hashlib
from base64 import b32encode

import pytest

from pqc_mav_cli.joining import line
from pqc_mav_cli.joining.line import Line, LineError

LINE = Line("gcs.example.org", 46021, bytes(range(32)), bytes(range(100, 148)), 1_800_000_000)


@pytest.mark.parametrize("host", ["10.0.0.1", "gcs.example.org", "2001:db8::17", "fe80::1%eth0"])
def test_a_line_says_what_it_was_made_of(host: str) -> None:
    made = Line(host, 1, LINE.secret, LINE.public, 0)
    assert line.read(made.text()) == made
    assert made.text().isalnum() and made.text().isupper()


def test_case_and_white_space_do_not_matter() -> None:
    text = LINE.text().lower()
    assert line.read(f"  {text[:40]}\n{text[40:90]} \t{text[90:]}\r\n") == LINE


def test_every_changed_letter_is_noticed() -> None:
    text = LINE.text()
    for at in range(len(line.START), len(text)):
        for letter in "A7" if text[at] not in "A7" else "BQ":
            with pytest.raises(LineError, match=r"typing error|not whole"):
                line.read(text[:at] + letter + text[at + 1 :])


def test_every_missing_part_is_noticed() -> None:
    text = LINE.text()
    for length in range(len(text)):
        with pytest.raises(LineError):
            line.read(text[:length])
    with pytest.raises(LineError, match=r"typing error|not whole"):
        line.read(text + text[-8:])


@pytest.mark.parametrize("text", ["", "hello", "pqcmav join", "PQJOI"])
def test_something_else_is_no_invitation(text: str) -> None:
    with pytest.raises(LineError, match="no invitation: it begins with PQJOIN"):
        line.read(text)


def test_letters_that_cannot_be_in_it_are_refused() -> None:
    with pytest.raises(LineError, match="letter that cannot be in it"):
        line.read(LINE.text() + "0189!")
    with pytest.raises(LineError, match=r"5,006|more than an invitation"):
        line.read(line.START + "A" * 5000)


def whole(body: bytes) -> str:
    return line.START + b32encode(body + hashlib.sha256(body).digest()[:4]).decode().rstrip("=")


def test_another_version_and_bad_fields_are_refused_though_the_sum_is_right() -> None:
    body = b"\1" + LINE.secret + LINE.public + bytes(4) + b"\0\1" + b"host"
    assert line.read(whole(body)).host == "host"
    with pytest.raises(LineError, match="version 2"):
        line.read(whole(b"\2" + body[1:]))
    for bad in (body[:-6] + b"\0\0host", body[:-4] + b"a b", body[:-4] + b"\xff", body[:-4] + b"x" * 254, body[:-4]):
        with pytest.raises(LineError, match=r"address|part of it"):
            line.read(whole(bad))


@pytest.mark.parametrize("host", ["", "two words", "höst", "x" * 254, "a;b"])
def test_a_host_that_cannot_be_in_a_line_is_refused(host: str) -> None:
    with pytest.raises(LineError, match="no host name or address"):
        Line(host, 1, LINE.secret, LINE.public, 0).text()


def test_nothing_prints_the_secret() -> None:
    assert LINE.secret.hex() not in repr(LINE) and repr(LINE.secret) not in repr(LINE)
