# SPDX-License-Identifier: Apache-2.0
"""What can go wrong in a campaign; every text is one sentence for a person."""

#: What an agent refuses another controller with, and how long the silence of its own is borne.
TAKEN = "The agent works for another controller"
LEASE_S = 60.0


class BenchError(Exception):
    """A refusal or failure of the benchmark."""


class OptionsError(BenchError):
    """The campaign was asked for something that cannot be done."""


class StoreError(BenchError):
    """The campaign's folder cannot be used: missing, locked, damaged, disk full. The campaign stops and can resume."""


class SuiteFailedError(BenchError):
    """One run could not be measured; the campaign goes on."""

    def __init__(self, phase: str, sentence: str) -> None:
        super().__init__(sentence)
        self.phase = phase


class AgentLostError(BenchError):
    """The agent on the ground does not answer."""


class AgentTakenError(BenchError):
    """The agent works for another controller."""


class StoppedError(BenchError):
    """Somebody asked the campaign to stop."""
