# SPDX-License-Identifier: Apache-2.0
"""The page of metrics: asks the engines when it is asked, and never shows an older answer."""

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator

from prometheus_client import CollectorRegistry, Gauge, ProcessCollector
from prometheus_client.exposition import choose_encoder
from prometheus_client.metrics_core import Metric

from pqc_mav_cli.metrics.engines import Engines
from pqc_mav_cli.metrics.families import LISTENING, PREFIX, SCRAPE_FAILURES
from pqc_mav_cli.metrics.figures import Figures, add_answers, add_readings
from pqc_mav_cli.metrics.senses import Senses

WAIT_S = 4.0  # for another scrape to end


class BusyError(Exception):
    """Another scrape has not ended in time."""


class Exporter:
    """May be used by several threads; they take turns."""

    def __init__(
        self, engines: Engines, say: Callable[[str], None] = lambda _: None, senses: Senses | None = None
    ) -> None:
        """`say` is told why no engine can be asked, once for each reason; `senses` hears ROS topics."""
        self._engines = engines
        self._senses = senses
        self._say = say
        self._said = ""
        self._turn = threading.Lock()
        self._registry = CollectorRegistry(auto_describe=False)
        ProcessCollector(registry=self._registry)  # what the exporter itself costs
        self._took = Gauge(
            f"{PREFIX}exporter_scrape_duration_seconds", "Time that this scrape took to ask the engines.",
            registry=self._registry,
        )  # fmt: skip
        self._failures: Counter[tuple[str, str]] = Counter()

    def page(self, accept: str = "") -> tuple[bytes, str]:
        """The page and its content type, in the form that an Accept header asks for. Raises BusyError."""
        if not self._turn.acquire(timeout=WAIT_S):
            raise BusyError("Another scrape is still under way; ask less often.")
        try:
            began_s = time.monotonic()
            figures = Figures()
            for engine, reason in add_answers(figures, self._engines.ask()):
                self._failures[engine, reason] += 1
            if self._senses is not None:
                add_readings(figures, self._senses.readings())
                figures.add(LISTENING, [], self._senses.listening)
            for labels, count in self._failures.items():
                figures.add(SCRAPE_FAILURES, labels, count)
            self._took.set(time.monotonic() - began_s)
            self._tell(self._engines.problem)
            encode, kind = choose_encoder(accept)
            return encode(_Whole(figures, self._registry)), kind
        finally:
            self._turn.release()

    def _tell(self, problem: str) -> None:
        if problem and problem != self._said:
            self._say(problem)
        self._said = problem


class _Whole:
    """The engines' figures and the exporter's own, as one registry to the encoder."""

    def __init__(self, figures: Figures, own: CollectorRegistry) -> None:
        self._figures = figures
        self._own = own

    def collect(self) -> Iterator[Metric]:
        yield from self._figures.metrics()
        yield from self._own.collect()
