# SPDX-License-Identifier: Apache-2.0
"""The detector that flies: sums of surplus, one per channel, with thresholds learned from normal traffic only."""
