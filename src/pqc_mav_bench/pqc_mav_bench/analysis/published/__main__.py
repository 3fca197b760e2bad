# SPDX-License-Identifier: Apache-2.0
"""``python -m pqc_mav_bench.analysis.published`` prints which published figures follow from others, and why not."""

from pqc_mav_bench.analysis.published.document import render

print(render(), end="")
