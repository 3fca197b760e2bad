# SPDX-License-Identifier: Apache-2.0
"""The report's sections, a function each; `report/contents.py` puts them in order."""
