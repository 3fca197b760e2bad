# SPDX-License-Identifier: Apache-2.0
"""The exit code for each of the engine's errors."""

from __future__ import annotations

from pqc_mav_common.errors import ExitCode

_CONFIG_CODES = frozenset({"suite_unknown", "suite_unavailable"})
_CONFIG_PREFIXES = ("config_", "key_")


def exit_code_for(code: str) -> ExitCode:
    """Exit code for the `code` of a TunnelError, e.g. `key_missing` -> CONFIG, `port_in_use` -> START."""
    if code.startswith(_CONFIG_PREFIXES) or code in _CONFIG_CODES:
        return ExitCode.CONFIG
    return ExitCode.START
