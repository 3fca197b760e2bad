# SPDX-License-Identifier: Apache-2.0
"""`pqcmav doctor --security`: who and what on this machine stands between an attacker and the keys."""

import time
from collections.abc import Mapping
from pathlib import Path

from pqc_mav_cli.doctor import ends, kernel, secrets
from pqc_mav_cli.doctor.finding import Finding, warn
from pqc_mav_cli.doctor.tree import Tree
from pqc_mav_common.local_socket import folders


def checks(tree: Tree, keys: Path, environment: Mapping[str, str], now_s: float | None = None) -> list[Finding]:
    """Everything; `keys` is looked at beside the folders of running ends and the system's own."""
    now_s = time.time() if now_s is None else now_s
    running = ends.running(tree)
    engines = [end for end in running if end.engine]
    key_folders: dict[str, set[int]] = {str(keys): set(), secrets.SYSTEM_KEYS: set()}
    files: dict[str, set[int]] = {
        path: set() for path in secrets.files_below(tree, secrets.SYSTEM_CONFIGURATION, (".yaml",))
    }
    for end in engines:
        for folder in end.keys:
            key_folders.setdefault(folder, set()).add(end.uid)
        for path in end.files:
            files.setdefault(path, set()).add(end.uid)
    users = {end.uid for end in engines}
    domain = environment.get("ROS_DOMAIN_ID", "0")

    of_keys = [finding for folder, of in key_folders.items() for finding in secrets.keys(tree, folder, of, now_s)]
    found = of_keys or [warn("keys", f"there are none in {' or '.join(key_folders)}", "--keys names another folder")]
    found += [
        warn("keys", f"{end}: not all files that it reads can be seen here", "run this as root; --keys names a folder")
        for end in engines
        if not end.known
    ]
    found += secrets.configurations(tree, files)
    found += secrets.control_sockets(tree, map(str, folders(environment)), users)
    found += secrets.nearly_root(tree, users)
    found += ends.checks(tree, running, bool(kernel.open_swap(tree)), int(domain) if domain.isdigit() else 0)
    return found + kernel.checks(tree)
