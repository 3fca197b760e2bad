# SPDX-License-Identifier: Apache-2.0
"""The PQC-MAV engine for Python: the tunnel itself, the suite registry, long-term keys and the wire codec.

Everything is implemented in C++ (``_engine``); packets never pass through Python. Where that module is not installed, as in
the Debian package of the command, what needs no tunnel of its own is still here (``_calls``).
"""

from . import _calls
from ._calls import *  # noqa: F403 - the names of its __all__

__all__ = [*_calls.__all__]

if not _calls.BY_PROGRAM:
    from . import _engine
    from ._engine import *  # noqa: F403 - the names of its stub

    __all__ += [name for name in vars(_engine) if not name.startswith("_") and name not in __all__ and name != "call"]
