# SPDX-License-Identifier: Apache-2.0
"""Checked data: pydantic 2 where it is installed, and pydantic 1 of Ubuntu 24.04 under the same names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import VERSION

if TYPE_CHECKING or not VERSION.startswith("1."):
    from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator
else:
    from pqc_mav_bench.models_pydantic1 import BaseModel, ConfigDict, Field, ValidationError, field_validator

__all__ = ["BaseModel", "ConfigDict", "Field", "ValidationError", "field_validator"]
