# SPDX-License-Identifier: Apache-2.0
"""What two ends on this machine need that must not be reused: a folder with fresh keys, and free ports."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import TracebackType

from pqc_mav_bringup.description import BringupError
from pqc_mav_bringup.systems import DEMO_DRONE, PORTS
from pqc_mav_common.free_ports import free_ports

PREFIX = "pqcmav-ends-"
LOCK = "in-use"  # a file that a running session holds locked; the kernel lets go of it however the session ends


class DemoSession:
    """Fills in what the arguments of a demo, or of a system like it, leave empty. A context manager, or call `close`.

    Keys are made in a temporary folder that only this user can enter, and are removed with it; those of a session that
    was killed are removed by the next one.
    """

    def __init__(
        self,
        given: Mapping[str, str],
        suites: Iterable[str] = (),
        *,
        what: str = "demo",
        drone: str = DEMO_DRONE,
        ports: Sequence[str] = PORTS,
    ) -> None:
        """`given`: argument values by name. Keys are for its suite and for `suites`; `ports` are the names of ports.

        Raises BringupError or the engine's TunnelError.
        """
        self._folder: Path | None = None
        self._lock = -1
        values = {name: value for name, value in given.items() if value != ""}
        missing = [name for name in ports if name not in values]
        try:
            values.update(zip(missing, map(str, free_ports(len(missing))), strict=True))
        except OSError as error:
            raise BringupError(f"The {what} finds no free ports: {error}.") from None
        try:
            if "keys" not in values:
                wanted = [*suites, *filter(None, [values.get("suite", "")])]
                values["keys"] = str(self._make_keys(drone, wanted))
        except BaseException:
            self.close()
            raise
        self.values: Mapping[str, str] = values

    @property
    def folder(self) -> Path:
        """Where the keys were made; it goes with them."""
        assert self._folder is not None, "the keys were given"
        return self._folder

    def close(self) -> None:
        """Removes the keys that were made. May be called more than once."""
        folder, self._folder = self._folder, None
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)
        lock, self._lock = self._lock, -1
        if lock >= 0:
            os.close(lock)

    def __enter__(self) -> DemoSession:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _make_keys(self, drone: str, suites: Iterable[str]) -> Path:
        """Makes the drone's keys, for its suites and the default suite, which a gcs insists on. Returns their root."""
        import pqc_mav_tunnel

        remove_left_over()
        self._folder = Path(tempfile.mkdtemp(prefix=PREFIX))
        self._lock = os.open(self._folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        root = self._folder / "keys"
        default = next(entry["default"] for entry in pqc_mav_tunnel.config_schema("drone") if entry["key"] == "suite")
        tokens = {pqc_mav_tunnel.find_suite(name).sig_token for name in (default, *suites)}
        pqc_mav_tunnel.init_keys(str(root), [drone], sig_tokens=sorted(tokens))
        return root


def remove_left_over() -> None:
    """Removes the keys of this user's killed sessions. One that is just beginning has no lock yet and stays."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        try:
            lock = os.open(folder / LOCK, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError:
            continue
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if folder.lstat().st_uid == os.getuid() and not folder.is_symlink():
                shutil.rmtree(folder, ignore_errors=True)
        except OSError:  # in use
            pass
        finally:
            os.close(lock)
