# SPDX-License-Identifier: Apache-2.0
"""What measures one side of a run; the same collectors run on both sides."""
