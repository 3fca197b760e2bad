# SPDX-License-Identifier: Apache-2.0
"""Training of the table that the strategies rl and hybrid fly."""
