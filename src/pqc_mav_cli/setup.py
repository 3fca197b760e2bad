# SPDX-License-Identifier: Apache-2.0
"""Installs the pqcmav command."""

from setuptools import find_packages, setup

PACKAGE = "pqc_mav_cli"

setup(
    name=PACKAGE,
    version="0.2.0",
    packages=find_packages(exclude=["test"]),
    package_data={PACKAGE: ["py.typed"]},
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{PACKAGE}"]),
        (f"share/{PACKAGE}", ["package.xml"]),
        (f"share/{PACKAGE}/launch", ["launch/scenario.launch.py"]),
        # As it is, not behind a starter of setuptools, which would import before the script can see to Ctrl-C.
        ("bin", ["scripts/pqcmav"]),
        # So that 'ros2 run' finds it as well.
        (f"lib/{PACKAGE}", ["scripts/pqcmav"]),
    ],
    install_requires=["setuptools", "PyYAML", "prometheus_client", "rich", "typer"],
    extras_require={"test": ["pytest", "psutil"]},
    zip_safe=True,
    maintainer="PQC-MAV maintainers",
    maintainer_email="maintainers@users.noreply.a-seed-44ea6c50.example",
    description="The pqcmav command: keys, suites, up, status, doctor, demo",
    license="Apache-2.0",
    python_requires=">=3.10",
)
