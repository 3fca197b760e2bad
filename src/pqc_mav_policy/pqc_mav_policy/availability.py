# SPDX-License-Identifier: Apache-2.0
"""Which suites may be chosen here: those whose algorithms the engine has and whose signature the drone can check.

The proxy is asked without waiting until it answers, and again now and then: keys can be added while everything runs.
"""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import pqc_mav_tunnel
from pqc_mav_interfaces.srv import GetInfo, ListSuites

from pqc_mav_common.key_values import flat
from pqc_mav_policy.controller import AUTO

ASK_S = 2.0
ASK_AGAIN_S = 60.0
SIGNATURE_KEY = "sig-public"


def usable_suites(
    suites: Iterable[Mapping[str, Any]], signatures: frozenset[str] | None, wanted: Sequence[str] = ()
) -> dict[str, str]:
    """Suite id -> "" or why it may not be chosen, one sentence.

    `suites` as the registry lists them, `signatures` the tokens whose public key is there (None = not known), `wanted`
    the operator's choice (empty = all).
    """
    found: dict[str, str] = {}
    for suite in suites:
        why = ""
        if not suite["available"]:
            why = suite["reason"] or "its algorithms are not available."
        elif signatures is not None and suite["sig_token"] not in signatures:
            why = f"the ground station's public key for {suite['sig_token']} is not on this drone."
        elif wanted and suite["id"] not in wanted:
            why = "it is not among the suites of the parameter 'suites'."
        found[suite["id"]] = why
    return found


def configured_suite(config: Mapping[str, Any]) -> str:
    """The id of the suite a proxy's configuration names, "" where it names none."""
    try:
        return str(pqc_mav_tunnel.find_suite(config.get("suite", "")).id)
    except pqc_mav_tunnel.TunnelError:
        return ""


def signature_tokens(keys_folder: str) -> frozenset[str] | None:
    """Signatures for which the drone's folder holds the ground station's public key, without those that have a problem.

    None when the folder cannot be read: the proxy may run as another user, and a suite without its key then shows by
    its failing handshake.
    """
    try:
        entries = pqc_mav_tunnel.list_keys(keys_folder)
    except (pqc_mav_tunnel.TunnelError, OSError):
        return None
    return frozenset(entry["algorithm"] for entry in entries if entry["kind"] == SIGNATURE_KEY and not entry["problem"])


class Availability:
    """Keeps the list up to date and hands it on, with the suite the proxy is configured with and its shape_kbit.

    `problem` is why there is no list yet, "" when there is.
    """

    def __init__(
        self, node: Any, proxy: str, wanted: Sequence[str], tell: Callable[[Sequence[str], str, int], None]
    ) -> None:
        self.problem = "the proxy has not listed its suites yet"
        self._wanted = tuple(wanted)
        self._tell = tell
        self._why: dict[str, str] = {}
        self._asked_s = float("-inf")
        self._list = node.create_client(ListSuites, f"{proxy}/list_suites")
        self._info = node.create_client(GetInfo, f"{proxy}/get_info")
        self._waiting: tuple[Any, Any] | None = None
        node.create_timer(ASK_S / 4, self._step)

    def usable(self, suite: str) -> bool:
        """Whether a suite may be chosen."""
        return self._why.get(suite) == ""

    def why_not(self, suite: str) -> str:
        """Why it may not, one sentence."""
        return self._why.get(suite) or f"{self.problem or 'it is not a core suite'}."

    def _step(self) -> None:
        now = time.monotonic()
        if self._waiting is not None and all(future.done() for future in self._waiting):
            suites, info = (future.result() for future in self._waiting)
            self._waiting = None
            if suites is not None and suites.ok and info is not None:
                self._learn(suites.suites, info.config)
        if now - self._asked_s < (ASK_S if self.problem else ASK_AGAIN_S):
            return
        if not (self._list.service_is_ready() and self._info.service_is_ready()):
            return
        self._asked_s = now
        for client, future in zip((self._list, self._info), self._waiting or (), strict=False):
            client.remove_pending_request(future)
        self._waiting = (
            self._list.call_async(ListSuites.Request(view="core")),
            self._info.call_async(GetInfo.Request()),
        )

    def _learn(self, suites: Iterable[Any], told: Iterable[Any]) -> None:
        config = flat(told)
        folder = config.get("keys", "")
        tokens = signature_tokens(folder) if folder else None
        registry = {entry.id: entry.sig_token for entry in pqc_mav_tunnel.suites(view="all")}
        rows = [
            {
                "id": suite.id,
                "available": suite.available,
                "reason": suite.reason,
                "sig_token": registry.get(suite.id, ""),
            }
            for suite in suites
        ]
        self._why = usable_suites(rows, tokens, self._wanted)
        usable = [name for name, why in self._why.items() if not why]
        self.problem = "" if usable else "no suite is usable: algorithms or keys are missing"
        self._tell(usable, configured_suite(config), int(config.get("shape_kbit", AUTO)))
