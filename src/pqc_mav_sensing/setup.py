# SPDX-License-Identifier: Apache-2.0
"""Installs the sensing nodes and the battery chemistries they know."""

from setuptools import find_packages, setup

PACKAGE = "pqc_mav_sensing"

setup(
    name=PACKAGE,
    version="0.2.0",
    packages=find_packages(exclude=["test"]),
    package_data={PACKAGE: ["py.typed", "chemistries.yaml"]},
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{PACKAGE}"]),
        (f"share/{PACKAGE}", ["package.xml"]),
    ],
    install_requires=["setuptools", "PyYAML", "psutil", "smbus2"],
    extras_require={"test": ["pytest", "hypothesis", "pymavlink"]},
    zip_safe=False,
    maintainer="PQC-MAV maintainers",
    maintainer_email="maintainers@users.noreply.a-seed-44ea6c50.example",
    description="Battery, temperature, power and system load of the drone as ROS 2 topics",
    license="Apache-2.0",
    python_requires=">=3.10",
    entry_points={
        "console_scripts": [
            "pqc_sensing = pqc_mav_sensing.main:run",
            "pqc_battery = pqc_mav_sensing.main:run_battery",
            "pqc_thermal = pqc_mav_sensing.main:run_thermal",
            "pqc_power = pqc_mav_sensing.main:run_power",
            "pqc_system = pqc_mav_sensing.main:run_system",
        ],
    },
)
