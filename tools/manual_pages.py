#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Write the manual pages pqcmav(1), pqcmav-tunneld(8) and pqcmav.yaml(5), from the programs and the engine's schema.

    tools/run python tools/manual_pages.py FOLDER

`make deb` packs them. Nothing of them is written by hand that the programs say themselves.
"""

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from enum import Enum
from pathlib import Path
from typing import Any

import configuration_doc
import pqc_mav_tunnel
import typer

from pqc_mav_cli.app import make_app, reflow
from pqc_mav_common.parameters import ParameterSpec, yaml_text

DAEMON = "pqcmav-tunneld"
WITHOUT_ROS = (
    "keys, invite, join, suites, doctor, status, rekey, reload, pause, resume, drones, station, path, avoid, logs, "
    "metrics, dashboard"
)


def plain(text: str) -> str:
    """Return text as roff that shows it unchanged."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"^([.'])", r"\\&\1", text, flags=re.MULTILINE)


def head(name: str, section: int, sentence: str) -> list[str]:
    """Return the first lines of a page."""
    date = time.strftime("%Y-%m-%d", time.gmtime(float(os.environ.get("SOURCE_DATE_EPOCH", time.time()))))
    return [
        f'.TH {plain(name.upper())} {section} {date} "PQC\\-MAV {pqc_mav_tunnel.engine_version()}" "PQC\\-MAV"',
        ".SH NAME",
        f"{plain(name)} \\- {plain(sentence)}",
    ]


def item(tag: str, text: Iterable[str]) -> list[str]:
    """Return an entry of a list."""
    return [".TP", f".B {plain(tag)}", *map(plain, text)]


def _paragraphs(text: str) -> list[str]:
    return "\n.PP\n".join(map(plain, text.strip().split("\n\n"))).splitlines()


def _choices(parameter: Any) -> list[str]:
    kind = getattr(getattr(parameter, "type_descriptor", None), "annotation", None)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return [str(each.value) for each in kind]
    return [str(getattr(each, "value", each)) for each in getattr(getattr(parameter, "type", None), "choices", ())]


def _parameter(parameter: Any) -> list[str]:
    """Return what an option or an argument is: its names, whether it repeats, its meaning."""
    option = parameter.param_type_name == "option"
    names = ", ".join((*parameter.opts, *parameter.secondary_opts)) if option else parameter.name.upper()
    takes = option and not parameter.is_flag
    words = _choices(parameter)
    kind = "|".join(words) or parameter.name.upper()
    text = " ".join((getattr(parameter, "help", None) or "").split())
    if parameter.nargs == -1 or getattr(parameter, "multiple", False):
        text += " May be repeated." if option else " One or more."
    if not option and words:
        text += f" One of {', '.join(words)}."
    return item(f"{names} {kind}" if takes else names, [text.strip() or "See above."])


def commands(command: Any, words: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    """Yield every command below this one with the words that call it."""
    inner = getattr(command, "commands", {})
    if words and (not inner or getattr(command, "invoke_without_command", False)):
        yield " ".join(words), command
    for name, each in inner.items():
        if not each.hidden:
            yield from commands(each, (*words, name))


def command_line() -> Any:
    """Return the command line of pqcmav."""
    made = typer.main.get_command(make_app())
    reflow(made)
    return made


def pqcmav() -> str:
    """Return pqcmav(1)."""
    root = command_line()
    lines = head("pqcmav", 1, "post-quantum tunnel for MAVLink: keys, ends, status")
    lines += [".SH SYNOPSIS", ".B pqcmav", r"[\fIOPTION\fR] \fICOMMAND\fR [\fIARGUMENT\fR]...", ".SH DESCRIPTION"]
    lines += _paragraphs(root.help)
    lines += [".PP"]
    lines += _paragraphs(
        f"Without ROS 2, as in the Debian package, it has {WITHOUT_ROS}; the others say what they need."
    )
    lines += [".SH OPTIONS", *(line for each in root.params for line in _parameter(each)), ".SH COMMANDS"]
    for words, command in commands(root):
        lines += [f'.SS "pqcmav {plain(words)}"', *_paragraphs(command.help or "")]
        lines += [line for each in command.params if not getattr(each, "hidden", False) for line in _parameter(each)]
    lines += [".SH FILES", *item("~/.pqcmav/keys", ["Long-term keys, unless --root names another folder."])]
    lines += [".SH SEE ALSO", rf".BR {plain(DAEMON)} (8),", ".BR pqcmav.yaml (5)"]
    return "\n".join(lines) + "\n"


def tunneld() -> str:
    """Return pqcmav-tunneld(8), from what the program says of itself."""
    said = subprocess.run([DAEMON, "--help"], capture_output=True, text=True, check=True, timeout=60).stdout
    usage, *rest = said.splitlines()
    lines = head(DAEMON, 8, "one end of a post-quantum tunnel for MAVLink")
    lines += [".SH SYNOPSIS", f".B {plain(usage.removeprefix('Usage: '))}", ".SH DESCRIPTION"]
    options, sentences = [], []
    for line in rest:
        if match := re.match(r"  (--.+?)  +(.*)", line):
            options.append((match[1], [match[2]]))
        elif line.startswith("   ") and options:
            options[-1][1].append(line.strip())
        elif "docs/configuration.md" not in line:
            sentences.append(line)
    lines += map(plain, (line for line in sentences if not line.startswith("Exit codes: ")))
    lines += [".SH OPTIONS", *(line for option in options for line in item(*option))]
    lines += [".SH EXIT STATUS", *(plain(line[12:]) for line in sentences if line.startswith("Exit codes: "))]
    lines += [".SH ENVIRONMENT"]
    lines += item("PQCMAV_HEALTH_FILE", ["A file that says every second whether the end works, for --healthy."])
    lines += item("PQCMAV_CORE_DUMPS=1", ["Keep core dumps, which have keys in them: for developers."])
    lines += item("NOTIFY_SOCKET, WATCHDOG_USEC", ["systemd's: it is told of the start, and that packets are carried."])
    lines += [".SH FILES"]
    lines += item(
        "/etc/pqcmav/tunneld/ROLE.yaml", ["Configuration of the unit pqcmav-tunneld@ROLE; ROLE is drone or gcs."]
    )
    lines += item("/etc/pqcmav/keys", ["The keys that both examples name."])
    lines += [".SH SEE ALSO", ".BR pqcmav (1),", ".BR pqcmav.yaml (5),", ".BR systemctl (1)"]
    return "\n".join(lines) + "\n"


def _keys(entries: Iterable[configuration_doc.Entry], prefix: str = "") -> Iterator[str]:
    for spec in map(ParameterSpec.from_schema, entries):
        known = "Required." if spec.required else f"Default: {yaml_text(spec.default)}."
        yield from (*item(prefix + spec.name, [spec.description]), ".br", plain(f"{spec.valid()}. {known}"))


def configuration() -> str:
    """Return pqcmav.yaml(5)."""
    lines = head("pqcmav.yaml", 5, "configuration of one end of a PQC-MAV tunnel")
    lines += [".SH DESCRIPTION"]
    lines += _paragraphs(
        "A YAML file of keys and values, one for each end: pqcmav-tunneld reads /etc/pqcmav/tunneld/drone.yaml or "
        "gcs.yaml. A key left out has its default. An unknown key, a wrong type, a value out of range and a missing "
        "required key are refused before a socket is opened."
    )
    for title, entries in configuration_doc.sections():
        lines += [f".SH {title.upper()}", *_keys(entries)]
    lines += [".SH PER DRONE, ON THE GCS", *_paragraphs("For each drone in 'drones':")]
    lines += _keys(pqc_mav_tunnel.per_drone_schema(), "drone.ID.")
    lines += [".SH PER PATH, ON THE DRONE", *_paragraphs("For each path in 'paths':")]
    lines += _keys(pqc_mav_tunnel.per_path_schema(), "path.NAME.")
    lines += [".SH EXAMPLE", ".nf", "role: drone", "keys: /etc/pqcmav/keys", "drone_id: drone1"]
    lines += ["peer: gcs.example.org", ".fi", ".SH SEE ALSO", rf".BR {plain(DAEMON)} (8),", ".BR pqcmav (1)"]
    return "\n".join(lines) + "\n"


def pages() -> dict[str, str]:
    """Return every page by its file's name."""
    return {"pqcmav.1": pqcmav(), f"{DAEMON}.8": tunneld(), "pqcmav.yaml.5": configuration()}


def main() -> int:
    """Write the pages."""
    if len(sys.argv) != 2:
        print("usage: tools/run python tools/manual_pages.py FOLDER", file=sys.stderr)
        return 2
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in pages().items():
        (folder / name).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
