# SPDX-License-Identifier: Apache-2.0
"""Makes the benchmark's modules importable."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
