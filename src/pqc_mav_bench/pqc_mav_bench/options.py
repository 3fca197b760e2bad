# SPDX-License-Identifier: Apache-2.0
"""The options of a campaign: checked once, written into its manifest, the same for `run` and `resume`."""

from collections.abc import Iterable
from typing import Any, Literal

from pqc_mav_bench.errors import OptionsError
from pqc_mav_bench.link_presets import PRESETS, SERIAL, words_of
from pqc_mav_bench.models import BaseModel, ConfigDict, Field, ValidationError, field_validator
from pqc_mav_bench.scenario import SCENARIOS
from pqc_mav_common.key_values import nested
from pqc_mav_sim.impairment.described import described
from pqc_mav_sim.impairment.settings import ImpairmentError

MAVLINK_HZ = 320.0
BULK_MBPS = 8.0
BULK_BYTES = 256
MOST_HANDSHAKES = 1000
#: Those of docs/configuration.md, to which autopilots and ground software are set up.
AUTOPILOT_PORT, GROUND_PORT = 14590, 14550


class WorkloadOptions(BaseModel):
    """What traffic runs. `mavlink`: real messages both ways, of a simulated vehicle and a ground client; `bulk`: the
    constant-rate load of October 2025; `external`: what an autopilot and ground software send, counted at the proxies.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: Literal["mavlink", "bulk", "external"] = "mavlink"
    messages_per_s: float = Field(MAVLINK_HZ, ge=5, le=5000, description="mavlink: per direction")
    mbps: float = Field(BULK_MBPS, gt=0, le=400, description="bulk: UDP payload, per direction")
    packet_bytes: int = Field(BULK_BYTES, ge=64, le=1432, description="bulk: size of a packet")
    direction: Literal["up", "down", "both"] = Field("up", description="bulk: up is ground to drone, as published")
    echo_every: int = Field(
        20, ge=1, le=1000, description="bulk: every n-th packet is answered, which gives round trips"
    )
    autopilot_port: int = Field(
        AUTOPILOT_PORT, ge=1, le=65535, description="external, on one machine: where the autopilot sends to"
    )
    ground_port: int = Field(
        GROUND_PORT, ge=1, le=65535, description="external, on one machine: where the ground software listens"
    )

    @property
    def generated(self) -> bool:
        """Whether the benchmark makes the traffic itself."""
        return self.kind != "external"

    def words(self) -> str:
        """The load for a reader."""
        if self.kind == "mavlink":
            return f"{self.messages_per_s:g} MAVLink messages/s each way, simulated vehicle and ground client"
        if self.kind == "bulk":
            return f"{self.mbps:g} Mbit/s of {self.packet_bytes}-byte UDP packets, direction {self.direction}"
        return "what an autopilot and ground software sent, counted at the proxies"


class CampaignOptions(BaseModel):
    """Everything a campaign is asked for. Seeds make the order of the runs repeatable."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = Field("", pattern=r"^[A-Za-z0-9._-]{0,64}$", description="name of the campaign; empty: by its start")
    suites: list[str] = Field([], description="suite ids or short codes; empty: all of `view`")
    view: Literal["core", "extended", "2025"] = "core"
    scenarios: list[str] = Field(["baseline"], min_length=1)
    repetitions: int = Field(1, ge=1, le=1000)
    duration_s: float = Field(30.0, ge=0.5, le=3600, description="data time of a run")
    handshakes: int = Field(
        1,
        ge=1,
        le=MOST_HANDSHAKES,
        description="of each run's suite: the first brings it up, the others renew its keys under traffic, before the "
        "data time",
    )
    rekey_interval_s: float = Field(60.0, gt=0, description="R of Phi(R)")
    workload: WorkloadOptions = Field(default_factory=lambda: WorkloadOptions.model_validate({}))
    randomise: bool = True
    seed: int = Field(20260221, ge=0)
    link: str = Field(
        "",
        max_length=80,
        description="between the ends on one machine, each way: delay, loss, rate: '20ms 5% 1Mbit', or a name: "
        + ", ".join(PRESETS),
    )
    attempts: int = Field(
        2, ge=1, le=10, description="tries of a run that fails, or during which a machine is busy with other work"
    )
    key_pool: bool = Field(
        False, description="the ground may take key pairs that it made ahead of time; else a run in which it does fails"
    )
    machine_name: str = Field("", max_length=120, description="written in place of the host names")
    emulate_detectors: bool = Field(False, description="put the documented load on in place of a scenario's detector")

    @field_validator("link")
    @classmethod
    def _link(cls, text: str) -> str:
        text = words_of(text)
        if text == SERIAL:
            return text
        try:
            described(text)
        except ImpairmentError as error:
            raise ValueError(str(error)) from None
        return " ".join(text.split())

    @field_validator("scenarios")
    @classmethod
    def _known(cls, names: list[str]) -> list[str]:
        for name in names:
            if name not in SCENARIOS:
                raise ValueError(f"there is no scenario '{name}'; there are {', '.join(SCENARIOS)}")
        return list(dict.fromkeys(names))


def command(options: CampaignOptions) -> str:
    """The command that asks for a campaign of these options; what has its default is left out."""
    work, plain = options.workload, CampaignOptions.model_validate({})
    words = [f"--suite {name}" for name in options.suites]
    words += [f"--view {options.view}"] if options.view != plain.view and not options.suites else []
    words += [f"--scenario {name}" for name in options.scenarios] if options.scenarios != plain.scenarios else []
    words += ["--emulated"] if options.emulate_detectors else []
    words += _given(options, "repetitions", "duration_s", "handshakes", "rekey_interval_s", "seed", "attempts")
    if work.kind == "bulk":
        words += ["--workload bulk", *_given(work, "mbps", "packet_bytes", "direction")]
    elif work.kind == "external":
        words += ["--workload external", *_given(work, "autopilot_port", "ground_port")]
    elif work.messages_per_s != MAVLINK_HZ:
        words.append(f"--rate {work.messages_per_s:.12g}")
    words += ["--key-pool"] if options.key_pool else []
    words += [f"--link '{options.link}'"] if options.link else []
    words += [] if options.randomise else ["--in-order"]
    return " ".join(["pqcmav bench run", *words])


def _given(options: BaseModel, *names: str) -> list[str]:
    """Those that do not have their default, as the command takes them."""
    plain = type(options).model_validate({})
    values = {name: getattr(options, name) for name in names if getattr(options, name) != getattr(plain, name)}
    return [
        f"--{name.removesuffix('_s').replace('_', '-')} {f'{value:.12g}' if isinstance(value, float) else value}"
        for name, value in values.items()
    ]


def told_options(pairs: Iterable[Any]) -> CampaignOptions:
    """Options out of KeyValue; none takes the defaults. Raises OptionsError with the first thing that is wrong."""
    try:
        return options_from(nested(pairs))
    except ValueError as error:
        raise OptionsError(f"The campaign's options do not go together: {error}.") from None


def options_from(data: Any) -> CampaignOptions:
    """Options out of parsed JSON. Raises OptionsError."""
    try:
        return CampaignOptions.model_validate(data)
    except ValidationError as error:
        first = error.errors()[0]
        path = ".".join(str(part) for part in first["loc"]) or "options"
        raise OptionsError(f"Campaign option '{path}': {first['msg']}.") from None
