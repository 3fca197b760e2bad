# SPDX-License-Identifier: Apache-2.0
"""`POST /api/actions/NAME`: what steers aircraft. Token first, then the body, then whether it is possible."""

import json
import logging
import re
from collections.abc import Mapping
from typing import Any

from starlette.requests import Request

from pqc_mav_dashboard.errors import RefusalError
from pqc_mav_dashboard.hub import Hub
from pqc_mav_dashboard.source import ACTIONS
from pqc_mav_dashboard.token import HEADER, Token

LONGEST = 4096  # bytes of a body
LOG = logging.getLogger(__name__)
# The arguments of each action besides `drone`, and what they may look like.
_NAME = re.compile(r"[A-Za-z0-9._-]{0,64}")
FIELDS: Mapping[str, Mapping[str, re.Pattern[str]]] = {
    "rekey": {"suite": _NAME, "kind": re.compile(r"(ratchet)?")},
    "pin": {"suite": _NAME},
    "mode": {"mode": re.compile(r"auto|hold|manual")},
    "station": {"gcs_id": _NAME},
}
_DRONE = re.compile(r"[a-z0-9_-]{1,32}")


async def body_of(request: Request) -> bytes:
    """At most LONGEST bytes. Raises RefusalError for more, before they are read."""
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > LONGEST:
            raise RefusalError("too_long", f"The body of an action has at most {LONGEST} bytes.")
        parts.append(part)
    return b"".join(parts)


def arguments_of(action: str, body: bytes) -> tuple[str, dict[str, str]]:
    """The drone and the arguments. Raises RefusalError."""
    try:
        given = json.loads(body)
    except (ValueError, RecursionError):
        given = None
    if not isinstance(given, dict) or not all(isinstance(value, str) for value in given.values()):
        raise RefusalError("bad_request", "The body of an action is a JSON object of texts.")
    drone = given.pop("drone", "")
    if not _DRONE.fullmatch(drone):
        raise RefusalError("bad_request", "'drone' must be the id of a drone: 1-32 characters of a-z, 0-9, _ and -.")
    for name, value in given.items():
        pattern = FIELDS[action].get(name)
        if pattern is None:
            raise RefusalError("bad_request", f"'{action}' has no '{name[:32]}'.")
        if not pattern.fullmatch(value):
            raise RefusalError("bad_request", f"'{name}' is not good: '{value[:32]}'.")
    if action == "mode" and "mode" not in given:
        raise RefusalError("bad_request", "'mode' must be auto, hold or manual.")
    return drone, given


async def act(request: Request, hub: Hub, token: Token) -> dict[str, Any]:
    """Does what is asked. Raises RefusalError."""
    token.check(request.headers.get(HEADER))
    action = request.path_params["action"]
    if action not in ACTIONS:
        raise RefusalError("no_such_action", f"There is no action '{action[:32]}'; there are {', '.join(ACTIONS)}.")
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise RefusalError("bad_request", "The body of an action is JSON: Content-Type: application/json.")
    drone, arguments = arguments_of(action, await body_of(request))
    if not hub.working:
        raise RefusalError("not_possible", "Open the page first: nothing is looked at while nobody looks.")
    # Viewers may look at others.
    picture = await hub.source.picture(frozenset({drone}))
    why_not = hub.source.actions(drone, picture).get(action, "It is not possible here.")
    if why_not:
        raise RefusalError("not_possible", why_not)
    token.spend()
    LOG.warning("action %s for %s: %s", action, drone, arguments or "no arguments")
    return {"ok": True, "text": await hub.source.act(action, drone, arguments)}
