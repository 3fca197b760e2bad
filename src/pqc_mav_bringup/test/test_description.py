# SPDX-License-Identifier: Apache-2.0
import pytest

from pqc_mav_bringup.description import (
    Argument,
    BringupError,
    ProcessDescription,
    Respawn,
    Setting,
    SystemDescription,
    complete,
    resolve,
)

SYSTEM = SystemDescription(
    name="s",
    description="",
    arguments=(
        Argument("namespace", "", "air"),
        Argument("peer", ""),
        Argument("port", "", "5"),
        Argument("mode", "", "a", ("a", "b")),
    ),
    processes=(
        ProcessDescription(
            "p",
            "pkg",
            "exe",
            node="n",
            namespace="{namespace}",
            settings={
                "peer": Setting("{peer}"),
                "port": Setting("{port}", int),
                "names": Setting("x, y ,", list),
                "on": Setting("true", bool),
                "of.{mode}.it": Setting("1"),
                "only_b": Setting("{port}", int, when={"mode": "b"}),
            },
        ),
        ProcessDescription("q", "pkg", "exe2", arguments=("--to", "h:{port}"), when={"mode": "b"}, respawn=None),
    ),
)


def test_defaults_conditions_and_empty_settings() -> None:
    (process,) = resolve(SYSTEM, {})
    assert process.label == "air/p" and process.namespace == "/air"
    assert process.parameters == {"port": 5, "names": ["x", "y"], "on": True, "of.a.it": "1"}


def test_given_values_win_and_conditions_admit_more() -> None:
    process, other = resolve(SYSTEM, {"namespace": "/fleet/one/", "peer": "h", "mode": "b", "port": "7"})
    assert process.namespace == "/fleet/one" and process.parameters["peer"] == "h"
    assert process.parameters["of.b.it"] == "1" and process.parameters["only_b"] == 7
    assert other.arguments == ("--to", "h:7") and other.respawn is None and other.label == "q"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"pear": "x"}, "Did you mean 'peer'"),
        ({"zzz": "x"}, "Known: namespace, peer, port, mode"),
        ({"mode": "c"}, "one of: a, b"),
        ({"port": "many"}, "'port' is 'many'"),
    ],
)
def test_refusals(given: dict[str, str], said: str) -> None:
    with pytest.raises(BringupError, match=said):
        resolve(SYSTEM, given)


def test_complete_names_every_argument() -> None:
    assert complete(SYSTEM, {"peer": "h"}) == {"namespace": "air", "peer": "h", "port": "5", "mode": "a"}


def test_a_dead_process_is_back_within_a_second_three_times_and_then_ever_later() -> None:
    delays = [Respawn().delay_after(deaths) for deaths in (1, 2, 3, 4, 5, 8, 9, 10**6)]
    assert delays == pytest.approx([0.3, 0.3, 0.3, 0.6, 1.2, 9.6, 15.0, 15.0])


def test_namespaces_are_below_a_pushed_one_unless_they_begin_with_a_slash() -> None:
    def namespaces(under: str, **given: str) -> list[str]:
        return [process.namespace for process in resolve(SYSTEM, given, under)]

    assert namespaces("fleet/one") == ["/fleet/one/air"]
    assert namespaces("fleet/one", namespace="/air") == ["/air"]
    assert namespaces("fleet/one", namespace="a/b") == ["/fleet/one/a/b"]
    fixed = SystemDescription("t", "", (), (ProcessDescription("p", "pkg", "exe", node="n", namespace="gcs"),))
    assert [process.namespace for process in resolve(fixed, {}, "fleet")] == ["/fleet/gcs"]
