# SPDX-License-Identifier: Apache-2.0
"""The name by which a server is asked for: a page of the web whose name resolves to loopback must not read another."""

import re
from ipaddress import ip_address

_HEADER = re.compile(r"(?:\[([0-9a-f.]*:[0-9a-f:.]*)\]|([^:\[\]]*))(?::[0-9]*)?", re.IGNORECASE)


def canonical(name: str) -> str:
    """A host's name or address in the one form in which it is compared."""
    bare = name.strip().removeprefix("[").removesuffix("]").rstrip(".").lower()
    try:
        return str(ip_address(bare))
    except ValueError:
        return bare


def host_of(header: str) -> str:
    """The host of a Host header without its port; "" where there is none."""
    found = _HEADER.fullmatch(header.strip())
    return canonical(found[1] or found[2]) if found else ""
