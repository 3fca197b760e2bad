# SPDX-License-Identifier: Apache-2.0
"""`pqcmav doctor --security`: the users of this machine that can read or replace keys, change configurations, or steer
an end."""

from collections.abc import Container, Iterable, Iterator, Mapping
from pathlib import PurePosixPath

from pqc_mav_cli.doctor.ends import allows_remote, settings
from pqc_mav_cli.doctor.finding import Finding, Level, fail, ok, warn
from pqc_mav_cli.doctor.tree import State, Tree
from pqc_mav_cli.wording import counted

SYSTEM_KEYS, SYSTEM_CONFIGURATION = "/etc/pqcmav/keys", "/etc/pqcmav"
# SP 800-57 part 1, table 1: one to two years for a symmetric key from which others are made.
OLD_DAYS = 365
_DAY_S = 86_400
# Their members are root in all but name: they mount the root, read the disk, or start containers that do.
AS_ROOT = ("disk", "docker", "lxd", "incus-admin", "libvirt", "shadow")
_DEPTH = 4  # of folders of keys: stations/<id>/drones/<id>


def files_below(tree: Tree, folder: str, suffixes: tuple[str, ...], depth: int = _DEPTH) -> Iterator[str]:
    """Paths with one of these endings."""
    for name in tree.names(folder):
        path = f"{folder}/{name}"
        if name.endswith(suffixes):
            yield path
        elif depth and not tree.at(path).is_symlink():
            yield from files_below(tree, path, suffixes, depth - 1)


def _who(tree: Tree, state: State, bits: int, trusted: set[int]) -> str:
    """Whom `bits` (0o4 read, 0o2 write) of a mode let in besides root and the trusted, in words; empty: nobody."""
    if state.uid not in {0, *trusted}:
        return tree.user(state.uid)
    if state.mode & bits:
        return "every user"
    if state.mode & bits << 3 and (others := tree.others_in(state, trusted)):
        return f"{', '.join(others)} (group {tree.group(state.gid)})"
    return ""


def _changed_by(tree: Tree, path: str, trusted: set[int]) -> Finding | None:
    """Of a file or folder and the folders above: the first that others can write to."""
    for at in (path, *tree.way_to(path)):
        state = tree.state(at)
        if state.folder and state.mode & 0o1000 and at != path:
            continue  # sticky, as /tmp is
        if who := _who(tree, state, 0o2, trusted):
            what = (
                f"{at} can be changed by {who}" if at == path else f"{at} can be changed by {who}, and with it {path}"
            )
            cure = f"chown root {at}" if state.uid not in {0, *trusted} else f"chmod go-w {at}"
            return fail("", what, cure)
    return None


def keys(tree: Tree, folder: str, users: set[int], now_s: float) -> list[Finding]:
    """The key files below a folder, for the engines that run as `users`; with none running, for the folder's owner."""
    if not tree.at(folder).exists():
        return []
    try:
        trusted = users or {tree.state(folder).uid}
        paths = list(files_below(tree, folder, (".key", ".pub")))
        found: dict[str, Finding] = {}
        for path in paths:
            if path.endswith(".key") and (who := _who(tree, tree.state(path), 0o4, trusted)):
                mode = tree.state(path).mode
                cure = f"chown {tree.user(min(trusted))} {path}" if not mode & 0o077 else f"chmod 600 {path}"
                finding: Finding | None = fail("keys", f"{path} (mode {mode:04o}) can be read by {who}", cure)
            else:
                finding = _changed_by(tree, path, trusted)
            if finding:
                found.setdefault(finding.remedy, Finding("keys", Level.FAIL, finding.text, finding.remedy))
        ages = {path: now_s - tree.state(path).written_s for path in paths if path.endswith(".key")}
    except OSError as error:
        return [warn("keys", f"{folder} cannot be looked at: {error.strerror}", "run this as root")]
    if not paths:
        return []
    names = " and ".join(tree.user(uid) for uid in sorted({0, *trusted}))
    return [
        *(
            found.values()
            or [ok("keys", f"{counted(len(paths), 'file')} in {folder}: only {names} can read or change them")]
        ),
        *([age(ages)] if ages else []),
    ]


def age(ages_s: Mapping[str, float]) -> Finding:
    """Of the secret key that was written first. A copy counts from when it was made, unless it kept its time."""
    path, age_s = max(ages_s.items(), key=lambda item: item[1])
    text = f"{path} was written {counted(int(age_s // _DAY_S), 'day')} ago"
    if age_s < -_DAY_S:
        return warn("key age", f"{path} was written in the future: the clock is wrong", "set the clock")
    if age_s > OLD_DAYS * _DAY_S:
        return warn("key age", f"{text}, more than a year", _renewal(PurePosixPath(path), ages_s))
    return ok("key age", text)


def _renewal(path: PurePosixPath, beside: Container[str]) -> str:
    if path.name == "restart.key":
        return "remove it: the next start makes another"
    if path.name == "psk.key" or f"{path.parent.parent}/psk.key" in beside:
        return "at the ground station 'pqcmav keys rotate DRONE', then bring this drone its share"
    return f"'pqcmav keys rotate {'gcs' if path.parent.name == 'sig' else path.stem}'"


def configurations(tree: Tree, files: Mapping[str, set[int]]) -> Iterator[Finding]:
    """The files that say which keys count and where plaintext goes, each with the users of the ends that read it."""
    good = []
    for path, users in files.items():
        try:
            finding = _changed_by(tree, path, users)
        except OSError as error:
            yield warn("configuration", f"{path} cannot be looked at: {error.strerror}", "run this as root")
            continue
        if finding:
            yield Finding("configuration", Level.FAIL, finding.text, finding.remedy)
        elif allows_remote(settings(tree.text(path))):
            yield warn(
                "configuration",
                f"{path} sets 'plain_allow_remote': whoever reaches that address commands the vehicle in plaintext",
                "turn it off and bind plaintext to 127.0.0.1",
            )
        else:
            good.append(path)
    if good:
        yield ok("configuration", f"{', '.join(good)}: only root or the end's own user can change it")


def control_sockets(tree: Tree, folders: Iterable[str], users: set[int]) -> Iterator[Finding]:
    """Who sees and steers the ends."""
    for folder in folders:
        for path in files_below(tree, folder, (".sock",), 0):
            try:
                state = tree.state(path)
            except OSError as error:
                yield warn("control socket", f"{path} cannot be looked at: {error.strerror}", "run this as root")
                continue
            if state.mode & 0o002:
                yield fail("control socket", f"{path} lets every user steer the tunnel", f"chmod 0660 {path}")
                continue
            others = tree.others_in(state, users or {state.uid}) if state.mode & 0o020 else []
            names = ", ".join(dict.fromkeys(["root", tree.user(state.uid), *others]))
            group = f" (group {tree.group(state.gid)})" if others else ""
            yield ok("control socket", f"{path}: seen and steered by {names}{group} alone")


def nearly_root(tree: Tree, users: set[int]) -> Iterator[Finding]:
    """Members of groups that get around every mode."""
    for name in AS_ROOT:
        gid = tree.gid_of(name)
        members = tree.others_in(State(0, 0, gid, 0.0, folder=False), users) if gid is not None else []
        if members:
            yield warn(
                "groups",
                f"{', '.join(members)} can read every key: the group {name} is root in all but name",
                f"gpasswd -d {members[0]} {name}, unless that is intended",
            )
