# SPDX-License-Identifier: Apache-2.0
import re
from pathlib import Path

import pqc_mav_tunnel
import pytest
import yaml

from pqc_mav_bringup import description
from pqc_mav_bringup.description import BringupError, Process, SystemDescription, complete
from pqc_mav_bringup.executables import is_daemon
from pqc_mav_bringup.mavros import check
from pqc_mav_bringup.mavros_url import refusal
from pqc_mav_bringup.onboard import WITH_DETECTOR
from pqc_mav_bringup.respawn import ExitCode, Lives
from pqc_mav_bringup.scenario_system import SCENARIO
from pqc_mav_bringup.share import config_file
from pqc_mav_bringup.systems import DEMO, DEMO_DRONE, DRONE, GCS, RECORDER, SWITCH, SYSTEMS
from pqc_mav_common.siblings import ALLOWED, WITH_GUARD
from pqc_mav_policy.settings import STRATEGIES

PORTS = {
    name: str(number)
    for number, name in enumerate(("data_port", "drone_data_port", "plain_port", "ground_port"), 21000)
}


SOURCES = tuple(f"**/*.{ending}" for ending in ("md", "py", "yaml", "xml", "service"))


def resolve(system: SystemDescription, given: dict[str, str]) -> list[Process]:
    """What runs, without the daemons, of which test_daemon.py tells."""
    return [process for process in description.resolve(system, given) if not is_daemon(process)]


def known_keys(role: str, drones: tuple[str, ...] = ()) -> dict[str, str]:
    keys = {entry["key"]: entry["type"] for entry in pqc_mav_tunnel.config_schema(role)}
    for drone in drones:
        keys |= {f"drone.{drone}.{entry['key']}": entry["type"] for entry in pqc_mav_tunnel.per_drone_schema()}
    return keys


TYPES = {"bool": bool, "int": int, "float": float, "string": str, "string_list": list}


@pytest.mark.parametrize("system", SYSTEMS.values(), ids=list(SYSTEMS))
def test_settings_of_the_proxies_are_keys_of_the_engine_in_its_types(system) -> None:
    choices = {argument.name: argument.choices for argument in system.arguments}
    given = complete(system, {"tunnel": "inside"})
    given = {name: value or (choices[name] or "1")[0] for name, value in given.items()}
    proxies = [process for process in resolve(system, given) if process.node == "pqc_proxy"]
    assert proxies
    for process in proxies:
        known = known_keys(process.parameters["role"], (DEMO_DRONE,))
        for name, value in process.parameters.items():
            assert type(value) is TYPES[known[name]], name


@pytest.mark.parametrize("system", SYSTEMS.values(), ids=list(SYSTEMS))
@pytest.mark.parametrize("changes", [{}, {"together": "false"}, {"detect": "false", "proxy": "cpp"}])
def test_what_carries_no_packets_gives_way_to_what_does(system, changes: dict[str, str]) -> None:
    known = {argument.name for argument in system.arguments}
    given = {**changes, "record": "flight.mcap"}
    processes = resolve(system, {name: value for name, value in given.items() if name in known})
    lowered = {process.label.rpartition("/")[2] for process in processes if process.nice}
    assert lowered <= {"pqc_sensing", "pqc_policy", "pqc_onboard", "pqc_detect", "pqc_guard", "flight_recorder"}
    assert {process.package for process in processes if not process.nice}.isdisjoint(
        {"pqc_mav_sensing", "pqc_mav_policy", "pqc_mav_detect", "pqc_mav_recorder"}
    )


@pytest.mark.parametrize(
    ("system", "names"),
    [
        (DRONE, {"namespace", "suite", "peer", "keys", "fcu_url", "gcs_url", "mavlink", "config"}),
        (GCS, {"namespace", "suite", "keys", "fcu_url", "gcs_url", "mavlink", "config"}),
    ],
)
def test_arguments_that_users_of_mavlink_expect(system, names: set[str]) -> None:
    assert names <= {argument.name for argument in system.arguments}
    assert all(argument.description for argument in system.arguments)


@pytest.mark.parametrize("system", [DRONE, GCS])
def test_mavros_runs_only_where_it_is_asked_for(system) -> None:
    assert not [process for process in resolve(system, {}) if process.package == "mavros"]
    mavros = resolve(system, {"mavlink": "mavros", "fcu_url": "/dev/ttyS0"})[-1]
    assert (mavros.package, mavros.executable) == ("mavros", "mavros_node")
    assert mavros.parameters["fcu_url"] == "/dev/ttyS0" and mavros.parameters["tgt_system"] == 1
    assert "mavros" in mavros.hint


def test_mavros_forwards_to_the_port_where_the_drone_listens() -> None:
    plain_bind = next(e["default"] for e in pqc_mav_tunnel.config_schema("drone") if e["key"] == "plain_bind")
    mavros = resolve(DRONE, {"mavlink": "mavros"})[-1]
    assert mavros.parameters["gcs_url"] == f"udp://127.0.0.1:14555@{plain_bind}"


def test_mavros_on_the_ground_listens_where_the_gcs_delivers() -> None:
    plain_peer = next(e["default"] for e in pqc_mav_tunnel.per_drone_schema() if e["key"] == "plain_peer")
    *_, mavros = resolve(GCS, {"mavlink": "mavros"})
    assert mavros.parameters["fcu_url"] == f"udp://{plain_peer}@"


@pytest.mark.parametrize(("system", "namespace"), [(DRONE, "mavros"), (GCS, "gcs/mavros")])
def test_mavros_talks_to_itself_in_its_own_namespace(system, namespace: str) -> None:
    """In `/uasN` every mavros of the ROS domain would hear it, and command the vehicle past the tunnel."""
    mavros = resolve(system, {"mavlink": "mavros", "tgt_system": "7"})[-1]
    assert mavros.remaps == {
        f"/uas7/mavlink_{side}": f"/{namespace}/uas7/mavlink_{side}" for side in ("source", "sink")
    }
    assert mavros.parameters["tgt_system"] == 7


def test_mavros_on_the_ground_is_not_the_vehicle() -> None:
    air, ground = (resolve(system, {"mavlink": "mavros"})[-1].parameters for system in (DRONE, GCS))
    assert "system_id" not in air and ground["system_id"] == 255 != ground["tgt_system"]


@pytest.mark.parametrize("system", [DRONE, GCS])
@pytest.mark.parametrize("name", ["fcu_url", "gcs_url"])
def test_mavros_with_a_way_past_the_tunnel_is_refused(system, name: str) -> None:
    given = {"mavlink": "mavros", name: "udp://@127.0.0.1:14590"}
    with pytest.raises(BringupError, match=rf"^{name} .*write 'udp://127.0.0.1:14555@127.0.0.1:14590', or"):
        resolve(system, given)
    assert resolve(system, {**given, "mavlink": "udp"}), "nobody uses the URL"
    assert resolve(system, {**given, "mavros_allow": "192.0.2.1, 0.0.0.0"})[-1].parameters[name] == given[name]


@pytest.mark.parametrize("system", [DRONE, GCS])
def test_the_proxy_knows_which_open_sockets_are_allowed(system) -> None:
    proxy = resolve(system, {"mavros_allow": "192.0.2.1"})[0]
    assert proxy.node == "pqc_proxy" and proxy.environment == {ALLOWED: "192.0.2.1"}


# URLs of mavros' forms in texts; `udpin:` and the like are MAVProxy's and MAVSDK's.
URLS = re.compile(r"\b(?:udp|udp-b|udp-pb|tcp|tcp-l)://[^\s\"'`|,;()<>]+")
ALLOW = re.compile(r"mavros_allow:=([\w.,-]+)")
EXCEPT = {"mavros_url.py", "CHANGELOG.rst"}  # say what is wrong with such URLs
ROOT = Path(__file__).resolve().parents[3]


def open_urls(text: str) -> list[str]:
    """URLs in `text` with which mavros would listen or send beyond this machine, unless the text allows it."""
    allowed = {host for hosts in ALLOW.findall(text) for host in hosts.split(",")}
    found = (url.rstrip(".:") for url in URLS.findall(text))
    return [url for url in found if not re.search("HOST|{", url) and refusal("url", url, allowed)]


def test_no_url_of_ours_leads_past_the_tunnel() -> None:
    assert open_urls("udp://@h:1 `udp://:1@` udp-b://0.0.0.0:2@, tcp-l://:3.") == [
        "udp://@h:1",
        "udp://:1@",
        "udp-b://0.0.0.0:2@",
        "tcp-l://:3",
    ]
    assert open_urls("udp://127.0.0.1:1@127.0.0.1:2, tcp-l://127.0.0.1:3, udpin://:4, udp://{host}:5@") == []
    assert open_urls("udp://192.0.2.1:5@ mavros_allow:=192.0.2.1") == []
    for system in (DRONE, GCS):
        check(complete(system, {}))
    texts = [
        path
        for folder, patterns in ((ROOT, ("*.md",)), (ROOT / "docs", ("**/*.md",)), (ROOT / "src", SOURCES))
        for pattern in patterns
        for path in folder.glob(pattern)
        if "test" not in path.relative_to(ROOT).parts and path.name not in EXCEPT
    ]
    assert len(texts) > 100
    assert [(path, found) for path in texts if (found := open_urls(path.read_text(encoding="utf-8")))] == []


def test_the_battery_node_listens_where_the_proxy_copies_to() -> None:
    proxy, sensing, *_ = resolve(DRONE, {"together": "false"})
    assert (sensing.package, sensing.executable, sensing.namespace) == ("pqc_mav_sensing", "pqc_sensing", "/drone")
    assert sensing.parameters == {"mavlink": "udp", "tap": proxy.parameters["plain_tap"]}
    assert proxy.parameters["plain_tap_requests"] is True, "sensing may ask for what does not come"
    shipped = yaml.safe_load(config_file("sensing.yaml").read_text())["/**"]["pqc_battery"]["ros__parameters"]
    assert sensing.parameters["tap"] == shipped["tap"] and sensing.config.endswith("sensing.yaml")
    assert not sensing.node, "a name given to the process would be every node's"


def test_no_copy_of_the_stream_without_somebody_who_reads_it() -> None:
    proxy, *_ = resolve(DRONE, {"sensing": "false"})
    assert not {"plain_tap", "plain_tap_requests"} & set(proxy.parameters)
    proxy, sensing, *_ = resolve(DRONE, {"mavlink": "mavros"})
    assert not {"plain_tap", "plain_tap_requests"} & set(proxy.parameters)
    assert sensing.parameters["mavlink"] == "mavros"


@pytest.mark.parametrize(
    ("sensing", "policy", "together", "run"),
    [
        ("true", "true", "true", ["pqc_onboard.py"]),
        ("true", "true", "false", ["pqc_sensing", "pqc_policy"]),
        ("true", "false", "true", ["pqc_sensing"]),
        ("true", "false", "false", ["pqc_sensing"]),
        ("false", "true", "true", ["pqc_policy"]),
        ("false", "true", "false", ["pqc_policy"]),
        ("false", "false", "true", []),
    ],
)
def test_sensing_and_policy_share_a_process_where_both_run(sensing, policy, together, run) -> None:
    given = {"sensing": sensing, "policy": policy, "together": together, "strategy": "expert", "detect": "false"}
    given["proxy"] = "py"  # the one in C++ needs a guard beside it
    proxy, *others = resolve(DRONE, given)
    assert [process.executable for process in others] == run
    apart = resolve(DRONE, {**given, "together": "false"})[1:]
    if run == ["pqc_onboard.py"]:
        (onboard,) = others
        assert onboard.parameters == {**apart[0].parameters, **apart[1].parameters}
        assert onboard.parameters["tap"] == proxy.parameters["plain_tap"]
        assert onboard.parameter_files == (apart[0].config, apart[1].config)
        assert not onboard.node, "a name given to the process would be every node's"


@pytest.mark.parametrize("policy", SWITCH)
@pytest.mark.parametrize("sensing", SWITCH)
@pytest.mark.parametrize("together", SWITCH)
def test_one_detector_beside_each_proxy_unless_left_out(sensing, policy, together) -> None:
    given = {"sensing": sensing, "policy": policy, "together": together, "namespace": "d7"}
    processes = resolve(DRONE, given)
    shared = [process for process in processes if WITH_DETECTOR in process.arguments]
    alone = [process for process in processes if process.executable == "pqc_detect"]
    assert [process.executable for process in shared] == ["pqc_onboard.py"] * (set(given.values()) == {"true", "d7"})
    assert len(shared) + len(alone) == 1
    for process in alone:
        assert (process.package, process.node, process.namespace) == ("pqc_mav_detect", "pqc_detect", "/d7")
    for process in resolve(DRONE, {**given, "detect": "false"}):
        assert process.executable != "pqc_detect" and WITH_DETECTOR not in process.arguments


@pytest.mark.parametrize("kind", ["cpp", "py"])
@pytest.mark.parametrize("detect", SWITCH)
@pytest.mark.parametrize("policy", SWITCH)
@pytest.mark.parametrize("together", SWITCH)
def test_one_guard_beside_a_proxy_in_cpp_in_a_process_that_is_there_anyway(together, policy, detect, kind) -> None:
    drone = {"together": together, "policy": policy}
    for system, given in ((DRONE, drone), (GCS, {})):
        given = {**given, "namespace": "d7", "proxy": kind, "detect": detect, "mavros_allow": "10.0.0.1"}
        _, *others = resolve(system, given)
        hosts = [each for each in others if WITH_GUARD in each.arguments or each.executable == "pqc_guard"]
        assert len(hosts) == (kind == "cpp")
        shared = system is DRONE and together == policy == "true"
        wanted = "pqc_onboard.py" if shared else "pqc_detect" if detect == "true" else "pqc_guard"
        for host in hosts:
            assert (host.executable, host.namespace, host.environment[ALLOWED]) == (wanted, "/d7", "10.0.0.1")


def test_one_guard_in_a_demo_with_proxies_in_cpp() -> None:
    for system in (DEMO, SCENARIO):
        given = {"proxy": "cpp", **{each.name: "1" for each in system.arguments if each.name.endswith("port")}}
        run = resolve(system, given)
        assert sum(WITH_GUARD in each.arguments or each.executable == "pqc_guard" for each in run) == 1
        assert not any(each.executable == "pqc_guard" for each in resolve(system, {**given, "proxy": "py"}))


def test_the_gcs_has_a_detector_of_its_own() -> None:
    (detector,) = [process for process in resolve(GCS, {"namespace": "base"}) if process.executable == "pqc_detect"]
    assert detector.namespace == "/base"
    assert not [each for each in resolve(GCS, {"detect": "false"}) if each.executable == "pqc_detect"]


def test_the_pool_of_key_pairs_is_as_the_file_says_or_as_asked_for() -> None:
    assert "key_pool_depth" not in resolve(GCS, {})[0].parameters
    assert resolve(GCS, {"key_pool_depth": "0"})[0].parameters["key_pool_depth"] == 0
    with pytest.raises(BringupError, match="'key_pool_depth' is 'none'; it must be a whole number"):
        resolve(GCS, {"key_pool_depth": "none"})


def test_the_policy_runs_beside_the_drones_proxy_unless_left_out() -> None:
    policy = resolve(DRONE, {"namespace": "d7", "together": "false"})[2]
    assert (policy.package, policy.node, policy.namespace) == ("pqc_mav_policy", "pqc_policy", "/d7")
    assert policy.config.endswith("policy.yaml") and policy.parameters == {}
    assert resolve(DRONE, {"strategy": "expert", "together": "false"})[2].parameters == {"strategy": "expert"}
    assert not [process for process in resolve(DRONE, {"policy": "false"}) if process.package == "pqc_mav_policy"]
    assert not [process for process in resolve(GCS, {}) if process.package == "pqc_mav_policy"]


def test_a_flight_is_recorded_only_where_asked() -> None:
    for system, namespace in ((DRONE, "d7"), (GCS, "ground")):
        assert not [process for process in resolve(system, {}) if process.executable == "pqc_recorder"]
        asked = {"record": "/data/flights", "namespace": namespace}
        (recorder,) = [process for process in resolve(system, asked) if process.executable == "pqc_recorder"]
        assert (recorder.package, recorder.node, recorder.namespace) == (
            "pqc_mav_recorder",
            "flight_recorder",
            f"/{namespace}",
        )
        assert recorder.parameters == {"path": "/data/flights", "namespaces": [f"/{namespace}", "drone", "gcs"]}


def test_the_demo_fits_together() -> None:
    by_label = {process.label: process for process in resolve(DEMO, {**PORTS, "keys": "/k"})}
    gcs, drone = by_label["gcs/pqc_proxy"].parameters, by_label["drone/pqc_proxy"].parameters
    assert gcs["data_port"] == drone["data_port"]
    assert drone["peer"] == gcs["bind"] == "127.0.0.1"
    assert drone["drone_id"] in gcs["drones"]
    assert drone["plain_bind"] in by_label["vehicle"].arguments
    assert gcs[f"drone.{DEMO_DRONE}.plain_peer"] in by_label["ground"].arguments


def test_the_arguments_of_every_node_as_nav2_has_them(tmp_path) -> None:
    given = {"params_file": str(tmp_path / "mine.yaml"), "log_level": "debug", "use_respawn": "false"}
    nodes = resolve(DRONE, {**given, "use_sim_time": "true", "autostart": "false", "record": "flight.mcap"})
    assert nodes[0].config == given["params_file"], "it wins over config"
    for node in nodes:
        assert (node.log_level, node.parameters["use_sim_time"], node.parameters["autostart"]) == ("debug", True, False)
        ended = Lives(node.respawn).ended(-9, 0.0)
        assert ended.again_in_s is None
        assert (ended.failure is ExitCode.OK) == (node.node == RECORDER), "the recorder takes nothing with it"
    for node in resolve(DRONE, {"record": "flight.mcap"}):
        assert node.log_level == "info" and node.respawn is not None and "use_sim_time" not in node.parameters
        assert "autostart" not in node.parameters, "a configuration file may say it"
    with pytest.raises(BringupError, match="must be one of: debug, info, warn"):
        resolve(GCS, {"log_level": "loud"})


@pytest.mark.parametrize("system", [DRONE, GCS], ids=lambda system: system.name)
def test_mavros_has_the_clock_and_the_log_level_of_the_others(system) -> None:
    given = {"mavlink": "mavros", "log_level": "debug", "use_sim_time": "true", "autostart": "false"}
    (mavros,) = [process for process in resolve(system, given) if process.package == "mavros"]
    assert mavros.parameters["use_sim_time"] is True and mavros.log_level == "debug"
    assert "autostart" not in mavros.parameters, "it is no lifecycle node"
    (mavros,) = [process for process in resolve(system, {"mavlink": "mavros"}) if process.package == "mavros"]
    assert "use_sim_time" not in mavros.parameters


def test_programs_that_are_no_nodes_get_none_of_them() -> None:
    *nodes, ground, vehicle = resolve(DEMO, {"log_level": "debug", "use_sim_time": "true"})
    assert all(node.log_level == "debug" for node in nodes)
    for program in (ground, vehicle):
        assert program.log_level == "" and program.parameters == {}


def test_a_strategy_is_one_of_the_policys() -> None:
    (strategy,) = (argument for argument in DRONE.arguments if argument.name == "strategy")
    assert strategy.choices == tuple(STRATEGIES)
    resolve(DRONE, {"strategy": ""})
    with pytest.raises(BringupError, match="'strategy' is 'foo'; it must be one of: measured, "):
        resolve(DRONE, {"strategy": "foo"})
