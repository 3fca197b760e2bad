#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The program of the process `pqc_onboard`.

No console script of setuptools: to find `run` that imports importlib.metadata, 2 MB of a process that stays.
"""

from pqc_mav_bringup.onboard import run

run()
