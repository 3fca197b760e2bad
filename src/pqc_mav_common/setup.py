# SPDX-License-Identifier: Apache-2.0
"""Install the shared node code."""

from setuptools import find_packages, setup

PACKAGE = "pqc_mav_common"

setup(
    name=PACKAGE,
    version="0.2.0",
    packages=find_packages(exclude=["test"]),
    package_data={PACKAGE: ["py.typed"]},
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{PACKAGE}"]),
        (f"share/{PACKAGE}", ["package.xml"]),
    ],
    install_requires=["setuptools", "PyYAML"],
    extras_require={"test": ["pytest", "hypothesis"]},
    zip_safe=True,
    maintainer="PQC-MAV maintainers",
    maintainer_email="maintainers@users.noreply.a-seed-44ea6c50.example",
    description="Shared node code of PQC-MAV: process frame, parameters, QoS, diagnostics",
    license="Apache-2.0",
    python_requires=">=3.10",
)
