# SPDX-License-Identifier: Apache-2.0
"""The vocabulary in which a system is described: arguments, processes, respawn policies.

A description is data. Texts in it may name arguments in braces (`"{namespace}"`); `resolve` puts the values in and
leaves out what its conditions exclude. Both the launch files and the supervisor start what `resolve` returns, so the
two cannot drift apart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from typing import Any

from pqc_mav_bringup.respawn import Respawn


class BringupError(Exception):
    """A system cannot be started as asked: one sentence for a person."""


@dataclass(frozen=True)
class Argument:
    """A value the user may give at start; `choices` empty = any.

    `automatic` says what "auto" stands for.
    """

    name: str
    description: str
    default: str = ""
    choices: tuple[str, ...] = ()
    automatic: Callable[[], str] | None = None

    @property
    def allowed(self) -> tuple[str, ...]:
        """The choices, and a default that is none of them; empty = any."""
        return tuple(dict.fromkeys((*self.choices, self.default))) if self.choices else ()


NAMESPACES = ("namespace", "mavros_namespace")  # arguments that are one
# Arguments of every system, by the names that ROS users know from Nav2.
PARAMS_FILE = "params_file"
NODE_ARGUMENTS = (
    Argument(
        "autostart",
        "Whether the nodes configure and activate themselves; false leaves both to a lifecycle manager or to "
        "'ros2 lifecycle set'.",
        "true",
        ("true", "false"),
    ),
    Argument("log_level", "Log level of the nodes.", "info", ("debug", "info", "warn", "error", "fatal")),
    Argument("use_respawn", "Whether to start again what died.", "true", ("true", "false")),
    Argument("use_sim_time", "Whether the nodes take their time from /clock.", "false", ("true", "false")),
)


@dataclass(frozen=True)
class Setting:
    """A node parameter: text with arguments in it, converted to str, int, bool or list.

    It is left out when the text comes out empty, when an argument of `when` has another value, and when one of `unless`
    has that value.
    """

    text: str
    kind: type = str
    when: Mapping[str, str] = field(default_factory=dict)
    unless: Mapping[str, str] = field(default_factory=dict)

    def value(self, arguments: Mapping[str, str]) -> Any:
        """The parameter's value; None = not set here, so the configuration file or the default decides."""
        text = self.text.format_map(arguments)
        if text == "" or any(arguments[name] != wanted for name, wanted in self.when.items()):
            return None
        if any(arguments[name] == unwanted for name, unwanted in self.unless.items()):
            return None
        if self.kind is list:
            return [item.strip() for item in text.split(",") if item.strip()]
        if self.kind is bool:
            return text.lower() in ("true", "1", "yes", "on")
        return self.kind(text)


@dataclass(frozen=True)
class ProcessDescription:
    """One process: a ROS node when `node` is set, any program otherwise.

    `settings`, `config`, `files` (further parameter files) and `remaps` are for ROS nodes; keys of `settings` and
    `remaps` may name arguments too. `when` maps argument names to the value they must have, `unless` to one they must
    not have. `nice` lowers its priority by so much: whatever carries no packets gives way to what does. `check` looks
    at the arguments of a process that is to run and raises BringupError. `hint` says how to get a package that is
    missing.
    """

    name: str
    package: str
    executable: str
    node: str = ""
    namespace: str = ""
    config: str = ""
    files: tuple[str, ...] = ()
    settings: Mapping[str, Setting] = field(default_factory=dict)
    arguments: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    remaps: Mapping[str, str] = field(default_factory=dict)
    when: Mapping[str, str] = field(default_factory=dict)
    unless: Mapping[str, str] = field(default_factory=dict)
    respawn: Respawn | None = field(default_factory=Respawn)
    nice: int = 0
    check: Callable[[Mapping[str, str]], None] | None = None
    hint: str = ""


@dataclass(frozen=True)
class SystemDescription:
    """A system that is started as one: what `pqcmav up NAME` and `NAME.launch.py` run."""

    name: str
    description: str
    arguments: tuple[Argument, ...]
    processes: tuple[ProcessDescription, ...]


@dataclass(frozen=True)
class Process:
    """A process with all values in place, ready to be started."""

    label: str
    package: str
    executable: str
    node: str
    namespace: str
    config: str
    parameters: Mapping[str, Any]
    arguments: tuple[str, ...]
    respawn: Respawn | None
    hint: str
    environment: Mapping[str, str] = field(default_factory=dict)
    remaps: Mapping[str, str] = field(default_factory=dict)
    files: tuple[str, ...] = ()
    log_level: str = ""
    nice: int = 0

    @property
    def parameter_files(self) -> tuple[str, ...]:
        """All of them; in ROS a later one wins."""
        return (*((self.config,) if self.config else ()), *self.files)


def refuse_unknown(system: SystemDescription, names: Iterable[str]) -> None:
    """Raises BringupError for a name that is no argument of the system, with the closest that is."""
    known = [argument.name for argument in system.arguments]
    for name in names:
        if name not in known:
            close = get_close_matches(name, known, n=1)
            hint = f" Did you mean '{close[0]}'?" if close else f" Known: {', '.join(known)}."
            raise BringupError(f"'{name}' is not an argument of '{system.name}'.{hint}")


def complete(system: SystemDescription, given: Mapping[str, str]) -> dict[str, str]:
    """Given values with the defaults of the others. Raises BringupError for unknown names and values."""
    refuse_unknown(system, given)
    known = {argument.name: argument for argument in system.arguments}
    for name, value in given.items():
        allowed = known[name].allowed
        if allowed and value not in allowed:
            raise BringupError(f"'{name}' is '{value}'; it must be one of: {', '.join(known[name].choices)}.")
    values = {name: given.get(name, argument.default) for name, argument in known.items()}
    for name, argument in known.items():
        if argument.automatic and values[name] == "auto":
            values[name] = argument.automatic()
    if values.get(PARAMS_FILE):
        values["config"] = values[PARAMS_FILE]
    return values


def resolve(system: SystemDescription, given: Mapping[str, str], under: str = "") -> list[Process]:
    """The processes to start for these argument values. Raises BringupError.

    Namespaces are below `under`, but for those that begin with a slash.
    """
    values = complete(system, given)
    values |= {name: below(under, values[name]) for name in NAMESPACES if under and values.get(name)}
    return [
        _resolve_process(process, values, under)
        for process in system.processes
        if all(values[name] == wanted for name, wanted in process.when.items())
        and all(values[name] != unwanted for name, unwanted in process.unless.items())
    ]


def _once(respawn: Respawn | None) -> Respawn | None:
    """Of a process that is not to be started again; one that is not vital still ends alone."""
    return None if respawn is None or respawn.vital else replace(respawn, most_deaths=1)


def _filled(texts: Mapping[str, str], values: Mapping[str, str]) -> dict[str, str]:
    return {name.format_map(values): text.format_map(values) for name, text in texts.items()}


def below(under: str, namespace: str) -> str:
    """A namespace as ROS resolves it in another, without a slash in front."""
    return namespace.strip("/") if namespace.startswith("/") else f"{under}/{namespace}".strip("/")


def _resolve_process(process: ProcessDescription, values: Mapping[str, str], under: str) -> Process:
    if process.check is not None:
        process.check(values)
    parameters: dict[str, Any] = {}
    for name, setting in process.settings.items():
        try:
            value = setting.value(values)
        except ValueError:
            text = setting.text.format_map(values)
            raise BringupError(f"'{name}' is '{text}'; it must be a whole number.") from None
        if value is not None:
            parameters[name.format_map(values)] = value
    namespace = process.namespace.format_map(values).strip("/")
    if namespace and "{" not in process.namespace:  # the demo's
        namespace = below(under, namespace)
    is_ours = bool(process.node or process.config)
    is_ros = is_ours or bool(process.settings)  # mavros, which names its nodes itself
    if is_ros and values.get("use_sim_time") == "true":
        parameters["use_sim_time"] = True
    if is_ours and values.get("autostart") == "false":
        parameters["autostart"] = False
    return Process(
        label=f"{namespace}/{process.name}" if namespace else process.name,
        package=process.package,
        executable=process.executable,
        node=process.node,
        namespace=f"/{namespace}" if namespace else "",
        config=process.config.format_map(values),
        parameters=parameters,
        arguments=tuple(argument.format_map(values) for argument in process.arguments),
        respawn=_once(process.respawn) if values.get("use_respawn") == "false" else process.respawn,
        hint=process.hint,
        environment=_filled(process.environment, values),
        remaps=_filled(process.remaps, values),
        files=tuple(filter(None, (file.format_map(values) for file in process.files))),
        log_level=values.get("log_level", "") if is_ros else "",
        nice=process.nice,
    )
