# SPDX-License-Identifier: Apache-2.0
"""Parameters of the detector's node."""

from pqc_mav_common.parameters import ParameterSpec
from pqc_mav_detect.detectors import NAMES, RULES

PARAMETERS = (
    ParameterSpec("detector", RULES, "Which detector judges.", choices=NAMES),
    ParameterSpec("watched_proxy", "pqc_proxy", "Name of the proxy's node in the same namespace."),
    ParameterSpec("watch_kernel", True, "Watch the kernel's counters, too: traffic that is not the tunnel's."),
    ParameterSpec("watched_interfaces", (), "Network interfaces to watch; empty = all but loopback."),
)
