# SPDX-License-Identifier: Apache-2.0
"""`python -m pqc_mav_sim` is the vehicle."""

import sys

from pqc_mav_sim.vehicle_cli import main

sys.exit(main())
