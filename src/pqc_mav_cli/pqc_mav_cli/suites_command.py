# SPDX-License-Identifier: Apache-2.0
"""`pqcmav suites`: the cipher suites, filtered."""

from __future__ import annotations

from collections.abc import Callable, Collection
from enum import Enum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pqc_mav_cli.console import console, fitted, print_json
from pqc_mav_cli.errors import CliError, ExitCode, engine_errors
from pqc_mav_cli.wording import counted

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text


class View(str, Enum):
    """The views of the registry."""

    CORE = "core"
    EXTENDED = "extended"
    CAMPAIGN_2025 = "2025"
    ALL = "all"


def suites(
    view: Annotated[
        View,
        typer.Option(help="core: 72 suites; extended: 132; 2025: the 30 measured in that year; all: later ones, too."),
    ] = View.ALL,
    standard: Annotated[
        bool, typer.Option("--standard", help="List the suites whose parts are all published standards, of any view.")
    ] = False,
    level: Annotated[int | None, typer.Option(help="NIST security level: 1, 3 or 5.")] = None,
    kem: Annotated[str | None, typer.Option(help="Part of a KEM's name or token, e.g. ml-kem, hqc, mceliece.")] = None,
    sig: Annotated[str | None, typer.Option(help="Part of a signature's name or token, e.g. falcon.")] = None,
    aead: Annotated[str | None, typer.Option(help="Part of an AEAD's name or token, e.g. aes, chacha, ascon.")] = None,
    available: Annotated[bool, typer.Option("--available", help="List only suites that this machine can run.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")] = False,
) -> None:
    """List cipher suites: algorithms, sizes in bytes, and whether this machine can run them."""
    import pqc_mav_tunnel

    if level not in (None, 1, 3, 5):
        raise CliError(f"--level {level}: NIST levels here are 1, 3 and 5.", ExitCode.USAGE)
    shown = "standard" if standard else view.value
    with engine_errors():
        found = [suite.as_dict() for suite in pqc_mav_tunnel.suites(view=shown, only_available=available)]
    wanted = {"kem": kem, "sig": sig, "aead": aead}
    for name, text in wanted.items():
        if text and not any(matches(suite, name, text) for suite in found):
            known = ", ".join(dict.fromkeys(suite[name] for suite in found))
            raise CliError(f"--{name} {text} matches nothing in this view; it has {known}.", ExitCode.USAGE)
    chosen = [
        suite
        for suite in found
        if (level is None or suite["level"] == level)
        and all(matches(suite, name, text) for name, text in wanted.items() if text)
    ]
    if as_json:
        print_json(chosen)
    else:
        _print_table(chosen, pqc_mav_tunnel.providers())


def computed(suite: dict[str, Any]) -> Text:
    """The library that computes the KEM and the signature here; 'both': one computes the one, one the other."""
    from rich.text import Text

    if not suite["available"]:
        return Text("no", "yellow")
    by = suite["kem_by"].split()[0] if suite["kem_by"] == suite["sig_by"] else "both"
    return Text(by, "green")


def matches(suite: dict[str, Any], name: str, text: str) -> bool:
    """Whether `text` is part of the display name, family or token, ignoring case, spaces and dashes."""
    sought = _plain(text)
    return any(sought in _plain(suite.get(f"{name}{suffix}", "")) for suffix in ("", "_family", "_token"))


def _plain(text: str) -> str:
    return "".join(letter for letter in text.lower() if letter.isalnum())


# What a narrow terminal does without first: the short code says the same as the id and the AEAD.
EXPENDABLE = ("id", "public key", "ciphertext", "signature size", "AEAD", "level")


def table(chosen: list[dict[str, Any]], left_out: Collection[str] = ()) -> Table:
    """One row per suite; sizes are bytes."""
    from rich.table import Table

    columns: dict[str, Callable[[dict[str, Any]], str | Text]] = {
        "suite": lambda suite: str(suite["short_code"]),
        "id": lambda suite: str(suite["id"]),
        "level": lambda suite: str(suite["level"]),
        "KEM": lambda suite: str(suite["kem"]),
        "signature": lambda suite: str(suite["sig"]),
        "AEAD": lambda suite: str(suite["aead"]),
        "public key": lambda suite: f"{suite['public_key_bytes']:,} B",
        "ciphertext": lambda suite: f"{suite['ciphertext_bytes']:,} B",
        "signature size": lambda suite: f"{suite['signature_bytes']:,} B",
        "here": computed,
    }
    made = Table(box=None, pad_edge=False, header_style="bold")
    shown = {title: cell for title, cell in columns.items() if title not in left_out}
    for title in shown:
        right = title in ("level", "public key", "ciphertext", "signature size")
        made.add_column(title, justify="right" if right else "left", no_wrap=True)
    for suite in chosen:
        made.add_row(*(cell(suite) for cell in shown.values()))
    return made


def _print_table(chosen: list[dict[str, Any]], libraries: str) -> None:
    from rich.text import Text

    available = sum(1 for suite in chosen if suite["available"])
    out = console()
    out.print(fitted(out, lambda left_out: table(chosen, left_out), EXPENDABLE))
    for reason in dict.fromkeys(suite["reason"] for suite in chosen if not suite["available"]):
        out.print(Text.assemble(("no", "yellow"), f": {reason}"))
    out.print(f"\n{counted(len(chosen), 'suite')}, {available} available here ({libraries})")
