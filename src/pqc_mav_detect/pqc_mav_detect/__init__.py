# SPDX-License-Identifier: Apache-2.0
"""Detectors of attacks on the tunnel: what can be seen of them, and what it means."""
