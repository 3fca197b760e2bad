# SPDX-License-Identifier: Apache-2.0
"""A page that shows one drone or a fleet, live or from a recording, served on loopback."""
