# SPDX-License-Identifier: Apache-2.0
"""`pqcmav up`: run an end of the tunnel, or the demo system, under supervision until Ctrl-C."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from pqc_mav_cli.console import PROGRAM
from pqc_mav_cli.errors import CliError, ExitCode, engine_errors, refuse_without_ros

up_app = typer.Typer(
    no_args_is_help=True,
    help="Run one end of the tunnel under supervision until Ctrl-C, like 'ros2 launch pqc_mav_bringup ...'.",
)

Namespace = Annotated[str | None, typer.Option(help="ROS namespace of the proxy.", show_default=False)]
Config = Annotated[str | None, typer.Option(help="Configuration file. Default: the documented one that is installed.")]
Keys = Annotated[str | None, typer.Option(help="Folder with this end's keys. Default: as the configuration says.")]
Proxy = Annotated[
    str | None,
    typer.Option(help="Which proxy: py, cpp, or auto (default) = cpp if it is installed. They do the same."),
]
Mavlink = Annotated[
    str | None,
    typer.Option(
        help="udp (default): MAVLink reaches the proxy's plaintext port directly; mavros: start mavros in between."
    ),
]
FcuUrl = Annotated[str | None, typer.Option(help="With --mavlink mavros: its vehicle side; addresses on 127.0.0.1.")]
GcsUrl = Annotated[
    str | None, typer.Option(help="With --mavlink mavros: where it forwards MAVLink to; addresses on 127.0.0.1.")
]
MavrosAllow = Annotated[
    str | None,
    typer.Option(
        help="Addresses beyond this machine that mavros' URLs may name, separated by commas; whoever reaches them "
        "commands the vehicle without a key."
    ),
]
MavrosNamespace = Annotated[str | None, typer.Option(help="With --mavlink mavros: ROS namespace of its topics.")]
TgtComponent = Annotated[str | None, typer.Option(help="With --mavlink mavros: component id of the autopilot.")]
PluginLists = Annotated[
    str | None, typer.Option(help="Parameter file with the plugins mavros loads. Default: what the suite needs.")
]
MavrosConfig = Annotated[str | None, typer.Option(help="Further parameter file for mavros.")]
TgtSystem = Annotated[str | None, typer.Option(help="With --mavlink mavros: MAVLink system id of the vehicle.")]
MavrosSystem = Annotated[
    str | None,
    typer.Option(help="With --mavlink mavros: its own system id. Default: the vehicle's; ground: 255."),
]
Record = Annotated[
    str | None, typer.Option(help="Record the flight to this file (*.mcap), or to a new file in this folder.")
]
ParamsFile = Annotated[str | None, typer.Option(help="The same as --config, as ROS launch files call it.")]
Autostart = Annotated[
    str | None,
    typer.Option(help="true (default) or false: nodes activate themselves, or wait for a lifecycle manager."),
]
LogLevel = Annotated[str | None, typer.Option(help="Of the nodes: debug, info (default), warn, error or fatal.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="The same as --log-level debug.")]
Check = Annotated[
    bool,
    typer.Option("--check", help="Start nothing, but say whether configuration, keys, programs and ports are good."),
]
UseRespawn = Annotated[str | None, typer.Option(help="true (default) or false: start again what died.")]
Detect = Annotated[str | None, typer.Option(help="true (default) or false: look for attacks.")]
UseSimTime = Annotated[str | None, typer.Option(help="true or false (default): take the time from /clock.")]


@up_app.command()
def drone(
    namespace: Namespace = None,
    config: Config = None,
    params_file: ParamsFile = None,
    keys: Keys = None,
    proxy: Proxy = None,
    drone_id: Annotated[str | None, typer.Option(help="Name of this drone.")] = None,
    peer: Annotated[str | None, typer.Option(help="Host name or address of the gcs.")] = None,
    suite: Annotated[str | None, typer.Option(help="Cipher suite: short code or id, see 'pqcmav suites'.")] = None,
    mavlink: Mavlink = None,
    fcu_url: FcuUrl = None,
    gcs_url: GcsUrl = None,
    mavros_allow: MavrosAllow = None,
    mavros_namespace: MavrosNamespace = None,
    tgt_system: TgtSystem = None,
    tgt_component: TgtComponent = None,
    mavros_system_id: MavrosSystem = None,
    pluginlists_yaml: PluginLists = None,
    config_yaml: MavrosConfig = None,
    sensing: Annotated[
        str | None, typer.Option(help="true (default) or false: monitor battery, temperature, power and load.")
    ] = None,
    sensing_config: Annotated[
        str | None,
        typer.Option(help="Configuration file of the sensing nodes. Default: the documented one that is installed."),
    ] = None,
    tap: Annotated[
        str | None,
        typer.Option(help="Where the proxy sends a copy of the autopilot's MAVLink for the battery node, host:port."),
    ] = None,
    policy: Annotated[str | None, typer.Option(help="true (default) or false: let the policy choose suites.")] = None,
    policy_config: Annotated[
        str | None,
        typer.Option(help="Configuration file of the policy. Default: the documented one that is installed."),
    ] = None,
    strategy: Annotated[
        str | None, typer.Option(help="Of the policy: measured, cascade, expert, rl or hybrid.")
    ] = None,
    detect: Detect = None,
    together: Annotated[
        str | None,
        typer.Option(help="true (default) or false: sensing, policy and detector share one process."),
    ] = None,
    record: Record = None,
    autostart: Autostart = None,
    log_level: LogLevel = None,
    use_respawn: UseRespawn = None,
    use_sim_time: UseSimTime = None,
    verbose: Verbose = False,
    check: Check = False,
) -> ExitCode:
    """Run the airborne end."""
    return run_end("drone", locals())


@up_app.command()
def gcs(
    namespace: Namespace = None,
    config: Config = None,
    params_file: ParamsFile = None,
    keys: Keys = None,
    proxy: Proxy = None,
    drones: Annotated[str | None, typer.Option(help="Ids of the drones to serve, separated by commas.")] = None,
    bind: Annotated[str | None, typer.Option(help="Local address to serve drones on.")] = None,
    suite: Annotated[str | None, typer.Option(help="Only suite to accept: short code or id.")] = None,
    key_pool_depth: Annotated[
        str | None, typer.Option(help="Key pairs to make ahead of time for each KEM; 0 = none, for benchmarks.")
    ] = None,
    mavlink: Mavlink = None,
    fcu_url: FcuUrl = None,
    gcs_url: GcsUrl = None,
    mavros_allow: MavrosAllow = None,
    mavros_namespace: MavrosNamespace = None,
    tgt_system: TgtSystem = None,
    tgt_component: TgtComponent = None,
    mavros_system_id: MavrosSystem = None,
    pluginlists_yaml: PluginLists = None,
    config_yaml: MavrosConfig = None,
    detect: Detect = None,
    record: Record = None,
    autostart: Autostart = None,
    log_level: LogLevel = None,
    use_respawn: UseRespawn = None,
    use_sim_time: UseSimTime = None,
    verbose: Verbose = False,
    check: Check = False,
) -> ExitCode:
    """Run the ground end."""
    return run_end("gcs", locals())


@up_app.command()
def demo(
    config: Config = None,
    suite: Annotated[str | None, typer.Option(help="Cipher suite: short code or id, see 'pqcmav suites'.")] = None,
    rate: Annotated[str | None, typer.Option(help="Messages per second of the vehicle.")] = None,
    profile: Annotated[str | None, typer.Option(help="What the vehicle does: auto, hover or client.")] = None,
    log_level: LogLevel = None,
    verbose: Verbose = False,
) -> int:
    """Run a simulated vehicle, both ends and a ground client on this machine; watch them with 'pqcmav status'."""
    refuse_without_ros("pqcmav up demo")
    from pqc_mav_bringup.demo_session import DemoSession
    from pqc_mav_bringup.description import BringupError
    from pqc_mav_bringup.supervise import supervise

    given = {"config": config, "suite": suite, "rate": rate, "profile": profile}
    given["log_level"] = _level(log_level, verbose)
    try:
        with engine_errors(), DemoSession({key: value for key, value in given.items() if value}) as session:
            try:
                # In this process, which removes the keys at the end.
                return ExitCode(supervise("demo", session.values))
            except BringupError as error:
                raise CliError(str(error), ExitCode.USAGE) from None
    except BringupError as error:
        raise CliError(str(error)) from None


def _level(log_level: str | None, verbose: bool) -> str | None:
    return log_level or ("debug" if verbose else None)


def run_end(name: str, options: dict[str, Any]) -> ExitCode:
    """Supervises one end in place of this process, with the options that were given; or only checks it."""
    refuse_without_ros(f"pqcmav up {name}")
    check, verbose = options.pop("check"), options.pop("verbose")
    given = {**options, "log_level": _level(options["log_level"], verbose)}
    given = {key: value for key, value in given.items() if value is not None}
    if check:
        from pqc_mav_cli.up_check import check_end

        return check_end(name, given)
    from pqc_mav_bringup.supervise import replace_process

    return replace_process(PROGRAM, name, given)
