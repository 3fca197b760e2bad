# SPDX-License-Identifier: Apache-2.0
"""A second analysis of a campaign, which shares no code with the first."""
