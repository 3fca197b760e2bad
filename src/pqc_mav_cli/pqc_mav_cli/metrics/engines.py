# SPDX-License-Identifier: Apache-2.0
"""Asks every engine of this machine once, side by side and in bounded time, through their control sockets."""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pqc_mav_common.local_socket import Control, ControlError, ForbiddenError, Place, names_of, places

ANSWER_S = 5.0  # for all that one engine is asked; Prometheus gives a scrape 10 s, and a large page takes some of it
ENGINES_MOST = 64
# Why an engine has no figures.
GONE, FORBIDDEN, SILENT, REFUSED, NONSENSE = "gone", "forbidden", "silent", "refused", "nonsense"
_REQUESTS = tuple({"command": name} for name in ("status", "stats", "link", "picture"))


@dataclass(frozen=True)
class Answer:
    """What one engine said; where it said nothing, `failure` says why and the rest is empty."""

    engine: str
    failure: str = ""
    status: Mapping[str, Any] = field(default_factory=dict)
    stats: Mapping[str, Any] = field(default_factory=dict)
    link: Mapping[str, Any] = field(default_factory=dict)
    picture: Mapping[str, Any] = field(default_factory=dict)


class Engines:
    """Those that there are or were: one that has answered once is asked again until this process ends."""

    def __init__(self, environment: Mapping[str, str], paths: Sequence[Path] = (), answer_s: float = ANSWER_S) -> None:
        """`paths` are sockets to ask in place of those in the usual folders; `answer_s` [s] is for each to answer."""
        self._environment = environment
        self._named = tuple(dict.fromkeys(Place(path) for path in paths))
        self._answer_s = answer_s
        self._answered: dict[Place, None] = {}
        self.problem = ""  # why no folder can be looked into; "" = it can

    def ask(self) -> list[Answer]:
        """One answer for each engine, in a stable order; takes a second more than `answer_s` at most."""
        found = self._found()
        if not found:
            return []
        # A thread for each: one that says nothing must not keep the others waiting.
        with ThreadPoolExecutor(len(found), "pqcmav-metrics") as threads:
            answers = list(threads.map(self._one, names_of(found), found))
        for place, answer in zip(found, answers, strict=True):
            if not answer.failure:
                self._answered[place] = None
        return answers

    def _found(self) -> list[Place]:
        self.problem = ""
        if self._named:
            return list(self._named)
        try:
            here = places(self._environment)
        except ForbiddenError as error:
            self.problem, here = str(error), []
        found = list(dict.fromkeys([*here, *self._answered]))
        for place in found[ENGINES_MOST:]:
            self._answered.pop(place, None)
        return found[:ENGINES_MOST]

    def _one(self, name: str, place: Place) -> Answer:
        try:
            with Control(place, self._answer_s) as control:
                return Answer(name, "", *control.ask_all(_REQUESTS))
        except ForbiddenError:
            return Answer(name, FORBIDDEN)
        except ControlError:
            return Answer(name, REFUSED)
        except TimeoutError:
            return Answer(name, SILENT)
        except OSError:
            return Answer(name, GONE)
        except (ValueError, TypeError, KeyError, RecursionError):
            return Answer(name, NONSENSE)
