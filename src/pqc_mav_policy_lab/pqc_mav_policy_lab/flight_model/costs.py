# SPDX-License-Identifier: Apache-2.0
"""What a handshake costs: computation per suite, from a measurement or the published tables. No clock.

Two sources: the published medians on a Raspberry Pi 5 (suite_cost; the default, for it is the machine a drone carries),
or the handshakes measured on this project's benchmark machine (bench/results/engine.json.gz). `source` says which.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pqc_mav_common import packed
from pqc_mav_policy.suite_cost import work_ms
from pqc_mav_policy.suites import Catalogue
from pqc_mav_policy_lab.computer_power import MEAN_POWER_W

# Outgoing and returning messages of a handshake after the TCP connection: hello, server hello, finish (PROTOCOL 4).
ROUND_TRIPS = 4.0
# Published blackout of stop-and-start rekeying ([pqcmav-paper]): the proxies' start-up; the handshake is added.
PUBLISHED_STARTUP_S = 3.0


class CostError(Exception):
    """A table of costs cannot be used: one sentence for a person."""


@dataclass(frozen=True)
class Costs:
    """Computation of one handshake by suite, both ends together [s]; `source` names where the figures come from."""

    compute_s: Mapping[str, float]
    source: str

    def handshake_energy_j(self, suite_id: str) -> float:
        """Energy of one handshake by the published method ([rpi5-report] section 24): mean power times its time."""
        return MEAN_POWER_W * self.compute_s[suite_id]


def published_costs(catalogue: Catalogue) -> Costs:
    """Sums of the published medians on a Raspberry Pi 5, for every suite of the catalogue."""
    compute = {suite.id: work_ms(suite.kem_token, suite.sig_token) / 1e3 for suite in catalogue.values()}
    return Costs(compute, "published medians, Raspberry Pi 5 ([rpi5-report] sections 6 and 8)")


def measured_costs(path: Path, catalogue: Catalogue) -> Costs:
    """Handshakes from the engine benchmark's engine.json.gz. Raises CostError when a core suite is missing in it."""
    try:
        part = json.loads(packed.read(path))["handshake"]
        rows = [row for row in part["rows"] if not row["pool"]]
        compute = {str(row["suite"]): float(row["handshake_us"]) / 1e6 for row in rows}
        machine = str(part["environment"]["machine"])
    except OSError as error:
        raise CostError(f"Cannot read {path}: {error.strerror}.") from None
    except (KeyError, TypeError, ValueError) as error:
        raise CostError(f"{path} is not a result of the engine's benchmark ({error!r}).") from None
    missing = sorted(suite.id for suite in catalogue.values() if suite.core and suite.id not in compute)
    if missing:
        raise CostError(f"{path} lacks {len(missing)} core suites, the first is {missing[0]}; run 'make bench'.")
    return Costs(compute, f"measured by 'make bench' ({machine})")
