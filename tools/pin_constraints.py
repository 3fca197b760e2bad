#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Write requirements/constraints.txt: the exact version of every wheel installed in the running environment.

Run it with the Python of a freshly made `.venv` after changing a list in `requirements/`:

    tools/run python tools/pin_constraints.py
"""

from importlib.metadata import distributions
from pathlib import Path

REQUIREMENTS = Path(__file__).resolve().parent.parent / "requirements"
HEADER = """\
# Exact versions of everything the other lists pull in, so that two machines resolve alike; packages of ROS 2 name each
# other's versions themselves. Written by tools/pin_constraints.py; edit the other lists instead.
"""
# Pinned in the other lists by Python version, or part of the environment itself.
LEFT_OUT = {"numpy", "pip"}
ROS = "ros-"


def installed_wheels() -> dict[str, str]:
    """Return name -> version of what pip installed (not the metadata that ROS 2 packages carry inside wheels)."""
    found: dict[str, str] = {}
    for dist in distributions():
        location = getattr(dist, "_path", None)
        name = dist.metadata["Name"].lower().replace("_", "-")
        if (
            location is not None
            and location.name.endswith(".dist-info")
            and name not in LEFT_OUT
            and not name.startswith(ROS)
        ):
            found[name] = dist.version
    return dict(sorted(found.items()))


def main() -> None:
    """Write the file and say how many versions it holds."""
    wheels = installed_wheels()
    lines = [f"{name}=={version}\n" for name, version in wheels.items()]
    (REQUIREMENTS / "constraints.txt").write_text(HEADER + "".join(lines), encoding="utf-8")
    print(f"{len(lines)} versions pinned in requirements/constraints.txt")


if __name__ == "__main__":
    main()
