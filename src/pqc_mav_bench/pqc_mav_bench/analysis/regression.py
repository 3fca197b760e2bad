# SPDX-License-Identifier: Apache-2.0
"""Log-log regression of handshake time on message sizes (PQC-MAV paper, Eq. 5)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class LogLogFit:
    """log10(y) = intercept + sum(slopes_i * log10(x_i)), with its coefficient of determination in log space."""

    intercept: float
    slopes: tuple[float, ...]
    r_squared: float
    n: int

    def predict(self, *x: float) -> float:
        """y at positive x, in the unit of the fitted y. Raises ValueError for a wrong number of arguments."""
        if len(x) != len(self.slopes):
            raise ValueError(f"the fit has {len(self.slopes)} variables, not {len(x)}")
        return float(10 ** (self.intercept + sum(s * np.log10(v) for s, v in zip(self.slopes, x, strict=True))))


#: Eq. 5 as printed: public-key and signature bytes to handshake [ms]. It misses the paper's own tables 7 to 110 times.
PUBLISHED = LogLogFit(-1.42, (0.87, 0.31), 0.96, 4600)


def fit(y: Sequence[float], *x: Sequence[float]) -> LogLogFit:
    """Least squares in log space. Raises ValueError for fewer points than coefficients + 1 or collinear variables.

    Points that are not finite and positive in y and every x are left out.
    """
    data = np.column_stack([np.asarray(column, dtype=float) for column in (y, *x)])
    with np.errstate(invalid="ignore"):
        data = np.log10(data[np.isfinite(data).all(axis=1) & (data > 0).all(axis=1)])
    target, design = data[:, 0], np.column_stack([np.ones(len(data)), data[:, 1:]])
    if len(data) <= design.shape[1]:
        raise ValueError(f"a fit of {design.shape[1]} coefficients needs more than {len(data)} points")
    coefficients, _, matrix_rank, _ = np.linalg.lstsq(design, target, rcond=None)
    if matrix_rank < design.shape[1]:
        raise ValueError("the variables are collinear: their coefficients are not determined")
    residual = float(((target - design @ coefficients) ** 2).sum())
    total = float(((target - target.mean()) ** 2).sum())
    r_squared = 1.0 if total == 0 else 1 - residual / total
    return LogLogFit(float(coefficients[0]), tuple(float(c) for c in coefficients[1:]), r_squared, len(data))
