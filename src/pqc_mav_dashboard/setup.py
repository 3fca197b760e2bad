# SPDX-License-Identifier: Apache-2.0
"""Installs the dashboard."""

from setuptools import find_packages, setup

PACKAGE = "pqc_mav_dashboard"

setup(
    name=PACKAGE,
    version="0.2.0",
    packages=find_packages(exclude=["test"]),
    package_data={
        PACKAGE: [
            "py.typed",
            *("static/*.html", "static/*.css", "static/*.svg", "static/js/*.js"),
            *("static/vendor/uplot/*.js", "static/vendor/uplot/*.css", "static/vendor/uplot/LICENSE"),
        ]
    },
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{PACKAGE}"]),
        (f"share/{PACKAGE}", ["package.xml"]),
    ],
    install_requires=["setuptools"],
    extras_require={"serve": ["starlette", "uvicorn", "websockets"], "test": ["pytest"]},
    zip_safe=False,
    maintainer="PQC-MAV maintainers",
    maintainer_email="maintainers@users.noreply.a-seed-44ea6c50.example",
    description="A page that shows one drone or a fleet, live or from a recording",
    license="Apache-2.0",
    python_requires=">=3.10",
)
