# SPDX-License-Identifier: Apache-2.0
"""Install the detectors."""

from setuptools import find_packages, setup

PACKAGE = "pqc_mav_detect"

setup(
    name=PACKAGE,
    version="0.2.0",
    packages=find_packages(exclude=["test"]),
    package_data={PACKAGE: ["py.typed", "rules/*.csv", "trees/*.npz", "tst/*.onnx"]},
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{PACKAGE}"]),
        (f"share/{PACKAGE}", ["package.xml"]),
    ],
    install_requires=["setuptools"],
    extras_require={
        "test": ["pytest"],
        "xgboost": ["numpy"],
        "tst": ["numpy", "onnxruntime"],
        "train": ["numpy", "onnx", "pyarrow", "torch", "xgboost-cpu"],
    },
    zip_safe=False,
    maintainer="PQC-MAV maintainers",
    maintainer_email="maintainers@users.noreply.a-seed-44ea6c50.example",
    description="Detects attacks on the tunnel from counters of the proxy and the kernel",
    license="Apache-2.0",
    python_requires=">=3.10",
    entry_points={"console_scripts": ["pqc_detect = pqc_mav_detect.main:run"]},
)
