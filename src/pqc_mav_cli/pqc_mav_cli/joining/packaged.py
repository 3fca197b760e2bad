# SPDX-License-Identifier: Apache-2.0
"""Where the Debian package has an end's configuration, and the keys that this names."""

import os
import re
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from pqc_mav_cli.errors import WITHOUT_ROS

FOLDER = Path("/etc/pqcmav/tunneld")  # where the package's unit reads it; ROS units have theirs above
_KEYS = re.compile(r"^keys: *[\"']?([^\s\"'#]+)", re.MULTILINE)


@dataclass(frozen=True)
class Packaged:
    """An end's configuration file, and its folder of keys."""

    config: Path
    keys: Path


def packaged(role: str, folder: Path = FOLDER) -> Packaged | None:
    """Of 'drone' or 'gcs'; None in a workspace, or where the package's file is gone or names no keys."""
    if not os.environ.get(WITHOUT_ROS):
        return None
    config = folder / f"{role}.yaml"
    with suppress(OSError):
        if found := _KEYS.search(config.read_text(encoding="utf-8")):
            return Packaged(config, Path(found[1]))
    return None
