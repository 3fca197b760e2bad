# SPDX-License-Identifier: Apache-2.0
"""The hybrid: the expert decides, the learned table breaks its ties."""
