# SPDX-License-Identifier: Apache-2.0
"""What the detectors are worth: recordings that no threshold and no model has seen, judged and written as a page."""
