"""What a proxy process can fail with, and the exit code each failure ends in."""

from __future__ import annotations

from enum import IntEnum

_CONFIG_CODES = frozenset({"suite_unknown", "suite_unavailable"})
_CONFIG_PREFIXES = ("config_", "key_")


class ExitCode(IntEnum):
    """Exit codes of `pqc_proxy`; a supervisor decides by them whether another start can help."""

    OK = 0
    FAILED = 1  # unexpected
    CONFIG = 2  # configuration, keys or suite: the same start fails again until somebody changes a file
    START = 3  # port in use, name not resolved, permission, ...: may pass


class ProxyError(Exception):
    """A refusal with one sentence for a person and the exit code it ends in."""

    def __init__(self, sentence: str, exit_code: ExitCode = ExitCode.CONFIG) -> None:
        super().__init__(sentence)
        self.exit_code = exit_code


def exit_code_for(code: str) -> ExitCode:
    """Exit code for the `code` of a TunnelError, e.g. `key_missing` -> CONFIG, `port_in_use` -> START."""
    if code.startswith(_CONFIG_PREFIXES) or code in _CONFIG_CODES:
        return ExitCode.CONFIG
    return ExitCode.START


def one_line(text: object) -> str:
    """`text` on one line: whatever is shown to a person as an error has no line breaks in it."""
    return " ".join(str(text).split())
