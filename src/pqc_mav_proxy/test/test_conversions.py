# SPDX-License-Identifier: Apache-2.0
"""The engine's table of fields and the messages say the same, and the one fills the other."""

import json
import math
import re
from collections.abc import Iterator
from pathlib import Path

import pqc_mav_tunnel
import pytest
from ament_index_python import get_package_share_directory
from pqc_mav_interfaces.msg import HandshakeReport, LinkQuality, ServerStats, SuiteInfo, TunnelStats, TunnelStatus
from pqc_mav_interfaces.srv import Rekey
from std_msgs.msg import Header

from pqc_mav_common.testing_proxies import gcs_parameters
from pqc_mav_proxy.conversions import answered, message_of
from pqc_mav_proxy.names import STATES, state_name

SCHEMA = pqc_mav_tunnel.picture_schema()
FIELD = re.compile(r"^(?P<type>[\w/\[\]]+)\s+(?P<name>[a-z]\w*)\s*#\s(?P<text>.*)$")


@pytest.fixture
def engine(keys: Path) -> Iterator[pqc_mav_tunnel.Engine]:
    made = pqc_mav_tunnel.Engine(gcs_parameters(keys))
    made.start()
    yield made
    made.stop()


def declared(message: str) -> dict[str, tuple[str, str]]:
    """Type and comment of each field of a message, by its file."""
    file = Path(get_package_share_directory("pqc_mav_interfaces")) / "msg" / f"{message}.msg"
    found = [FIELD.match(line) for line in file.read_text().splitlines()]
    return {each["name"]: (each["type"], each["text"]) for each in found if each and each["name"] != "header"}


@pytest.mark.parametrize("view", SCHEMA)
def test_messages_are_as_the_table_says(view: str) -> None:
    fields = {each["name"]: (each["type"], each["text"]) for each in SCHEMA[view]["fields"] if each["message"]}
    assert declared(SCHEMA[view]["message"]) == fields


def test_a_message_that_lacks_a_field_or_calls_it_otherwise_is_found() -> None:
    said = declared("TunnelStats")
    assert len(said) > 30 and said["roams"][0] == "uint64"
    for changed in ({**said, "roams": ("uint32", said["roams"][1])}, {k: v for k, v in said.items() if k != "roams"}):
        fields = {each["name"]: (each["type"], each["text"]) for each in SCHEMA["stats"]["fields"] if each["message"]}
        assert changed != fields


def test_pictures_have_all_that_messages_have(engine: pqc_mav_tunnel.Engine) -> None:
    pictures = {
        TunnelStatus: engine.picture("status")[0],
        TunnelStats: engine.picture("stats")[0],
        LinkQuality: engine.picture("link")[0][0],
        ServerStats: engine.picture("server"),
        SuiteInfo: pqc_mav_tunnel.suites()[0].as_dict(),
    }
    for kind, picture in pictures.items():
        message = message_of(kind, picture, Header() if kind is not SuiteInfo else None)
        for field, type_name in kind.get_fields_and_field_types().items():
            if field != "header":
                told, want = getattr(message, field), picture[field]
                if want is None:
                    assert type_name == "float" and math.isnan(told), field
                else:
                    assert (list(told) if isinstance(want, list) else told) == (
                        pytest.approx(want) if type_name == "float" else want
                    ), field


def test_what_json_lacks_is_refused_with_the_engines_own_sentence(engine: pqc_mav_tunnel.Engine) -> None:
    class Host:
        @staticmethod
        def ask(command: str, **fields: object) -> dict[str, object]:
            line = json.dumps({"v": 1, "command": command, **fields}, allow_nan=False)
            return dict(json.loads(pqc_mav_tunnel.Door(engine).ask(line))["result"])

    for pin in (math.nan, math.inf):
        fields = {"drone_id": "d1", "suite": "", "kind": "", "reason": "", "pin_for_s": pin}
        answer = answered(Rekey.Response(), Host(), "rekey", "request_rekey", fields)
        assert not answer.ok and answer.message.startswith("A suite is pinned for 0 to 604800 s")


def test_unknown_pictures_are_refused(engine: pqc_mav_tunnel.Engine) -> None:
    with pytest.raises(pqc_mav_tunnel.TunnelError, match="status, stats, link and server, and not of 'all'"):
        engine.picture("all")  # type: ignore[arg-type]


def test_every_state_has_its_constant() -> None:
    for number, name in enumerate(STATES):
        assert getattr(TunnelStatus, name) == number
        assert state_name(number) == name
        assert f"{number} {name}" in declared("TunnelStatus")["state"][1]


def test_a_handshake_is_one_of_the_control_socket_and_one_of_ros() -> None:
    event = {"drone_id": "d1", "ok": True, "phase_finish_ms": 0.75, "phases_ms": {"finish": 0.5}}
    message = message_of(HandshakeReport, event, Header())
    assert (message.drone_id, message.ok, message.phase_finish_ms, message.sig_sign_ms) == ("d1", True, 0.75, 0.0)


def test_suite_messages_of_the_whole_registry() -> None:
    for suite in pqc_mav_tunnel.suites(view="all"):
        message = message_of(SuiteInfo, suite.as_dict())
        assert message.id == suite.id
        assert message.public_key_bytes == suite.public_key_bytes > 0
        assert message.available == suite.available
