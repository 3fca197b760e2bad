# SPDX-License-Identifier: Apache-2.0
"""A drone fetches its keys by one line: `pqcmav invite` at the ground, `pqcmav join` on the drone (docs/joining.md)."""
