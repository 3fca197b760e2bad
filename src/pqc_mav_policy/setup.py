# SPDX-License-Identifier: Apache-2.0
"""Installs the adaptive policy."""

from setuptools import find_packages, setup

PACKAGE = "pqc_mav_policy"

setup(
    name=PACKAGE,
    version="0.2.0",
    packages=find_packages(exclude=["test", "test.*"]),
    package_data={PACKAGE: ["py.typed", "strategies/expert/*.csv", "strategies/rl/*.json.gz"]},
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{PACKAGE}"]),
        (f"share/{PACKAGE}", ["package.xml"]),
    ],
    install_requires=["setuptools"],
    extras_require={"test": ["pytest", "hypothesis"]},
    zip_safe=True,
    maintainer="PQC-MAV maintainers",
    maintainer_email="maintainers@users.noreply.a-seed-44ea6c50.example",
    description="Decides on the drone which cipher suite to use and when to renew keys, and says why",
    license="Apache-2.0",
    python_requires=">=3.10",
    entry_points={"console_scripts": ["pqc_policy = pqc_mav_policy.main:run"]},
)
