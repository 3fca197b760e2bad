# SPDX-License-Identifier: Apache-2.0
"""Installs the benchmark's nodes and library."""

from setuptools import find_packages, setup

PACKAGE = "pqc_mav_bench"

setup(
    name=PACKAGE,
    version="0.2.0",
    packages=find_packages(exclude=["test", "test.*"]),
    package_data={
        PACKAGE: ["py.typed"],
        f"{PACKAGE}.analysis": ["published/data/*"],
        f"{PACKAGE}.report": ["assets/*"],
        f"{PACKAGE}.schema": ["metrics.csv"],
    },
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{PACKAGE}"]),
        (f"share/{PACKAGE}", ["package.xml"]),
        (f"share/{PACKAGE}/launch", ["launch/benchmark.launch.py"]),
    ],
    install_requires=["setuptools", "numpy", "pandas", "psutil", "pyarrow", "pydantic", "matplotlib"],
    extras_require={"test": ["pytest", "hypothesis"]},
    zip_safe=True,
    maintainer="PQC-MAV maintainers",
    maintainer_email="maintainers@users.noreply.a-seed-44ea6c50.example",
    description="Benchmark controller and agent, metrics schema, analysis and report",
    license="Apache-2.0",
    python_requires=">=3.10",
    entry_points={
        "console_scripts": [
            "pqc_bench_controller = pqc_mav_bench.process_main:run_controller",
            "pqc_bench_agent = pqc_mav_bench.process_main:run_agent",
        ]
    },
)
