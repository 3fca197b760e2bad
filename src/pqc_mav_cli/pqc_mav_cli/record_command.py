# SPDX-License-Identifier: Apache-2.0
"""`pqcmav record`: writes a flight's topics to an MCAP file, and saves what a crash left of one."""

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Annotated, Any

import typer

from pqc_mav_cli.console import note
from pqc_mav_cli.errors import CliError, ExitCode
from pqc_mav_cli.wording import counted
from pqc_mav_common.process import call_in_handler

MIB = 1 << 20
REPORT_S = 10.0


def record(
    where: Annotated[Path, typer.Argument(help="File (*.mcap), or a folder for a file named after the time.")] = Path(),
    namespace: Annotated[
        list[str], typer.Option(help="Record every topic below this ROS namespace; may be repeated.")
    ] = ["drone", "gcs"],  # noqa: B006 - typer takes the default of a repeatable option as a list
    topic: Annotated[list[str] | None, typer.Option(help="Full name of a further topic; may be repeated.")] = None,
    duration: Annotated[float, typer.Option(min=0.0, help="Seconds to record; 0 = until Ctrl-C.")] = 0.0,
    min_free_mib: Annotated[
        float, typer.Option(min=0.0, help="Stop when less free space than this is left [MiB].")
    ] = 64.0,
    salvage: Annotated[
        Path | None, typer.Option(help="Do not record, but make a complete file out of this unfinished or damaged one.")
    ] = None,
) -> int:
    """Record a flight for Foxglove, 'pqcmav replay' and 'pqcmav policy compare', until Ctrl-C.

    The exit code is 1 if there was nothing to record; no file is left then.
    While recording, the file is called *.mcap.partial; even then it can be read up to the last two seconds.
    """
    from pqc_mav_recorder.file import RecordingError

    try:
        if salvage is not None:
            return _salvage(salvage, where)
        return _record(where, namespace, topic or [], duration, min_free_mib)
    except RecordingError as error:
        raise CliError(str(error), ExitCode.FAILED) from None


def _salvage(damaged: Path, where: Path) -> int:
    from pqc_mav_recorder.reader import salvage

    target, messages = salvage(damaged, None if where == Path() else where)
    print(f"{counted(messages, 'message')} of {damaged} saved in {target}")
    return 0


def _record(where: Path, namespaces: list[str], topics: list[str], duration: float, min_free_mib: float) -> int:
    from pqc_mav_cli.ros_session import ros_node

    with ros_node("pqcmav_record") as node, _interruption() as stopped:
        from pqc_mav_recorder.node import metadata
        from pqc_mav_recorder.recorder import Recorder, recording_path
        from pqc_mav_recorder.topics import TopicRecorder

        path = recording_path(where)
        made = not path.parent.exists()
        recorder = Recorder(path, metadata(namespaces), min_free_mib=min_free_mib)
        found = TopicRecorder(node, recorder, namespaces, topics, note)
        note(f"Recording to {recorder.path}; Ctrl-C stops.")
        _wait(recorder, found, stopped, duration)
    # The node is gone: whatever arrived is in the recorder's hands.
    path = recorder.stop()
    if not recorder.messages:
        _remove(path, made)
        raise CliError(_nothing(namespaces, topics))
    size = path.stat().st_size / MIB
    print(f"{_progress(recorder, found)} in {path}, {size:.1f} MiB")
    if recorder.dropped and not recorder.problem:
        note(f"{counted(recorder.dropped, 'message')} missing: the disk was too slow.")
    if recorder.problem:
        raise CliError(f"The recording ended early: {recorder.problem}")
    return 0


def _remove(path: Path, with_folder: bool) -> None:
    path.unlink()
    if with_folder:
        with suppress(OSError):  # somebody else has put something there
            path.parent.rmdir()


def _nothing(namespaces: list[str], topics: list[str]) -> str:
    from pqc_mav_cli.ros_session import reachable

    sought = ", ".join([*(f"/{name.strip('/')}/...".replace("//", "/") for name in namespaces), *topics])
    return (
        f"Nothing was published on {sought} ({reachable(os.environ)}), so there is no recording; are the proxies "
        "running, with the same ROS_DOMAIN_ID?"
    )


def _progress(recorder: Any, found: Any) -> str:
    return f"{counted(recorder.messages, 'message')} of {counted(len(found.topics), 'topic')}"


def _wait(recorder: Any, found: Any, stopped: threading.Event, duration: float) -> None:
    """Until Ctrl-C, the end of `duration` or the end of the disk; says now and then how it goes."""
    end = time.monotonic() + duration if duration else None
    report_at = time.monotonic() + REPORT_S
    while not stopped.wait(0.1) and not recorder.ended:
        now = time.monotonic()
        if end is not None and now >= end:
            return
        if now >= report_at:
            report_at = now + REPORT_S
            note(f"{_progress(recorder, found)}, {recorder.size / MIB:.1f} MiB")


@contextmanager
def _interruption() -> Iterator[threading.Event]:
    """Ctrl-C and SIGTERM as an event: the file wants to be finished before the process ends."""
    stopped = threading.Event()
    ends = (signal.SIGINT, signal.SIGTERM)
    before = {number: signal.signal(number, lambda *_: call_in_handler(stopped.set)) for number in ends}
    try:
        yield stopped
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
