# SPDX-License-Identifier: Apache-2.0
"""The strategies: each folder holds one, with its parameters and data."""
