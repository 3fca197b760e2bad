# SPDX-License-Identifier: Apache-2.0
"""A page whose server hangs says so: nothing closes its connection."""

from __future__ import annotations

import os
import signal

import pytest
from browser import page_in
from ends import Dashboard

pytestmark = pytest.mark.timeout(300)


def test_a_server_that_hangs_is_no_live_one(own_domain: None) -> None:
    dashboard = Dashboard("--no-ros")
    process = dashboard.running.process.pid
    try:
        with page_in() as page:
            page.open(f"{dashboard.url}/").says("live", "#connection")
            os.kill(process, signal.SIGSTOP)
            page.says("the dashboard says nothing", "#connection")
            page.says("what is shown is old", "#alarm")
            os.kill(process, signal.SIGCONT)
            page.says("live", "#connection")
            page.until("!document.body.classList.contains('alarmed')")
    finally:
        os.kill(process, signal.SIGCONT)
        dashboard.kill()
