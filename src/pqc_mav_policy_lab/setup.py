# SPDX-License-Identifier: Apache-2.0
"""Install the laboratory of the adaptive policy."""

from setuptools import find_packages, setup

PACKAGE = "pqc_mav_policy_lab"

setup(
    name=PACKAGE,
    version="0.2.0",
    packages=find_packages(exclude=["test", "test.*"]),
    package_data={PACKAGE: ["py.typed", "missions/*.csv.gz"]},
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{PACKAGE}"]),
        (f"share/{PACKAGE}", ["package.xml"]),
    ],
    install_requires=["setuptools", "numpy"],
    extras_require={"test": ["pytest", "hypothesis"]},
    zip_safe=False,
    maintainer="PQC-MAV maintainers",
    maintainer_email="maintainers@users.noreply.a-seed-44ea6c50.example",
    description="Simulated missions, comparison, replay and training for the adaptive policy of PQC-MAV",
    license="Apache-2.0",
    python_requires=">=3.10",
)
