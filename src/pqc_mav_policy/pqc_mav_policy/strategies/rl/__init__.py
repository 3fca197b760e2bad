# SPDX-License-Identifier: Apache-2.0
"""The learned strategy: a trained table within a safe set."""
