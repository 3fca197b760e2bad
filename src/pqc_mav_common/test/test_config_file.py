# SPDX-License-Identifier: Apache-2.0
import contextlib
import itertools
from pathlib import Path

import pytest
import rclpy

from pqc_mav_common import config_file
from pqc_mav_common.errors import ExitCode, ProcessError


def write(folder: Path, text: str) -> Path:
    path = folder / "c.yaml"
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("/**:\n  pqc_proxy:\n    ros__parameters: {a: [1\n", "line"),
        ("a: b: c\n", "line 1"),
        ("\tx: 1\n", "line 1"),
        ("", "expected"),
        ("- a\n- b\n", "expected"),
        ("suite: x\n", "ros__parameters"),
        ("/**:\n  pqc_proxy:\n    ros__parameters:\n", "ros__parameters"),
    ],
)
def test_faults_are_one_line_with_file_and_place(tmp_path: Path, text: str, said: str) -> None:
    path = write(tmp_path, text)
    with pytest.raises(ProcessError) as caught:
        config_file.load(path)
    sentence = str(caught.value)
    assert str(path) in sentence and said in sentence and "\n" not in sentence
    assert caught.value.exit_code == ExitCode.CONFIG


def test_a_file_for_other_nodes_is_found(tmp_path: Path) -> None:
    """As with a mistyped name, or with that of the proxy given to the policy."""
    files = {}
    for name, pattern in (("own", "/**: {pqc_policy"), ("all", "{/**"), ("other", "/**: {pqc_polici")):
        files[name] = str(tmp_path / f"{name}.yaml")
        Path(files[name]).write_text(f"{pattern}: {{ros__parameters: {{a: 1}}}}}}\n")
    line = ["x", "--ros-args", *(word for file in files.values() for word in ("--params-file", file))]
    assert config_file.without_a_block(line, ["/drone/pqc_policy", "/drone/pqc_battery"]) == [files["other"]]


def test_missing_binary_and_huge_files(tmp_path: Path) -> None:
    with pytest.raises(ProcessError, match="No such file"):
        config_file.load(tmp_path / "none.yaml")
    binary = tmp_path / "b.yaml"
    binary.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ProcessError, match="UTF-8"):
        config_file.load(binary)
    huge = tmp_path / "h.yaml"
    huge.write_bytes(b"#" * (config_file.MAX_BYTES + 1))
    with pytest.raises(ProcessError, match="larger"):
        config_file.load(huge)


def test_yaml_cannot_make_python_objects(tmp_path: Path) -> None:
    with pytest.raises(ProcessError, match="not valid YAML"):
        config_file.load(write(tmp_path, "a: !!python/object/apply:os.system ['true']\n"))


def test_lists_as_launch_ros_writes_them(tmp_path: Path) -> None:
    text = "/**:\n  ros__parameters:\n    drones: !!python/tuple\n    - d1\n    - d2\n"
    (block,) = config_file.load(write(tmp_path, text)).values()
    assert block["ros__parameters"]["drones"] == ["d1", "d2"]


@pytest.mark.parametrize(
    ("pattern", "namespace", "matches"),
    [
        ("/**", "drone", True),
        ("/**", "a/b", True),
        ("/**/drone", "drone", True),
        ("/**/drone", "fleet/drone", True),
        ("/**/drone", "gcs", False),
        ("/drone", "drone", True),
        ("/drone", "fleet/drone", False),
        ("/*/drone", "fleet/drone", True),
        ("/*/drone", "drone", False),
    ],
)
def test_namespace_patterns(tmp_path: Path, pattern: str, namespace: str, matches: bool) -> None:
    path = write(tmp_path, f"{pattern}:\n  pqc_proxy:\n    ros__parameters:\n      suite: x\n")
    assert config_file.parameters(config_file.load(path), namespace, "pqc_proxy") == ({"suite": "x"} if matches else {})


def test_nested_keys_are_flattened_and_later_blocks_win(tmp_path: Path) -> None:
    text = (
        "/**:\n  pqc_proxy:\n    ros__parameters: {a: 1, drone: {d1: {plain_peer: p}}}\n"
        "/gcs:\n  pqc_proxy:\n    ros__parameters: {a: 2}\n"
    )
    data = config_file.load(write(tmp_path, text))
    assert config_file.parameters(data, "/gcs", "pqc_proxy") == {"a": 2, "drone.d1.plain_peer": "p"}
    assert config_file.parameters(data, "gcs", "other") == {}


def test_params_files_of_a_command_line_are_checked(tmp_path: Path) -> None:
    good = write(tmp_path, "/**:\n  pqc_proxy:\n    ros__parameters: {a: 1}\n")
    config_file.check_params_files(["x", "--ros-args", "--params-file", str(good)])
    with pytest.raises(ProcessError):
        config_file.check_params_files(["x", "--ros-args", "--params-file", str(good), "--params-file", "/none"])


ORDERS = (
    "/**: {a: {ros__parameters: {x: 1, y: [p, q], z: old}}, b: {ros__parameters: {x: 9}}}",
    "/space/a: {ros__parameters: {x: 2, z: new, deep: {er: true}}}\n/**: {ros__parameters: {x: 3, w: 4}}",
    "/**: {a: {ros__parameters: {x: 5, v: 6}}, ros__parameters: {w: 7}}",
)


@pytest.mark.parametrize("namespace", ["/space", "/"])
@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_a_command_line_is_read_again_as_ros_reads_it(tmp_path: Path, order: tuple[int, ...], namespace: str) -> None:
    files = [tmp_path / f"{n}.yaml" for n in order]
    for n, file in zip(order, files, strict=True):
        file.write_text(ORDERS[n])
    line = ["program", "--ros-args", "-p", "x:=8", "--params-file", str(files[0]), "-p", "b:y:=[]", "-p", "a:w:=0.5"]
    line += ["--params-file", str(files[1]), "--param", 'drones:=["d1", "d2"]', "-r", f"__ns:={namespace}"]
    line += ["--params-file", str(files[2]), "-p", "z:=z"]
    assert config_file.named_files(line) == [str(file) for file in files]
    context = rclpy.Context()
    rclpy.init(args=line, context=context)
    with contextlib.ExitStack() as stack:
        stack.callback(context.shutdown)
        node = rclpy.create_node("a", context=context, automatically_declare_parameters_from_overrides=True)
        stack.callback(node.destroy_node)
        read = config_file.given_by(line, namespace, "a")
        assert read == {name: node.get_parameter(name).value for name in read}
        assert {"x", "y", "z", "w", "v", "drones"} <= read.keys()
    files[0].unlink()
    with pytest.raises(ProcessError, match=r"Cannot read the configuration file .*\.yaml"):
        config_file.given_by(line, namespace, "a")
    assert not config_file.named_files(["program", "-p", "x:=1"])


def test_aliases_are_refused_before_they_grow(tmp_path: Path) -> None:
    """Each line nine of the one before: a billion values of 300 bytes. ROS' own reader knows no aliases either."""
    lines = ["a0: &a0 [x]", *(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 10))]
    with pytest.raises(ProcessError, match=r"line 2: not valid YAML: aliases .* are not allowed"):
        config_file.load(write(tmp_path, "\n".join(lines)))
