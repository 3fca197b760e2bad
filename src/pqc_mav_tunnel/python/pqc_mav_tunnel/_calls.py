# SPDX-License-Identifier: Apache-2.0
"""What the engine answers outside a tunnel: suites, algorithms, versions, configuration keys, long-term keys.

Each function is one call of `calls.hpp`, answered by the engine's module in this process or, without it, by the program
`pqcmav-tunneld`. Every refusal is a TunnelError with a `code`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cache, lru_cache
from typing import Any

try:
    from ._engine import TunnelError, call, forbid_core_dumps

    BY_PROGRAM = False
except ModuleNotFoundError as _error:
    if _error.name != f"{__package__}._engine":
        raise
    from ._program import TunnelError, call, forbid_core_dumps  # type: ignore[assignment]

    BY_PROGRAM = True

__all__ = [
    "SuiteInfo",
    "TunnelError",
    "closest_suites",
    "config_schema",
    "engine_version",
    "export_drone",
    "find_suite",
    "forbid_core_dumps",
    "host_info",
    "init_keys",
    "liboqs_version",
    "list_keys",
    "openssl_version",
    "per_drone_schema",
    "per_path_schema",
    "picture_schema",
    "preflight",
    "providers",
    "short_code",
    "suites",
]


@dataclass(frozen=True, repr=False)
class SuiteInfo:
    """One cipher suite of the registry; immutable. Sizes are bytes, `level` is NIST's (1, 3 or 5)."""

    id: str
    short_code: str
    level: int
    core: bool
    published: bool  # one of the 132 of 2025
    campaign_2025: bool
    standard: bool  # a published standard specifies all three of its algorithms
    kem: str
    kem_family: str
    kem_token: str
    sig: str
    sig_family: str
    sig_token: str
    aead: str
    aead_token: str
    public_key_bytes: int
    ciphertext_bytes: int
    signature_bytes: int
    available: bool
    reason: str
    kem_name: str  # as the wire has it
    sig_name: str
    kem_by: str  # the library that computes it here, empty for none
    sig_by: str

    def as_dict(self) -> dict[str, Any]:
        """Return all attributes by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def __repr__(self) -> str:
        """Return its id."""
        return f"<SuiteInfo {self.id}>"


def _ask(function: str, **arguments: Any) -> Any:
    return json.loads(call(function, json.dumps(arguments)))


@cache
def _suites(view: str, only_available: bool) -> tuple[SuiteInfo, ...]:
    return tuple(SuiteInfo(**each) for each in _ask("suites", view=view, only_available=only_available))


def suites(view: str = "core", only_available: bool = False) -> list[SuiteInfo]:
    """Return the suites of a view (core, extended, 2025)."""
    return list(_suites(view, only_available))


@lru_cache(maxsize=256)
def find_suite(name: str) -> SuiteInfo:
    """Return the suite of this id or short code; the refusal names the closest ones."""
    return SuiteInfo(**_ask("find_suite", name=name))


@cache
def short_code(suite: str) -> str:
    """Return how sentences for people call a suite given by its id; what this version does not know stays as it is."""
    try:
        return find_suite(suite).short_code if suite else ""
    except TunnelError:
        return suite


def closest_suites(text: str, count: int = 3) -> list[str]:
    """Return up to `count` suite ids by edit distance."""
    found: list[str] = _ask("closest_suites", text=text, count=count)
    return found


def preflight() -> list[dict[str, Any]]:
    """Return every algorithm with kind, token, display, standard, name, by, available and reason."""
    found: list[dict[str, Any]] = _ask("preflight")
    return found


def engine_version() -> str:
    """Return the version of the engine."""
    return str(_ask("engine_version"))


def providers() -> str:
    """Return the libraries that compute KEMs and signatures, with their versions."""
    return str(_ask("providers"))


def liboqs_version() -> str:
    """Return the version of liboqs."""
    return str(_ask("liboqs_version"))


def openssl_version() -> str:
    """Return the version of OpenSSL."""
    return str(_ask("openssl_version"))


def host_info() -> dict[str, str | int]:
    """Return facts about this machine, under the names of GetInfo.srv; nothing secret is among them."""
    found: dict[str, str | int] = _ask("host_info")
    return found


def config_schema(role: str) -> list[dict[str, Any]]:
    """Return the configuration keys of a role.

    Each has key, type (bool, int, float, string, string_list), default, min, max, unit, description, choices, required,
    read_only (an engine that runs does not take a new value) and fixed (set at the start alone).
    """
    found: list[dict[str, Any]] = _ask("config_schema", role=role)
    return found


def per_drone_schema() -> list[dict[str, Any]]:
    """Return the keys under `drone.<id>.` of a gcs."""
    found: list[dict[str, Any]] = _ask("per_drone_schema")
    return found


def per_path_schema() -> list[dict[str, Any]]:
    """Return the keys under `path.<name>.` of a drone."""
    found: list[dict[str, Any]] = _ask("per_path_schema")
    return found


@cache
def picture_schema() -> dict[str, Any]:
    """Return every figure of an engine: for status, stats, link, server, handshake and suite `message` and `fields`.

    Each field has name, type, unit, min, max, text, message (whether the message has it) and, if it is a counter,
    warning: what its growth means, or "".
    """
    found: dict[str, Any] = _ask("picture_schema")
    return found


def init_keys(
    root: str,
    drone_ids: Sequence[str],
    sig_tokens: Sequence[str] = (),
    drone_signatures: bool = False,
    gcs_id: str = "gcs",
    stations: Sequence[str] = (),
) -> None:
    """Make the long-term keys of a gcs and its drones below `root`; existing ones are kept."""
    _ask(
        "init_keys",
        root=root,
        drone_ids=list(drone_ids),
        sig_tokens=list(sig_tokens),
        drone_signatures=drone_signatures,
        gcs_id=gcs_id,
        stations=list(stations),
    )


def export_drone(root: str, drone_id: str, target: str) -> None:
    """Copy one drone's folder to `target`, which must not exist."""
    _ask("export_drone", root=root, drone_id=drone_id, target=target)


def list_keys(folder: str) -> list[dict[str, str]]:
    """Return kind, algorithm, owner, fingerprint, path and problem of each key file."""
    found: list[dict[str, str]] = _ask("list_keys", folder=folder)
    return found
