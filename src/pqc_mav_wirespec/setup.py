# SPDX-License-Identifier: Apache-2.0
"""Installs the executable specification of the wire protocol."""

from setuptools import find_packages, setup

PACKAGE = "pqc_mav_wirespec"

setup(
    name=PACKAGE,
    version="0.2.0",
    packages=find_packages(exclude=["test"]),
    package_data={PACKAGE: ["py.typed"]},
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{PACKAGE}"]),
        (f"share/{PACKAGE}", ["package.xml"]),
    ],
    install_requires=["setuptools", "cryptography>=42", "ascon==0.0.9", "liboqs-python>=0.16"],
    extras_require={"test": ["pytest", "hypothesis"]},
    zip_safe=True,
    maintainer="PQC-MAV maintainers",
    maintainer_email="maintainers@users.noreply.a-seed-44ea6c50.example",
    description="Executable specification of the PQC-MAV wire protocol and its test vectors",
    license="Apache-2.0",
    python_requires=">=3.10",
)
