# SPDX-License-Identifier: Apache-2.0
"""Install the flight recorder."""

from setuptools import find_packages, setup

PACKAGE = "pqc_mav_recorder"

setup(
    name=PACKAGE,
    version="0.2.0",
    packages=find_packages(exclude=["test"]),
    package_data={PACKAGE: ["py.typed"]},
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{PACKAGE}"]),
        (f"share/{PACKAGE}", ["package.xml"]),
        (f"share/{PACKAGE}/layouts", ["layouts/foxglove.json", "layouts/plotjuggler.xml"]),
    ],
    install_requires=["setuptools", "mcap", "mcap-ros2-support", "zstandard"],
    extras_require={"test": ["pytest"]},
    zip_safe=True,
    maintainer="PQC-MAV maintainers",
    maintainer_email="maintainers@users.noreply.a-seed-44ea6c50.example",
    description="Records the topics of a flight into one MCAP file and reads such files",
    license="Apache-2.0",
    python_requires=">=3.10",
    entry_points={"console_scripts": ["pqc_recorder = pqc_mav_recorder.main:run"]},
)
