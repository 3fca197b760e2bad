# SPDX-License-Identifier: Apache-2.0
"""Installs the simulated vehicle and the ground client."""

from setuptools import find_packages, setup

PACKAGE = "pqc_mav_sim"

setup(
    name=PACKAGE,
    version="0.2.0",
    packages=find_packages(exclude=["test"]),
    package_data={PACKAGE: ["py.typed", "parameters.txt"]},
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{PACKAGE}"]),
        (f"share/{PACKAGE}", ["package.xml"]),
        # So that 'ros2 run' finds them as well; the programs themselves are on the PATH.
        (f"lib/{PACKAGE}", ["scripts/pqcmav-sim-ground", "scripts/pqcmav-sim-radio", "scripts/pqcmav-sim-vehicle"]),
    ],
    install_requires=["setuptools", "pymavlink"],
    extras_require={"test": ["pytest", "hypothesis", "psutil", "mavsdk", "MAVProxy"]},
    zip_safe=True,
    maintainer="PQC-MAV maintainers",
    maintainer_email="maintainers@users.noreply.a-seed-44ea6c50.example",
    description="Simulated MAVLink vehicle, ground client and the meters that judge the link between them",
    license="Apache-2.0",
    python_requires=">=3.10",
    entry_points={
        "console_scripts": [
            "pqcmav-sim-vehicle = pqc_mav_sim.vehicle_cli:main",
            "pqcmav-sim-ground = pqc_mav_sim.ground_cli:main",
            "pqcmav-sim-radio = pqc_mav_sim.radio_cli:main",
        ],
    },
)
