# SPDX-License-Identifier: Apache-2.0
"""What the flights by LTE, by a radio and by both showed, and the verdict. Pure: made from the flights' JSON lines."""

from pqc_mav_cli.demo.pair import PROMPT_MS, Flight, PairResult
from pqc_mav_cli.demo.result import Check

LTE, RADIO, BOTH = "LTE alone", "radio alone", "both"
PROMPT_LEAST = 0.93  # of the commands, while at each moment one of the two ways is good


class WaysResult(PairResult):
    """The three flights, that by both last."""

    def checks(self) -> list[Check]:
        """Something is asked of the flight by both; the other two are for comparison."""
        *others, both = self.flights
        count = len(both.answers)
        handshakes = None if both.paths is None else both.paths["handshakes"]
        said = ", ".join(f"{flight.name} {flight.prompt} of {len(flight.answers)}" for flight in others)
        return [
            *super().checks(),
            Check(
                "commands",
                count > 0 and both.prompt >= PROMPT_LEAST * count,
                f"{both.prompt} of {count} answered within {PROMPT_MS / 1000:g} s; {said}",
            ),
            Check("one session", handshakes == 1, f"{'no' if handshakes is None else handshakes} handshake"),
        ]


def longest_age_s(flight: Flight) -> float | None:
    """How old the shown altitude was at worst."""
    return max(flight.ages_s, default=None)


def sent_kb_s(flight: Flight, path: str) -> float | None:
    """What the drone sent by a path."""
    if flight.paths is None or flight.summary is None or path not in flight.paths["sent"]:
        return None
    return float(flight.paths["sent"][path]) / 1e3 / float(flight.summary["seconds"])
