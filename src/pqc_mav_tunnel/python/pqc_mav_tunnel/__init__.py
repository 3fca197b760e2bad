# SPDX-License-Identifier: Apache-2.0
"""The PQC-MAV engine for Python: the tunnel itself, the suite registry, long-term keys and primitives.

Everything is implemented in C++ (``_engine``); packets never pass through Python. If that module is not installed, as
in the Debian package of the command, the calls that need no tunnel are still here (``_calls``), and an ``Engine`` for
short sessions (``_program``).
"""

from typing import TYPE_CHECKING

from . import _calls
from ._calls import *  # noqa: F403 - the names of its __all__

__all__ = [*_calls.__all__]

if TYPE_CHECKING or not _calls.BY_PROGRAM:
    from . import _engine
    from ._engine import *  # noqa: F403 - the names of its stub

    __all__ += [name for name in vars(_engine) if not name.startswith("_") and name not in __all__ and name != "call"]
else:
    from ._program import Engine

    __all__ += [Engine.__name__]
