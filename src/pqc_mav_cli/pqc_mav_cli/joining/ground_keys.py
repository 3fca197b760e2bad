# SPDX-License-Identifier: Apache-2.0
"""What an invitation reads and writes of the ground's keys."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from pqc_mav_cli.errors import CliError, ExitCode, engine_errors
from pqc_mav_cli.joining.channel import in_memory
from pqc_mav_cli.joining.share import Share, check_files, read_folder, write_folder
from pqc_mav_cli.key_changes import GCS, alone_in, ground_of, grounds, stations_of, tokens
from pqc_mav_common.atomic_file import atomic_write
from pqc_mav_common.local_socket import Control

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


def station_folder(root: Path, gcs_id: str) -> Path:
    """The folder of this ground station below a root. Raises CliError where others have theirs there."""
    return root / ground_of(root, gcs_id)


def make(root: Path, drones: list[str], gcs_id: str) -> None:
    """Makes what is missing for these drones; what is there stays. Raises CliError."""
    import pqc_mav_tunnel

    folder = station_folder(root, gcs_id)
    stations = [] if folder == root / GCS else stations_of(root)
    with alone_in(root), engine_errors():
        pqc_mav_tunnel.init_keys(str(root), drones, sig_tokens=tokens(folder / "sig"), gcs_id=gcs_id, stations=stations)


def share_of(root: Path, drone: str, gcs_id: str, peer: str, sign: bool) -> Share:
    """What the drone is given. It makes its signing keys itself, with `sign` or where it has made some before."""
    import pqc_mav_tunnel

    folder, ground = root / "drones" / drone, station_folder(root, gcs_id)
    if not (folder / "psk.key").exists():
        raise CliError(
            f"{folder} has no PSK that could be handed out, for {drone} has one already; 'pqcmav keys rotate {drone}' "
            "makes a new one.",
            ExitCode.USAGE,
        )
    with engine_errors():
        entries = pqc_mav_tunnel.list_keys(str(folder))
    if problems := [entry["problem"] for entry in entries if entry["problem"]]:
        raise CliError(problems[0], ExitCode.USAGE)
    files = read_folder(folder)
    check_files(files)
    signs = sign or any((ground / "drones" / drone).glob("*.pub"))
    brings = any(name.startswith("sig/") for name in files)
    return Share(drone, peer, tuple(tokens(ground / "sig")) if signs and not brings else (), files)


def keep_public(root: Path, drone: str, public: Mapping[str, str]) -> None:
    """The drone's public keys take the place of those it had: from then on it has to sign. Raises CliError."""
    if not public:
        return
    with in_memory() as checked:
        write_folder(public, checked, drone)
    try:
        for ground in grounds(root):
            for name, text in public.items():
                write_key(root / ground, Path("drones") / drone / Path(name).name, text)
    except OSError as error:
        raise CliError(f"The drone's public keys cannot be written: {error}.") from None


def read_by(control: Control) -> Path:
    """The folder of keys of a running ground station. It stays relative if this user may not see to what."""
    keys = Path(control.ask("config")["config"]["keys"]).expanduser()
    with suppress(OSError):
        return Path(f"/proc/{control.process}/cwd").readlink() / keys
    return keys


def read_elsewhere(running: Path, keys: Path) -> str:
    """Why keys that are written to `keys` count for nothing. Empty also for what only a container sees."""
    if not running.is_absolute() or not os.access(running, os.X_OK) or (keys.exists() and running.samefile(keys)):
        return ""
    return f"The ground station reads its keys from {running}, not from {keys} (--gcs-keys)."


def copied_to(ground: Path, running: Path | None) -> Path | None:
    """The folder to which what is made in `ground` is copied: the one that a ground station reads, if it is another."""
    other = running.expanduser() if running else None
    return None if other is None or other.resolve() == ground.resolve() else other


def check_running(ground: Path, running: Path) -> None:
    """Raises CliError unless what is made in `ground` may be copied to the folder that the ground station reads."""
    if not os.access(running, os.R_OK | os.W_OK | os.X_OK):
        raise CliError(
            f"{running} cannot be written by this user; run this with sudo, or name by --gcs-keys the folder that your "
            "own ground station reads."
        )
    for there in (running / "sig").glob("*.pub"):
        here = ground / "sig" / there.name
        if not here.exists() or here.read_bytes() != there.read_bytes():
            raise CliError(
                f"The ground station reads {running}, whose signing keys are not those of {ground}: name by --root the "
                "folder where its keys were made.",
                ExitCode.USAGE,
            )


def hand_over(ground: Path, running: Path, drone: str) -> None:
    """Makes a drone's PSK and public keys those of `ground`, and copies missing signing keys. Raises CliError."""
    public = Path("drones") / drone
    wanted = [Path("psk") / f"{drone}.key", *(public / path.name for path in sorted((ground / public).glob("*.pub")))]
    signing = [Path("sig") / path.name for path in sorted((ground / "sig").iterdir())]
    wanted += [name for name in signing if not (running / name).exists()]
    try:
        for name in wanted:
            write_key(running, name, (ground / name).read_text("ascii"))
        if (running / public).exists():
            with _folder(running, public) as (folder, _):
                for old in os.listdir(folder):  # noqa: PTH208 - one too many locks out who has not its other half
                    if old.endswith(".pub") and public / old not in wanted:
                        os.unlink(old, dir_fd=folder)
    except OSError as error:
        raise CliError(f"The keys cannot be copied to {running}: {error}.") from None


def write_key(top: Path, name: Path, text: str) -> None:
    """A key below a folder, whose owner owns it."""
    with _folder(top, name.parent) as (folder, owner):
        atomic_write(Path(name.name), text, mode=0o600, owner=owner, folder=folder)


@contextmanager
def _folder(top: Path, below: Path) -> Iterator[tuple[int, os.stat_result]]:
    """A folder, made if need be, and `top`'s owner. No link below is followed: root's rights are not that owner's."""
    folder = os.open(top, _FOLDER)
    try:
        owner = os.fstat(folder)
        for part in below.parts:
            made = False
            with suppress(FileExistsError):
                os.mkdir(part, 0o700, dir_fd=folder)
                made = True
            outer, folder = folder, os.open(part, _FOLDER | os.O_NOFOLLOW, dir_fd=folder)
            os.close(outer)
            if made and os.geteuid() == 0:
                os.fchown(folder, owner.st_uid, owner.st_gid)
        yield folder, owner
    finally:
        os.close(folder)
