# SPDX-License-Identifier: Apache-2.0
"""Where the program `pqcmav` begins: what can be quick is, everything else is in `app`."""

from __future__ import annotations

import sys

from pqc_mav_bringup.printer import discard
from pqc_mav_cli import quick
from pqc_mav_cli.console import print_error
from pqc_mav_cli.errors import CliError
from pqc_mav_common.errors import ProcessError


def run() -> None:
    """Console script."""
    try:
        code = quick.run(sys.argv[1:])
        if code is not None:
            sys.stdout.flush()
    except (CliError, ProcessError) as error:
        print_error(error)
        code = error.exit_code
    except KeyboardInterrupt:
        code = 128 + 2
    except BrokenPipeError:
        # A reader that has seen enough is no failure.
        discard(sys.stdout)
        code = 0
    if code is not None:
        sys.exit(code)
    from pqc_mav_cli import app

    app.run()
