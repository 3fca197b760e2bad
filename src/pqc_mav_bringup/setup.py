# SPDX-License-Identifier: Apache-2.0
"""Installs the system description, the launch files, the configuration files and the systemd units."""

from pathlib import Path

from setuptools import find_packages, setup

PACKAGE = "pqc_mav_bringup"


def files(folder: str, pattern: str) -> tuple[str, list[str]]:
    """The data_files entry of one folder of this package; its build folder has links to files that went since."""
    return f"share/{PACKAGE}/{folder}", sorted(str(path) for path in Path(folder).glob(pattern) if path.exists())


setup(
    name=PACKAGE,
    version="0.2.0",
    packages=find_packages(exclude=["test"]),
    package_data={PACKAGE: ["py.typed"]},
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{PACKAGE}"]),
        (f"share/{PACKAGE}", ["package.xml"]),
        files("launch", "*.launch.py"),
        files("config", "*"),
        files("systemd", "*"),
        (f"lib/{PACKAGE}", ["scripts/pqc_onboard.py"]),
    ],
    install_requires=["setuptools", "PyYAML"],
    extras_require={"test": ["pytest", "psutil"]},
    zip_safe=True,
    maintainer="PQC-MAV maintainers",
    maintainer_email="maintainers@users.noreply.a-seed-44ea6c50.example",
    description="Launch files, supervisor and configuration of the post-quantum MAVLink tunnel",
    license="Apache-2.0",
    python_requires=">=3.10",
)
