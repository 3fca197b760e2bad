# SPDX-License-Identifier: Apache-2.0
"""What the two flights over a thin link showed, and the verdict. Pure: made from the flights' JSON lines."""

from dataclasses import dataclass

from pqc_mav_cli.demo.pair import PROMPT_MS, Flight, PairResult
from pqc_mav_cli.demo.result import Check

PLAIN, SHAPED = "as it comes", "shaped"


@dataclass
class ThinLinkResult(PairResult):
    """Both flights, without shaping and with it."""

    rate_kbit: int = 0

    def checks(self) -> list[Check]:
        """What must hold is asked of the shaped flight; the other one is for comparison."""
        plain, shaped = self.flights
        count = len(shaped.answers)
        return [
            *super().checks(),
            Check(
                "commands",
                count > 0 and shaped.prompt == count,
                f"{shaped.prompt} of {count} answered within {PROMPT_MS / 1000:g} s; "
                f"unshaped {plain.prompt} of {len(plain.answers)}",
            ),
            Check(
                "parameters",
                shaped.parameters is not None,
                f"{loaded(shaped)}; unshaped {loaded(plain)}",
            ),
        ]


def loaded(flight: Flight) -> str:
    """How the download of the parameters went."""
    if flight.parameters is not None:
        return f"{flight.parameters['count']} in {flight.parameters['after_s']:.1f} s"
    came = max((each["params"] for each in flight.samples), default=0)
    return f"{came} until the end"
