# SPDX-License-Identifier: Apache-2.0
"""The table of heights of the sea that mavros reads at start: it aborts without (GeographicLib's egm96-5)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

NAME = "egm96-5.pgm"
SIZE = 4320 * 2161 * 2  # its points, of two bytes each; the text before them is short
# GeographicLib's own choice is fixed when it is built: Debian's package has the first, a build of one's own the second.
FOLDERS = ("/usr/share/GeographicLib", "/usr/local/share/GeographicLib")
INSTALL = "sudo apt install geographiclib-tools && sudo geographiclib-get-geoids egm96-5"


def folders(environment: Mapping[str, str]) -> list[Path]:
    """Where GeographicLib looks; a variable of the environment wins over its own choice."""
    if path := environment.get("GEOGRAPHICLIB_GEOID_PATH"):
        return [Path(path)]
    if path := environment.get("GEOGRAPHICLIB_DATA"):
        return [Path(path) / "geoids"]
    conda = environment.get("CONDA_PREFIX")
    own = [f"{conda}/share/GeographicLib"] if conda else []
    return [Path(folder) / "geoids" for folder in (*FOLDERS, *own)]


def problem(environment: Mapping[str, str]) -> str:
    """Why mavros would abort, in one sentence with the cure; empty where the file is there and whole."""
    looked = folders(environment)
    for folder in looked:
        try:
            size = (folder / NAME).stat().st_size
        except OSError:
            continue
        if size < SIZE:
            return f"mavros aborts with {folder / NAME}, which has {size} bytes of at least {SIZE}: {INSTALL}"
        return ""
    where = " or ".join(str(folder) for folder in looked)
    return (
        f"mavros aborts without {NAME}, which is not in {where} (GEOGRAPHICLIB_GEOID_PATH names another folder): "
        f"{INSTALL}"
    )
