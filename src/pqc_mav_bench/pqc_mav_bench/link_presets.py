# SPDX-License-Identifier: Apache-2.0
"""Links by name, as `--link` takes them, and the suites that `pqcmav bench links` measures over each."""

from dataclasses import dataclass


@dataclass(frozen=True)
class LinkPreset:
    """A link by what a sentence calls it, its figures, what `--link` takes (each way: delay, loss, rate), and the load
    that fits into it: MAVLink messages/s each way."""

    name: str
    called: str
    figures: str
    words: str
    messages_per_s: float

    @property
    def title(self) -> str:
        """The head of a column."""
        return f"{self.called.removeprefix('a ')}, {self.figures}"

    @property
    def described(self) -> str:
        """In a sentence, with its figures."""
        return f"{self.called} ({self.figures})"


#: In place of delay, loss and rate: both ends are at serial ports, between which `pqc_mav_sim.radio` stands.
SERIAL = "SiK"

PRESETS = {
    preset.name: preset
    for preset in (
        LinkPreset("lan", "a LAN", "RTT 1 ms", "0.5ms 1Gbit", 320.0),
        LinkPreset("lte", "a link like LTE", "RTT 60 ms, 10 Mbit/s, 1 % lost", "30ms 1% 10Mbit", 320.0),
        LinkPreset("radio-64k", "a radio of 64 kbit/s", "RTT 100 ms, 1 % lost", "50ms 1% 64kbit", 20.0),
        LinkPreset("radio-sik", "a pair of serial radios", "SiK at 57,600 baud, simulated, 5 % lost", SERIAL, 10.0),
    )
}

#: Standards first: the usual signature at each level, the other cipher, signatures of hashes; then a KEM to come.
SUITES = (
    "ML-768-AG-MD-65",
    "ML-512-AG-MD-44",
    "ML-1024-AG-MD-87",
    "ML-768-AA-MD-65",
    "ML-512-AG-SL-128s",
    "ML-512-AG-SL-128f",
    "ML-768-AG-SL-192f",
    "HQC-3-AG-MD-65",
)


def words_of(link: str) -> str:
    """A link in words, where it is given by its name."""
    return PRESETS[link].words if link in PRESETS else link
