# SPDX-License-Identifier: Apache-2.0
"""``python src/pqc_mav_bench/test/recomputed`` prints which published figures follow from others, and why not."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from recomputed.document import render

print(render(), end="")
