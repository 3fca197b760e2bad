# SPDX-License-Identifier: Apache-2.0
"""The report of a campaign: one self-contained page with every chart and table, each explained from its own numbers."""

from pqc_mav_bench.report.build import Written, compare, report
from pqc_mav_bench.report.report_input import ReportError

__all__ = ["ReportError", "Written", "compare", "report"]
