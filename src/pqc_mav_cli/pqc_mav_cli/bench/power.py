# SPDX-License-Identifier: Apache-2.0
"""`pqcmav bench power`: what the power sensor of this machine says, and whether a meter agrees with it."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pqc_mav_cli.errors import CliError, ExitCode

if TYPE_CHECKING:
    from pqc_mav_sensing.power_sampler import PowerView
    from pqc_mav_sensing.power_source import PowerSource

_WINDOW_S = 1.0
_STEPS = """\
The shunt of an INA219 is often some percent off, and so are its watts. To compare it with a meter:
1. Power this machine through the sensor and through a meter that shows amperes, such as one for USB.
2. Let it rest for a minute. Read the meter, and give at once
     pqcmav bench power --calibrate --meter-a AMPERES
3. Load all cores ('stress-ng --cpu 0' in another terminal), read it again, and give the same command.
   The currents must differ by {spread:.0f} % or more; further loads make it surer.
Within {tolerance:.0f} % of the meter at each load the sensor is good, and 'pqcmav bench power' prints joules. If it is
not, the command says which shunt_ohm to write into sensing.yaml. After a mistyped figure or a mended wire, remove
the file it names."""


def power(
    seconds: Annotated[float, typer.Option(help="How long to read, in seconds.", min=2, max=3600)] = 30.0,
    calibrate: Annotated[bool, typer.Option("--calibrate", help="How to compare the sensor with a meter.")] = False,
    meter_a: Annotated[
        float | None, typer.Option(help="With --calibrate: the current that a meter shows now [A].", min=0.01, max=100)
    ] = None,
    sensing_config: Annotated[
        Path | None, typer.Option(help="Configuration file of the sensing nodes. Default: the packaged one.")
    ] = None,
) -> int:
    """Read the power sensor: watts with their 95 % interval, and joules once a meter was found to agree.

    Nothing else may read the sensor meanwhile. 'pqcmav bench power --calibrate' says how to compare it with a meter.
    """
    from pqc_mav_bench.analysis.statistics import shown_mean
    from pqc_mav_sensing import power_calibration as calibration
    from pqc_mav_sensing.errors import SensorError

    if meter_a is not None and not calibrate:
        raise CliError("--meter-a is for --calibrate.", ExitCode.USAGE)
    if calibrate and meter_a is None:
        print(_STEPS.format(spread=100 * (calibration.SPREAD - 1), tolerance=100 * calibration.TOLERANCE))
        return ExitCode.OK
    sources, values = _sensors(sensing_config)
    views = _read(sources, seconds)
    last, summaries = views[-1], [view.summary for view in views]
    settings = {"source": last.source, **_told(sources, last, values)}
    folder, shunt = values.path("trace_folder"), settings.get("shunt_ohm")
    amperes = [summary.current_a for summary in summaries]
    shown = [f"{shown_mean([summary.power_mean_w for summary in summaries], 3)} W"]
    shown += [] if math.isnan(amperes[0]) else [f"{shown_mean(amperes, 4)} A"]
    print(f"{last.source}: {', '.join(shown)} (95 %, {len(summaries)} windows of {_WINDOW_S:g} s)")
    try:
        pairs = calibration.load(folder, settings)
        if meter_a is not None:
            if math.isnan(amperes[0]):
                raise CliError(f"{last.source} says no current here, so there is nothing to compare.")
            at = datetime.now(timezone.utc).isoformat(timespec="seconds")
            pairs.append(calibration.Pair(meter_a, math.fsum(amperes) / len(amperes), at))
            print(calibration.save(folder, settings, pairs))
    except SensorError as error:
        raise CliError(f"{error}.") from None
    verdict = calibration.judged(pairs, shunt)
    print(f"The sensor {verdict.text}.")
    if calibrate:
        return ExitCode.OK if verdict.good else ExitCode.FAILED
    if verdict.good:
        print(f"{last.energy_j:.1f} J in {sum(summary.interval_s for summary in summaries) - last.missing_s:.1f} s")
    else:
        print("So no joules. 'pqcmav bench power --calibrate' says how to get them.")
    return ExitCode.OK


def _sensors(file: Path | None) -> tuple[list[PowerSource], Any]:
    """The sensors that the configuration allows, best first, and the parameters of their node."""
    from pqc_mav_bringup.share import config_file as packaged
    from pqc_mav_common import config_file, parameters
    from pqc_mav_sensing.power_node import NODE_NAME, PARAMETERS, sources

    file = file or packaged("sensing.yaml")
    given = config_file.parameters(config_file.load(file), "drone", NODE_NAME)
    values = parameters.check(NODE_NAME, PARAMETERS, parameters.plain_values(given))
    found = [source for source in sources(values) if source.measured]
    if not found:
        raise CliError(f"{file}: power_source is 'model', which computes watts from the load; it measures nothing.")
    return found, values


def _told(sources: Sequence[PowerSource], read: PowerView, values: Any) -> dict[str, Any]:
    """Which chip was read, and what it was told: with another one, or another shunt, earlier pairs do not count."""
    from pqc_mav_sensing.power_source import HwmonSource

    for source in sources:
        if isinstance(source, HwmonSource) and source.name == read.source:
            return dict(source.chip())
    keys = ("shunt_ohm", "largest_current_a", "largest_voltage_v", "i2c_bus", "ina219_address")
    return {key: values[key] for key in keys}


def _read(sources: Sequence[PowerSource], seconds: float) -> list[PowerView]:
    """One view for each second in which the sensor was read throughout; the first of them begins with a sample."""
    from pqc_mav_sensing.power_sampler import PowerSampler
    from pqc_mav_sensing.sampling_thread import SamplingThread

    sampler = PowerSampler(sources, time.monotonic())
    failed: list[Exception] = []
    reader = SamplingThread("power", sampler.tick, failed.append)
    reader.start()
    views: list[PowerView] = []
    try:
        for _ in range(math.ceil(seconds / _WINDOW_S)):
            time.sleep(_WINDOW_S)
            views.append(sampler.summary(time.monotonic()))
    finally:
        reader.stop()
        sampler.close()
    if failed:
        raise failed[0]
    bad = [view for view in views if not view.valid]
    if bad:
        lost = f" in {len(bad)} of {len(views)} s" if len(bad) < len(views) else ""
        raise CliError(f"The power sensor could not be read{lost}: {bad[-1].reason}.")
    if len({view.source for view in views}) > 1:
        raise CliError("The power sensor changed while it was read: choose one by power_source.")
    return views
