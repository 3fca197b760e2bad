# SPDX-License-Identifier: Apache-2.0
"""Exit codes of `pqcmav` and the one kind of error its commands raise."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum


class ExitCode(IntEnum):
    """0 done; 1 failed; 2 called or configured wrongly: the same call fails again until something is changed."""

    OK = 0
    FAILED = 1
    USAGE = 2


class CliError(Exception):
    """Ends the command with one line on stderr and an exit code, as a ProcessError from below does."""

    def __init__(self, sentence: str, exit_code: ExitCode = ExitCode.FAILED) -> None:
        super().__init__(sentence)
        self.exit_code = exit_code


WITHOUT_ROS = "PQCMAV_WITHOUT_ROS"  # set by the Debian package, which brings no ROS 2
_NOT_PACKAGED = "is not in the Debian package: it needs the workspace with ROS 2, or its container"


def refuse_without_ros(what: str) -> None:
    """Raises CliError in the Debian package, which has only what goes without ROS 2."""
    if os.environ.get(WITHOUT_ROS):
        raise CliError(f"'{what}' {_NOT_PACKAGED}. 'systemctl start pqcmav-tunneld@drone' starts an end.")


def missing_package(name: str) -> str:
    """What to say where a package of ours is not installed."""
    if os.environ.get(WITHOUT_ROS):
        return f"This {_NOT_PACKAGED} ({name} is missing)."
    return f"The package {name} is not installed; 'make setup' builds every package."


# TunnelError codes that are about what the user gave, not about what happened.
_USAGE_CODES = ("config_", "key_", "suite_", "address")


@contextmanager
def engine_errors() -> Iterator[None]:
    """Turns the engine's TunnelError into a CliError with the same sentence."""
    import pqc_mav_tunnel

    try:
        yield
    except pqc_mav_tunnel.TunnelError as error:
        usage = error.code.startswith(_USAGE_CODES)
        raise CliError(str(error), ExitCode.USAGE if usage else ExitCode.FAILED) from None
    except ValueError as error:
        raise CliError(str(error), ExitCode.USAGE) from None
