# SPDX-License-Identifier: Apache-2.0
"""A figure of matplotlib that becomes a PNG file, whole or not at all."""

from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

from pqc_mav_cli.errors import CliError
from pqc_mav_common.atomic_file import atomic_write

DPI = 110


@contextmanager
def picture(path: Path, rows: int, columns: int, **options: Any) -> Iterator[tuple[Any, Any]]:
    """Figure and axes, as `pyplot.subplots` makes them, written to `path` in the end. Raises CliError."""
    try:
        import matplotlib

        matplotlib.use("Agg")
        from matplotlib import pyplot
    except ImportError as error:
        raise CliError(f"The plot needs matplotlib ({error}); 'make setup' installs it.") from None
    figure, axes = pyplot.subplots(rows, columns, **options)
    try:
        yield figure, axes
        drawn = BytesIO()
        figure.savefig(drawn, dpi=DPI, format="png")
        path.parent.mkdir(parents=True, exist_ok=True)
        atomic_write(path, drawn.getvalue())
    except OSError as error:
        raise CliError(f"The plot {path} cannot be written: {error.strerror}.") from None
    finally:
        pyplot.close(figure)
