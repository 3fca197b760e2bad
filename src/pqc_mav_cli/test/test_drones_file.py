# SPDX-License-Identifier: Apache-2.0
"""A drone comes into a configuration file and goes again; nothing else in the file changes, comments least of all."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import yaml

from pqc_mav_cli import drones_file
from pqc_mav_cli.errors import CliError

PEER = {"plain_peer": "127.0.0.1:14557"}
FLOW = """# top
role: gcs   # this end
keys: /etc/pqcmav/keys
drones: [drone1]  # who may come

# the end
"""
ROS = """/**:
  pqc_proxy:
    ros__parameters:
      role: "gcs"
      # Ids.
      drones:
        - "a"
        - "b"   # the second
      # One block per drone.
      drone:
        a:
          plain_peer: "127.0.0.1:1"  # QGC
        # about b
        b:
          plain_endpoints:
            - udp:127.0.0.1:2

      # Not in force:
      #drone:
      #  x: 1
  other:
    ros__parameters: {z: 1}
"""


def added_lines(before: str, after: str) -> list[str]:
    """What came; nothing else may have changed."""
    old, new = before.splitlines(), after.splitlines()
    came = []
    for line in new:
        if old and line == old[0]:
            old.pop(0)
        else:
            came.append(line)
    assert not old, old
    return came


def test_a_line_of_drones_gets_one_more_and_its_block() -> None:
    text = drones_file.with_drone(FLOW, "drone2", PEER)
    assert '\ndrones: [drone1, "drone2"]  # who may come\ndrone:\n  "drone2":\n    plain_peer: ' in text
    assert text.startswith("# top\nrole: gcs   # this end\n") and text.endswith("\n# the end\n")
    assert yaml.safe_load(text)["drone"] == {"drone2": PEER}
    assert drones_file.with_drone(text, "drone2", PEER) == text, "it is there already"
    assert drones_file.without_drone(text, "drone2") == FLOW


def test_a_list_comes_below_the_drones_and_goes_again() -> None:
    for before, line in ((FLOW, 'avoid: ["lattices"]'), (ROS, '      avoid: ["lattices"]')):
        text = drones_file.with_list(before, "avoid", ["lattices"])
        assert added_lines(before, text) == [line]
        assert drones_file.with_list(text, "avoid", ["lattices"]) == text
        other = drones_file.with_list(text, "avoid", ["HQC", "ML-DSA"])
        assert added_lines(before, other) == [line.replace('"lattices"', '"HQC", "ML-DSA"')]
        none = drones_file.with_list(other, "avoid", [])
        assert added_lines(before, none) == [line.replace('"lattices"', "")]
        assert drones_file.with_list(before, "avoid", []) == before
    assert drones_file.with_list("{drones: [a], role: gcs}", "avoid", ["codes"]) == (
        '{drones: [a], avoid: ["codes"], role: gcs}'
    )
    with pytest.raises(drones_file.UnfitError, match="not in one line"):
        drones_file.with_list("drones: [a]\navoid:\n- codes\n", "avoid", ["hashes"])


def test_a_ros_parameter_file_keeps_every_line() -> None:
    text = drones_file.with_drone(ROS, "c", {"plain_endpoints": ["udp:127.0.0.1:3", "tcp-listen:127.0.0.1:4"]})
    came = added_lines(ROS, text)
    assert came == [
        '        - "c"',
        '        "c":',
        '          plain_endpoints: ["udp:127.0.0.1:3", "tcp-listen:127.0.0.1:4"]',
    ]
    assert drones_file.without_drone(text, "c") == ROS
    gone = drones_file.without_drone(ROS, "b")
    left = yaml.safe_load(gone)["/**"]["pqc_proxy"]["ros__parameters"]
    assert left["drones"] == ["a"] and left["drone"] == {"a": {"plain_peer": "127.0.0.1:1"}}
    assert "# about b" in gone and "#drone:" in gone and "# QGC" in gone


@pytest.mark.parametrize(
    "text",
    [
        "drones: [a]",
        "drones: []\nrole: gcs\n",
        "role: gcs\ndrones: [a,]\n",
        "{role: gcs, drones: [a, b], drone: {a: {plain_peer: x}}}\n",
        "{role: gcs, drones: [a]}\n",
        "drones:\n- a\n- b",
        "drones: [\n  a,  # one\n  b   # two, the last\n]\nkeys: /k\n",
        "drones: [a]\ndrone: {a: {plain_peer: x}}  # flow\n",
        "drones: [a]\ndrone.a.plain_peer: x\n",
        "drones: [a]\r\nrole: gcs\r\n",
        "drones: [a]\ndrone:\n    a:\n        plain_peer: x\n\n\nkeys: /k\n",
        "\ufeffdrones: [a]\n",
    ],
)
@pytest.mark.parametrize("settings", [{}, PEER, {"plain_endpoints": ["udp:127.0.0.1:9"], "sign": True}])
def test_every_form_comes_and_goes(text: str, settings: dict[str, object]) -> None:
    more = drones_file.with_drone(text, "no", settings)  # 'no' bare is a boolean
    was, now = yaml.safe_load(text), yaml.safe_load(more)
    assert now["drones"] == [*was["drones"], "no"]
    assert now.get("drone", {}).get("no", {}) == settings
    assert yaml.safe_load(drones_file.without_drone(more, "no")) == was


@pytest.mark.parametrize(
    "before", [FLOW, ROS, "drones: []\n", "{role: gcs, drones: [a, b], drone: {a: {plain_peer: x}}}"]
)
def test_many_come_and_go_in_one_step(before: str, tmp_path: Path) -> None:
    file = tmp_path / "gcs.yaml"
    file.write_text(before)
    bare: dict[str, Any] = {f"n{i}": {} for i in range(20)}
    with pytest.raises(KeyError), drones_file.saved(file, bare):
        assert file.read_text() != before
        raise KeyError
    assert file.read_text() == before, "what followed failed"
    with drones_file.saved(file, bare | {"p": PEER, "q": PEER}):
        text = file.read_text()
    assert file.read_text() == text
    assert text.count("plain_peer: ") + text.count('"plain_peer": ') == before.count("plain_peer: ") + 2
    one_by_one = before
    for name, settings in (bare | {"p": PEER, "q": PEER}).items():
        one_by_one = drones_file.with_drone(one_by_one, name, settings)
    assert yaml.safe_load(text) == yaml.safe_load(one_by_one)
    with drones_file.saved(file, {"p": {"plain_peer": "127.0.0.1:9"}, "q": {}}):
        pass
    assert "127.0.0.1:9" in file.read_text(), "other settings take the place of those that were there"
    for name in [*bare, "p", "unknown"]:
        assert drones_file.save(file, name, None) == (name != "unknown")
    assert yaml.safe_load(file.read_text()) == yaml.safe_load(drones_file.with_drone(before, "q", PEER))


def test_nobodys_change_is_lost_between_two(tmp_path: Path) -> None:
    file = tmp_path / "gcs.yaml"
    file.write_text("drones: [a]\n")
    names = [f"n{i}" for i in range(8)]
    with ThreadPoolExecutor(len(names)) as pool:
        with pytest.raises(KeyError), drones_file.saved(file, {"x": {}}):
            added = [pool.submit(drones_file.save, file, name, {}) for name in names]
            assert not any(each.done() for each in added)
            raise KeyError  # which puts back what was there
        for each in added:
            each.result(30)
    assert sorted(yaml.safe_load(file.read_text())["drones"]) == ["a", *names]


@pytest.mark.parametrize(
    "text", ["drones: [a]\n", "drones:\n- a\nkeys: /k\n", "x:\n  drones:  # ours\n    - a\n  keys: /k\n"]
)
def test_the_last_drone_goes_too_and_one_comes_again(text: str) -> None:
    gone = drones_file.without_drone(text, "a")
    more = drones_file.with_drone(gone, "b", PEER)
    assert '["b"]' in more and ("# ours" in more) == ("# ours" in text)


def test_dotted_settings_go_with_their_drone() -> None:
    text = "drones: [a, b]\ndrone.a.plain_peer: x\ndrone.ab.plain_peer: y\ndrone.b.plain_peer: z\n"
    assert drones_file.without_drone(text, "a") == "drones: [b]\ndrone.ab.plain_peer: y\ndrone.b.plain_peer: z\n"
    assert drones_file.without_drone(text, "unknown") == text


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("role: gcs\n", "no list 'drones'"),
        ("a: {drones: [a]}\nb: {drones: [b]}\n", "several"),
        ("drones: [a]\ndrone:\n", "empty"),
        ("base: &it [a]\ndrones: *it\n", "by hand"),
    ],
)
def test_what_cannot_be_edited_is_left(tmp_path: Path, text: str, why: str) -> None:
    file = tmp_path / "gcs.yaml"
    file.write_text(text)
    with pytest.raises(CliError, match=rf"gcs\.yaml is as it was: .*{why}"):
        drones_file.save(file, "c", PEER)
    assert file.read_text() == text


def test_the_last_file_that_names_drones_is_the_one(tmp_path: Path) -> None:
    files = {"first.yaml": FLOW, "second.yaml": "/**: {x: {ros__parameters: {a: 1}}}\n", "launch_params_ab12": FLOW}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    paths = [str(tmp_path / name) for name in files]
    assert drones_file.choose(paths) == tmp_path / "first.yaml"
    with pytest.raises(CliError, match="from its command line"):
        drones_file.choose(paths[1:])
    shipped = tmp_path / "share" / "pqc_mav_bringup" / "config" / "gcs.yaml"
    shipped.parent.mkdir(parents=True)
    shipped.write_text(FLOW)
    assert drones_file.choose([str(shipped)]) is None, "the programs' own file stays as it is"
    with pytest.raises(CliError, match="not on this machine"):
        drones_file.choose([str(tmp_path / "none.yaml")])
    (tmp_path / "link.yaml").symlink_to(tmp_path / "first.yaml")
    linked = drones_file.choose([str(tmp_path / "link.yaml")])
    assert linked is not None
    drones_file.save(linked, "d9", {})
    assert "d9" in (tmp_path / "first.yaml").read_text() and (tmp_path / "link.yaml").is_symlink()
