# SPDX-License-Identifier: Apache-2.0
"""Node `power`: publishes power and energy of this computer, summaries of many samples, and records them on request."""

import time
from collections.abc import Iterable
from datetime import datetime, timezone
from typing import Any

import psutil
from pqc_mav_interfaces.msg import PowerSample
from std_srvs.srv import SetBool

from pqc_mav_common.diagnostics import Diagnostic, Level
from pqc_mav_common.parameters import ParameterSpec, Values
from pqc_mav_common.qos import sensor
from pqc_mav_sensing import conversions, ina219_registers
from pqc_mav_sensing.errors import SensorError
from pqc_mav_sensing.ina219 import Bus
from pqc_mav_sensing.node_base import SensingNode
from pqc_mav_sensing.power_sampler import PowerSampler, PowerView
from pqc_mav_sensing.power_source import HwmonSource, Ina219Source, ModelSource, PowerModel, PowerSource
from pqc_mav_sensing.power_trace import PowerTrace

NODE_NAME = "pqc_power"
PUBLISH_S = 0.1  # from a quick source; a slow one has at least SAMPLES readings in each message
SAMPLES = 2
NO_SOURCE_S = 0.5

PARAMETERS = (
    ParameterSpec(
        "power_source",
        "auto",
        "Where power figures come from; auto = the first available of ina219, hwmon and model. 'model' estimates them "
        "from the processor's load and says so.",
        choices=("auto", "ina219", "hwmon", "model"),
    ),
    ParameterSpec(
        "i2c_bus", 1, "Number of the INA219's I2C bus (/dev/i2c-N). 1 kHz needs a bus clock of 400 kHz.", 0, 99
    ),
    ParameterSpec("ina219_address", 0x40, "Address of the INA219 on it.", 0x40, 0x4F),
    ParameterSpec("shunt_ohm", 0.1, "Resistance of the shunt.", 0.0001, 10.0, unit="ohm"),
    ParameterSpec(
        "largest_current_a",
        3.2,
        "Largest current expected; shunt_ohm times this is at most 0.32 V. Smaller gives finer steps.",
        0.001,
        1000.0,
        unit="A",
    ),
    ParameterSpec("largest_voltage_v", 16.0, "Largest supply voltage expected.", 1.0, 26.0, unit="V"),
    ParameterSpec(
        "power_rate_hz",
        1000.0,
        "Samples per second asked of the INA219, whose resolution is chosen to meet it (1,000: shunt 12, bus 11 bit).",
        1.0,
        2000.0,
        unit="Hz",
    ),
    ParameterSpec("hwmon_root", "/sys/class/hwmon", "Folder of the kernel's hardware monitors."),
    ParameterSpec("model_idle_w", PowerModel.idle_w, "Model: power at no load.", 0.0, 500.0, unit="W"),
    ParameterSpec("model_full_w", PowerModel.full_w, "Model: power at full load.", 0.0, 1000.0, unit="W"),
    ParameterSpec("trace_folder", "~/.pqcmav/power", "Where 'record' writes raw samples as CSV."),
)


def open_i2c(number: int) -> Bus:
    """The I2C bus through smbus2; raises OSError."""
    from smbus2 import SMBus

    bus: Bus = SMBus(number)
    return bus


def processor_times() -> tuple[float, float]:
    """(busy, total) time of all cores since boot [s]."""
    times = psutil.cpu_times()
    total: float = times.user + times.nice + times.system + times.idle
    idle: float = times.idle
    for name in ("iowait", "irq", "softirq", "steal"):
        total += getattr(times, name, 0.0)
    idle += getattr(times, "iowait", 0.0)
    return total - idle, total


def sources(values: Values) -> list[PowerSource]:
    """The sources that 'power_source' allows, best first. Raises SensingError for a shunt that cannot be."""
    setup = ina219_registers.setup_for(
        values["shunt_ohm"], values["largest_current_a"], values["power_rate_hz"], values["largest_voltage_v"]
    )
    model = PowerModel(values["model_idle_w"], values["model_full_w"])
    number = values["i2c_bus"]
    known: dict[str, PowerSource] = {
        "ina219": Ina219Source(lambda: open_i2c(number), values["ina219_address"], setup, values["power_rate_hz"]),
        "hwmon": HwmonSource(values.path("hwmon_root")),
        "model": ModelSource(model, processor_times),
    }
    chosen = values["power_source"]
    return list(known.values()) if chosen == "auto" else [known[chosen]]


def interval_s(rate_hz: float) -> float:
    """How long a message sums up a source that is read at this rate; 0 = there is none."""
    return max(PUBLISH_S, SAMPLES / rate_hz) if rate_hz > 0 else NO_SOURCE_S


class PowerNode(SensingNode):
    """Electrical power of the companion computer."""

    fixed = frozenset({"trace_folder"})

    def __init__(self, siblings: Iterable[str] = (), **arguments: Any) -> None:
        super().__init__(NODE_NAME, PARAMETERS, siblings, **arguments)
        self._trace: PowerTrace | None = None
        self._sampler: PowerSampler | None = None

    def offer(self) -> None:
        """The power, and the service that records it."""
        super().offer()
        self._power = self.create_lifecycle_publisher(PowerSample, "power", sensor())
        self.create_service(SetBool, "~/record", self._record)
        # One of the two runs: a slow source does not have the process woken ten times a second.
        self._quick = self.every(PUBLISH_S, self._publish)
        self._slow = self.create_timer(NO_SOURCE_S, self._publish)
        self._slow.cancel()

    def set_up(self) -> None:
        """Finds out which sources may be used."""
        self._sources = sources(self.values)

    def begin(self) -> None:
        """Opens the best source there is and reads it."""
        self._last: PowerView | None = None
        self._spoken = ""
        self._due_s = 0.0
        self._sampler = PowerSampler(self._sources, time.monotonic(), self._on_sample)
        self.sample_with("power", self._sampler.tick)

    def end(self) -> None:
        """Ends the sampling and completes a trace under way."""
        super().end()
        sampler, self._sampler = self._sampler, None
        if sampler is not None:
            self._slow.cancel()
            sampler.close()
        if self._trace is not None:
            try:
                self.get_logger().info(self._finish_trace())
            except SensorError as error:
                self.get_logger().error(str(error))

    def diagnose(self) -> list[Diagnostic]:
        """One entry: source, rate and what went wrong in the last interval."""
        view = self._last
        if view is None:
            return [Diagnostic("power", Level.WARN, "no interval has ended yet")]
        summary = view.summary
        values = {
            "source": view.source,
            "rate_hz": f"{summary.rate_hz:.0f}",
            "target_rate_hz": f"{view.target_rate_hz:g}",
            "resolution": view.resolution,
            "duplicates": summary.duplicates,
            "overflows": summary.overflows,
            "errors": summary.errors,
            "restarts": view.restarts,
            "energy_gaps_s": f"{view.missing_s:.1f}",
        }
        if not view.valid:
            return [Diagnostic("power", Level.ERROR, view.reason, values)]
        if not view.measured:
            return [Diagnostic("power", Level.WARN, "no sensor: the figures come from a model", values)]
        return [Diagnostic("power", Level.OK, f"{summary.power_mean_w:.2f} W", values)]

    def _on_sample(self, at_s: float, volts: float, amperes: float, watts: float) -> None:
        trace = self._trace
        if trace is not None:
            trace.add(at_s, volts, amperes, watts)

    def _publish(self) -> None:
        now_s, sampler = time.monotonic(), self._sampler
        if sampler is None or now_s < self._due_s:
            return
        view = self._last = sampler.summary(now_s)
        every_s = interval_s(view.target_rate_hz)
        self._due_s = now_s + every_s - PUBLISH_S / 2
        wanted, other = (self._slow, self._quick) if every_s >= NO_SOURCE_S else (self._quick, self._slow)
        if wanted.is_canceled():
            other.cancel()
            wanted.reset()
        if view.source != self._spoken:
            self._spoken = view.source
            about = f", {view.resolution}" if view.resolution else ""
            kind = "measured by" if view.measured else "no measurement, source"
            self.get_logger().info(f"power: {kind} {view.source}{about}")
        self._power.publish(conversions.power_message(view, self.header()))

    def _record(self, request: SetBool.Request, response: SetBool.Response) -> SetBool.Response:
        try:
            response.message = self._begin_trace() if request.data else self._finish_trace()
            response.success = True
        except SensorError as error:
            response.message = str(error)
        return response

    def _begin_trace(self) -> str:
        if not self.active:
            raise SensorError("the node is not active: nothing is measured")
        if self._trace is not None:
            raise SensorError(f"a trace is being written already: {self._trace.path}")
        name = datetime.now(timezone.utc).strftime("power-%Y%m%dT%H%M%S.%fZ.csv")
        self._trace = PowerTrace(self.values.path("trace_folder") / name)
        return f"recording to {self._trace.path}"

    def _finish_trace(self) -> str:
        trace, self._trace = self._trace, None
        if trace is None:
            raise SensorError("no trace is being written")
        return f"{trace.finish()} samples in {trace.path}"
