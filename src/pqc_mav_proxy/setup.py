# SPDX-License-Identifier: Apache-2.0
"""Installs the proxy node."""

from setuptools import find_packages, setup

PACKAGE = "pqc_mav_proxy"

setup(
    name=PACKAGE,
    version="0.2.0",
    packages=find_packages(exclude=["test"]),
    package_data={PACKAGE: ["py.typed"]},
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{PACKAGE}"]),
        (f"share/{PACKAGE}", ["package.xml"]),
    ],
    install_requires=["setuptools"],
    extras_require={"test": ["pytest", "PyYAML"]},
    zip_safe=True,
    maintainer="PQC-MAV maintainers",
    maintainer_email="maintainers@users.noreply.a-seed-44ea6c50.example",
    description="ROS 2 lifecycle node that hosts the post-quantum MAVLink tunnel engine",
    license="Apache-2.0",
    python_requires=">=3.10",
    entry_points={
        "console_scripts": ["pqc_proxy = pqc_mav_proxy.main:run", "pqc_guard = pqc_mav_proxy.guard_node:run"]
    },
)
