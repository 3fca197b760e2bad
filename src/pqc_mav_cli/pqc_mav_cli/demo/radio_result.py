# SPDX-License-Identifier: Apache-2.0
"""What the two flights over simulated radios showed, and the verdict. Pure: made from the flights' JSON lines."""

from pqc_mav_cli.demo.pair import PROMPT_MS, Flight, PairResult
from pqc_mav_cli.demo.result import Check

CLEAR, SEALED = "in the clear", "sealed"
PROMPT_LEAST = 0.75  # of the commands, each sent once, through 5 % of bursty loss both ways: 90 +- 4 % in the mean
WAIT_MOST_MS = 300.0


class RadioResult(PairResult):
    """Both flights, in the clear and sealed."""

    def checks(self) -> list[Check]:
        """What must hold is asked of the sealed flight; the other one is for comparison, and shows what is read."""
        clear, sealed = self.flights
        count = len(sealed.answers)
        waited = wait_ms(sealed)
        return [
            *super().checks(),
            Check(
                "listener",
                bool(read(clear)) and read(sealed) == 0,
                f"reads {_count(read(sealed))} messages of the vehicle; in the clear {_count(read(clear))}",
            ),
            Check(
                "commands",
                count > 0 and sealed.prompt >= PROMPT_LEAST * count,
                f"{sealed.prompt} of {count} answered within {PROMPT_MS / 1000:g} s; "
                f"in the clear {clear.prompt} of {len(clear.answers)}",
            ),
            Check(
                "wait",
                waited is not None and waited <= WAIT_MOST_MS,
                "the radio told nothing"
                if waited is None
                else f"95 % of it at most {waited:.0f} ms in the radio; allowed {WAIT_MOST_MS:.0f} ms",
            ),
        ]


def read(flight: Flight) -> int | None:
    """Messages of the vehicle that a listener could read."""
    return None if flight.radios is None else int(flight.radios["read"])


def wait_ms(flight: Flight) -> float | None:
    """95 % of the bytes waited less in the drone's radio."""
    return (
        None if not flight.radios or not flight.radios["wait"].get("count") else flight.radios["wait"]["p95_us"] / 1e3
    )


def _count(value: int | None) -> str:
    return "-" if value is None else f"{value:,}"
