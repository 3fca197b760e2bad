# SPDX-License-Identifier: Apache-2.0
import io

import pytest
from rich.console import Console
from rich.table import Table

from pqc_mav_cli import suites_command
from pqc_mav_cli.console import console, fitted

SUITE = {
    "short_code": "MC-8192-CP-SP-256s",
    "id": "cs-classicmceliece8192128-chacha20poly1305-sphincs256s",
    "level": 5,
    "kem": "Classic-McEliece-8192128",
    "sig": "SPHINCS+-SHA2-256s",
    "aead": "ChaCha20-Poly1305",
    "public_key_bytes": 1_357_824,
    "ciphertext_bytes": 208,
    "signature_bytes": 29_792,
    "available": True,
    "kem_by": "liboqs 0.13.0",
    "sig_by": "liboqs 0.13.0",
    "reason": "",
}
LONGER_CODE = {**SUITE, "short_code": "FR-1344A-CP-SP-256s", "kem": "FrodoKEM-1344-AES", "sig_by": "OpenSSL 3.5.9"}
BY_OPENSSL = {**SUITE, "kem_by": "OpenSSL 3.5.9", "sig_by": "OpenSSL 3.5.9"}
TABLES = {
    "suites": (
        lambda left_out: suites_command.table([SUITE, LONGER_CODE, BY_OPENSSL], left_out),
        suites_command.EXPENDABLE,
    ),
}


def shown(name: str, width: int) -> list[str]:
    out = Console(file=io.StringIO(), width=width)
    out.print(fitted(out, *TABLES[name]))
    return out.file.getvalue().splitlines()


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("width", [80, 100, 132, 240])
def test_a_row_stays_on_one_line_and_says_which_columns_are_missing(name: str, width: int) -> None:
    head, *rows = shown(name, width)
    rest = rows[3:]
    assert "\N{HORIZONTAL ELLIPSIS}" not in head + "".join(rows) and len(rest) <= 1
    missing = rest[0] if rest else ""
    assert all((title in head) != (title in missing) for title in TABLES[name][1])
    assert bool(missing) == (width <= 132)


def test_a_pipe_gets_whole_lines_that_end_where_their_words_end(capsys: pytest.CaptureFixture[str]) -> None:
    out = console()
    out.print(fitted(out, *TABLES["suites"]))
    lines = capsys.readouterr().out.splitlines()
    assert any("cs-classicmceliece8192128-chacha20poly1305-sphincs256s" in line for line in lines)
    assert all(line == line.rstrip() for line in lines) and any(len(line) > 100 for line in lines)


def test_brackets_are_no_markup(capsys: pytest.CaptureFixture[str]) -> None:
    made = Table("work [ms]")
    made.add_row("[rpi5-report]")
    console().print(made, "[bold]")
    out = capsys.readouterr().out
    assert "work [ms]" in out and "[rpi5-report]" in out and "[bold]" in out
