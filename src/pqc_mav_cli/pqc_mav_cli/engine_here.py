# SPDX-License-Identifier: Apache-2.0
"""The one engine of this machine that a command is for."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

from pqc_mav_cli.errors import CliError
from pqc_mav_common.local_socket import ANSWER_S, Control, chosen, nothing_here


@contextmanager
def engine(
    socket: str, role: str = "", drone: str = "", *, answer_s: float = ANSWER_S, absent: Exception | None = None
) -> Iterator[Control]:
    """Raises `absent`, else ControlError, where it is not here, and CliError where it does not answer."""
    with chosen(os.environ, path=socket, role=role, drone=drone, answer_s=answer_s) as control:
        if control is None:
            raise absent or nothing_here(os.environ)
        try:
            yield control
        except OSError as error:
            raise CliError(f"No answer from {control.place.path}: {error}") from None
