# SPDX-License-Identifier: Apache-2.0
"""What the drone and its link report, as one snapshot per decision."""
