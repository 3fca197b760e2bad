# SPDX-License-Identifier: Apache-2.0
"""The cascade: nine rules in strict order."""
