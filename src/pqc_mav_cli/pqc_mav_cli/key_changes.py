# SPDX-License-Identifier: Apache-2.0
"""Renews and takes away long-term keys: files are moved and removed, none is read here. Layout: keystore.hpp.

New keys are made in a folder beside the old ones and then renamed over them, one file after the other; what an
interruption leaves half done, the same call does whole.
"""

import re
import shutil
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from pqc_mav_cli.errors import CliError, ExitCode, engine_errors
from pqc_mav_cli.joining.channel import fleeting
from pqc_mav_cli.joining.share import NAME
from pqc_mav_common.atomic_file import alone

GCS = "gcs"  # stands for the ground station, where a drone's id could be
_QUICKEST = "mldsa44"  # a pair that has to be made and is thrown away


@contextmanager
def alone_in(root: Path) -> Iterator[None]:
    """No other command makes or takes away keys below `root`, which may be new. Raises CliError."""
    with ExitStack() as stack:
        try:
            root.mkdir(mode=0o700, parents=True, exist_ok=True)
            stack.enter_context(alone(root))
        except (FileExistsError, NotADirectoryError):
            raise CliError(f"There can be no folder {root}: a file of that name is in the way.") from None
        except OSError as error:
            raise CliError(f"{root} cannot be written: {error.strerror}.") from None
        yield


def grounds(root: Path) -> list[Path]:
    """The folders of the ground stations, below a root: of several each in `stations`, and `gcs`.

    `gcs` can be beside the others: keys made before for a single station stay good.
    """
    several = [Path("stations") / name for name in stations_of(root)]
    return [*several, Path(GCS)] if not several or (root / GCS).is_dir() else several


def grounds_of(root: Path, drone: str) -> list[Path]:
    """Those that know a drone; all if none does."""
    every = grounds(root)
    return [ground for ground in every if (root / ground / "psk" / f"{drone}.key").exists()] or every


def ground_of(root: Path, gcs_id: str) -> Path:
    """Of one ground station, which a root of a single one need not name. Raises CliError if it is not there."""
    several = grounds(root)
    names = [ground.name for ground in several]
    if several != [Path(GCS)] and gcs_id not in names:
        raise CliError(
            f"{root} holds keys of several ground stations: choose one of {', '.join(names)} with --gcs-id.",
            ExitCode.USAGE,
        )
    return several[names.index(gcs_id)] if gcs_id in names else Path(GCS)


def stations_of(root: Path) -> list[str]:
    """Ids of several ground stations, where there are such."""
    return sorted(path.name for path in (root / "stations").glob("*") if path.is_dir())


def rotate_drone(root: Path, drone: str, gcs_id: str) -> list[str]:
    """A new PSK for a drone, and new signing key pairs where it has some here. Returns their algorithms."""
    require_drone(root, drone)
    signing = tokens(root / "drones" / drone / "sig")
    knowing = grounds_of(root, drone)
    _complete(root, drone, gcs_id, knowing)
    own = Path("drones") / drone / "psk.key"
    with _made(root, [drone], signing or [_QUICKEST], bool(signing), gcs_id, knowing) as made:
        changed = [ground / "psk" / f"{drone}.key" for ground in knowing]
        for token in signing:
            changed += [Path("drones") / drone / "sig" / name for name in _pair(token)]
            changed += [ground / "drones" / drone / f"{token}.pub" for ground in knowing]
        # Without the old one, what an interruption leaves contradicts nothing, and the same call passes _complete.
        _put(((made / file, root / file) for file in (*changed, own)), gone_before=root / own)
    return signing


def signs_elsewhere(root: Path, drone: str) -> bool:
    """Whether a drone has signing keys that are not in its share here, as after 'pqcmav join'."""
    public = (file for ground in grounds(root) for file in (root / ground / "drones" / drone).glob("*.pub"))
    return any(public) and not tokens(root / "drones" / drone / "sig")


def rotate_gcs(root: Path, wanted: Iterable[str], gcs_id: str = GCS) -> list[str]:
    """New signing key pairs of the ground station, of these algorithms or of all it has. Returns the algorithms.

    `gcs_id` says which one of several.
    """
    ground = ground_of(root, gcs_id)
    at_drones = Path(GCS) if ground == Path(GCS) else Path(GCS) / gcs_id
    there = tokens(root / ground / "sig")
    chosen = list(dict.fromkeys(wanted)) or there
    if missing := [token for token in chosen if token not in there]:
        raise CliError(
            f"{root / ground / 'sig'} has no key pair of {missing[0]}; 'pqcmav keys init --sig {missing[0]}' makes "
            "one.",
            ExitCode.USAGE,
        )
    if not chosen:
        raise CliError(f"{root} holds no signing keys of a gcs; 'pqcmav keys init DRONE' makes some.", ExitCode.USAGE)
    shares = [drone for drone in drones_of(root) if (root / "drones" / drone).is_dir()]
    drones = [drone for drone in shares if ground in grounds_of(root, drone)]
    with _made(root, drones, chosen, False, GCS, [ground]) as made:
        # The drones' halves first: until the pair is in its place too, each side still has something to be told by.
        halves = [Path("drones") / drone / at_drones / f"{token}.pub" for drone in drones for token in chosen]
        pairs = [ground / "sig" / name for token in chosen for name in _pair(token)]
        _put((made / file, root / file) for file in (*halves, *pairs))
    return chosen


def revoke(root: Path, drone: str) -> list[Path]:
    """Removes everything of a drone: what the ground station knows it by first. Returns what was removed."""
    require_drone(root, drone)
    at_grounds = [root / ground for ground in grounds(root)]
    places = [each for ground in at_grounds for each in (ground / "psk" / f"{drone}.key", ground / "drones" / drone)]
    places.append(root / "drones" / drone)
    removed = [place for place in places if place.exists()]
    try:
        for place in removed:
            if place.is_dir() and not place.is_symlink():
                shutil.rmtree(place)
            else:
                place.unlink()
    except OSError as error:
        raise CliError(f"Not all keys of {drone} could be removed: {error}. Run this again.") from None
    return removed


def require_drone(root: Path, drone: str) -> None:
    """Raises CliError unless there are keys of this drone."""
    known = drones_of(root)
    if drone not in known:
        listed = f"there are {', '.join(known)}" if known else "there are none"
        raise CliError(f"{root} holds no keys of a drone '{drone}'; {listed}.", ExitCode.USAGE)


def drones_of(root: Path) -> list[str]:
    """Ids of all drones that have something below a root."""
    at_grounds = [root / ground for ground in grounds(root)]
    found = {path.stem for ground in at_grounds for path in (ground / "psk").glob("*.key")}
    folders = [root / "drones", *(ground / "drones" for ground in at_grounds)]
    found |= {path.name for folder in folders for path in folder.glob("*")}
    return sorted(name for name in found if re.fullmatch(NAME, name))  # no copy of somebody's, no unfinished share


def tokens(folder: Path) -> list[str]:
    """Algorithms of the key pairs in a folder."""
    return sorted(path.stem for path in folder.glob("*.key"))


def _complete(root: Path, drone: str, gcs_id: str, knowing: list[Path]) -> None:
    """Makes what a drone's share lacks here, so that it can be exported.

    Raises CliError where its PSK was made for another gcs_id: a new one for this would lock the drone out.
    """
    import pqc_mav_tunnel

    for ground in knowing:
        if not (there := tokens(root / ground / "sig")):
            continue  # init_keys would make pairs of all algorithms
        try:
            with engine_errors():
                pqc_mav_tunnel.init_keys(str(root), [drone], sig_tokens=there, gcs_id=gcs_id, stations=_station(ground))
        except CliError as error:
            hint = " --gcs-id is for a ground station of another name." if ground == Path(GCS) else ""
            raise CliError(f"{error} Nothing was replaced.{hint}", error.exit_code) from None


def _station(ground: Path) -> list[str]:
    """As init_keys takes it: none for `gcs`."""
    return [] if ground == Path(GCS) else [ground.name]


def _pair(token: str) -> tuple[str, str]:
    return f"{token}.key", f"{token}.pub"


@contextmanager
def _made(root: Path, drones: list[str], sig: list[str], sign: bool, gcs_id: str, at: list[Path]) -> Iterator[Path]:
    """Fresh keys of these grounds in a folder of their own below `root`; what is left in the end is removed."""
    import pqc_mav_tunnel

    with ExitStack() as stack:
        try:
            folder = stack.enter_context(fleeting(root, ".rotate-"))
        except OSError as error:
            raise CliError(f"{root} cannot be written: {error.strerror}.") from None
        for ground in at:  # the drones' own keys are those of the first call, each time
            with engine_errors():
                pqc_mav_tunnel.init_keys(
                    str(folder), drones, sig_tokens=sig, drone_signatures=sign, gcs_id=gcs_id, stations=_station(ground)
                )
        yield folder


def _put(files: Iterable[tuple[Path, Path]], gone_before: Path | None = None) -> None:
    pairs = list(files)
    try:
        for new, old in pairs:  # the first of them must not go its way if a later one cannot
            there = next(parent for parent in old.parents if parent.exists())
            if there.stat().st_dev != new.stat().st_dev:
                raise CliError(f"{there} is on another file system than its root; keep both on one. Nothing changed.")
        if gone_before:
            gone_before.unlink(missing_ok=True)
        for new, old in pairs:
            old.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            new.replace(old)
    except OSError as error:
        raise CliError(f"Not all keys could be replaced: {error}. Run this again.") from None
