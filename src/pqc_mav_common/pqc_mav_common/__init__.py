# SPDX-License-Identifier: Apache-2.0
"""What the nodes of PQC-MAV share: process frame, parameters, configuration files, QoS, diagnostics. No engine."""
