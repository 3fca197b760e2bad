# SPDX-License-Identifier: Apache-2.0
"""Where the program `pqcmav` begins: what can be quick is, everything else is in `app`."""

import sys

from pqc_mav_bringup.printer import settle
from pqc_mav_cli import quick
from pqc_mav_cli.ending import ended, fill_standard_streams, interrupts_end


def run() -> None:
    """Console script."""
    interrupts_end()
    fill_standard_streams()
    code = ended(_command)
    interrupts_end()
    settle(sys.stderr)
    sys.exit(code)


def _command() -> int:
    code = quick.run(sys.argv[1:])
    if code is not None:
        return code
    from pqc_mav_cli import app

    return app.command(sys.argv[1:])
