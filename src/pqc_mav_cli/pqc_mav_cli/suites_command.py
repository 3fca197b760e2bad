"""`pqcmav suites`: the cipher suites, filtered."""

from __future__ import annotations

from enum import Enum
from typing import Annotated, Any

import typer

from pqc_mav_cli.console import console, print_json
from pqc_mav_cli.errors import CliError, ExitCode, engine_errors
from pqc_mav_cli.wording import counted


class View(str, Enum):
    """The views of the registry."""

    CORE = "core"
    EXTENDED = "extended"
    CAMPAIGN_2025 = "2025"


_FILTERS = ("kem", "sig", "aead")


def suites(
    view: Annotated[
        View, typer.Option(help="core: 72 suites; extended: 132; 2025: the 30 measured in that year.")
    ] = View.CORE,
    level: Annotated[int | None, typer.Option(help="NIST security level: 1, 3 or 5.")] = None,
    kem: Annotated[str | None, typer.Option(help="Part of a KEM's name or token, e.g. ml-kem, hqc, mceliece.")] = None,
    sig: Annotated[str | None, typer.Option(help="Part of a signature's name or token, e.g. falcon.")] = None,
    aead: Annotated[str | None, typer.Option(help="Part of an AEAD's name or token, e.g. aes, chacha, ascon.")] = None,
    available: Annotated[
        bool, typer.Option("--available", help="List only suites that this machine's liboqs can run.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")] = False,
) -> None:
    """List cipher suites: algorithms, sizes in bytes, and whether this machine can run them."""
    import pqc_mav_tunnel

    if level not in (None, 1, 3, 5):
        raise CliError(f"--level {level}: NIST levels here are 1, 3 and 5.", ExitCode.USAGE)
    with engine_errors():
        found = [suite.as_dict() for suite in pqc_mav_tunnel.suites(view=view.value, only_available=available)]
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
        _print_table(chosen)


def matches(suite: dict[str, Any], name: str, text: str) -> bool:
    """Whether `text` is part of the display name, family or token, ignoring case, spaces and dashes."""
    sought = _plain(text)
    return any(sought in _plain(suite.get(f"{name}{suffix}", "")) for suffix in ("", "_family", "_token"))


def _plain(text: str) -> str:
    return "".join(letter for letter in text.lower() if letter.isalnum())


def _print_table(chosen: list[dict[str, Any]]) -> None:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("suite", no_wrap=True)
    table.add_column("id", no_wrap=True)
    table.add_column("level", justify="right")
    for title in ("KEM", "signature", "AEAD"):
        table.add_column(title)
    for title in ("public key", "ciphertext", "signature"):
        table.add_column(f"{title} [dim]B[/dim]", justify="right")
    table.add_column("here")
    for suite in chosen:
        here = "[green]yes[/green]" if suite["available"] else f"[yellow]no[/yellow]: {suite['reason']}"
        sizes = (f"{suite[key]:,}" for key in ("public_key_bytes", "ciphertext_bytes", "signature_bytes"))
        names = (suite["kem"], suite["sig"], suite["aead"])
        table.add_row(suite["short_code"], suite["id"], str(suite["level"]), *names, *sizes, here)
    available = sum(1 for suite in chosen if suite["available"])
    out = console()
    out.print(table)
    out.print(f"\n{counted(len(chosen), 'suite')}, {available} available here")
