# SPDX-License-Identifier: Apache-2.0
"""What can go wrong in a campaign; every text is one sentence for a person."""


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


class StoppedError(BenchError):
    """Somebody asked the campaign to stop."""
