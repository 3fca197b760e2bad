# SPDX-License-Identifier: Apache-2.0
"""Simulated serial telemetry radios: what their firmware does with bytes, the air between them, pseudo terminals."""
