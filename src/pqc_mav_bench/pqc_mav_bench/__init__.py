# SPDX-License-Identifier: Apache-2.0
"""The suite benchmark of PQC-MAV: campaigns over cipher suites, their metrics, analysis and report."""
