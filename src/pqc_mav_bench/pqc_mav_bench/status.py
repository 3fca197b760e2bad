# SPDX-License-Identifier: Apache-2.0
"""`metric_status`: for every value that is missing, normal at zero, modelled or emulated, why. Pure."""

from pqc_mav_bench.schema.field import MetricField, Side
from pqc_mav_bench.schema.run import Finding, MetricStatus, RunMetrics, Severity, StatusKind, all_fields

Status = tuple[StatusKind, str]  # and why

_GCS_OPERATION = "GCS-side operation; not measured on drone"
_DRONE_OPERATION = "drone-side operation; not measured on the ground"
_UNSIGNED = "the drone does not sign: it authenticates by its PSK"

_FEW = "fewer than six handshakes have no 95 % interval of their median"

# Reasons that hold wherever the value is missing, by path.
_REASONS: dict[str, Status] = {
    "crypto_primitives.kem_keygen_ms": (StatusKind.UNAVAILABLE, _GCS_OPERATION),
    "crypto_primitives.kem_decaps_ms": (StatusKind.UNAVAILABLE, _GCS_OPERATION),
    "crypto_primitives.gcs_kem_encaps_ms": (StatusKind.UNAVAILABLE, _DRONE_OPERATION),
    "crypto_primitives.sig_sign_ms": (StatusKind.NOT_APPLICABLE, _UNSIGNED),
    "crypto_primitives.gcs_sig_verify_ms": (StatusKind.NOT_APPLICABLE, _UNSIGNED),
    "handshake.handshake_low_ms": (StatusKind.NOT_APPLICABLE, _FEW),
    "handshake.handshake_high_ms": (StatusKind.NOT_APPLICABLE, _FEW),
    "handshake.error": (StatusKind.NOT_APPLICABLE, "the handshake succeeded"),
    "handshake.reason": (StatusKind.NOT_APPLICABLE, "the handshake succeeded"),
    "run_context.link": (StatusKind.NOT_APPLICABLE, "nothing was put between the ends"),
    "lifecycle.renew_s": (StatusKind.NOT_APPLICABLE, "one handshake was asked for, so nothing is renewed"),
    "workload.scenario_load_memory_mib": (
        StatusKind.NOT_APPLICABLE,
        "a detector is asked for no memory; what it takes is system_drone.load_rss_mib",
    ),
    "lifecycle.failure_phase": (StatusKind.NOT_APPLICABLE, "the run succeeded"),
    "lifecycle.failure_reason": (StatusKind.NOT_APPLICABLE, "the run succeeded"),
}
_KEYGEN = "crypto_primitives.gcs_kem_keygen_ms"
_POOLED = "the key pair came from the gcs's pool (key_pool_depth), where it was made before the handshake"
_COUNTED = "the applications are seen at the proxies alone, which count datagrams and read no messages"
_AEAD = "fewer packets passed than the engine times (it times each 32nd)"
_EMULATED = (
    "workload.scenario_load",
    "workload.scenario_load_memory_mib",
    "system_drone.load_cpu_percent",
    "system_drone.load_rss_mib",
)
_SYSTEM = {
    "temperature_mean_c": "the kernel shows no thermal zone",
    "temperature_peak_c": "the kernel shows no thermal zone",
    "cpu_mhz": "the kernel shows no processor clock",
    "governor": "the kernel shows no frequency governor",
    "load_cpu_percent": "no detector or emulated load runs on this side",
    "load_rss_mib": "no detector or emulated load runs on this side",
    "foreign_cpu_percent": "what the campaign's own processes took is not known",
    "tunnel_arrangement": "the proxy's process was not found on this machine",
    "tunnel_cpu_percent": "the proxy's process was not found on this machine",
    "tunnel_rss_mib": "the proxy's process was not found on this machine",
}


def missing_status(run: RunMetrics, field: MetricField) -> Status:
    """Why a field is null."""
    known = _REASONS.get(field.path)
    if not run.lifecycle.success and field.path not in ("lifecycle.failure_phase", "lifecycle.failure_reason"):
        if known is not None and not field.path.startswith("handshake."):
            return known
        reason = run.lifecycle.failure_reason or "the run failed"
        return StatusKind.FAILED, f"the run failed before it was measured: {reason}"
    return _by_category(run, field) if known is None else known


def _by_category(run: RunMetrics, field: MetricField) -> Status:
    bulk, external = run.workload.workload == "bulk", run.workload.workload == "external"
    if field.path == _KEYGEN and run.crypto_primitives.gcs_keygen_pooled:
        return StatusKind.POOLED, _POOLED
    if field.category in ("system_drone", "system_gcs") and field.name in _SYSTEM:
        return StatusKind.UNAVAILABLE, _SYSTEM[field.name]
    if field.category == "power_energy" and run.power_energy.power_source is not None:
        return StatusKind.UNAVAILABLE, f"the source '{run.power_energy.power_source}' does not give it"
    if field.category == "power_energy":
        return StatusKind.UNAVAILABLE, "no power sensor is read: no valid PowerSample came from the sensing node"
    if field.category in ("mavproxy_drone", "mavproxy_gcs", "mavlink_integrity") and bulk:
        return StatusKind.NOT_APPLICABLE, "the bulk workload carries no MAVLink"
    if external and field.category in ("mavproxy_drone", "mavproxy_gcs", "mavlink_integrity", "workload"):
        return StatusKind.NOT_APPLICABLE, _COUNTED
    if external and field.category == "latency_jitter" and field.name.startswith(("owd_", "rtt_")):
        return (
            StatusKind.NOT_APPLICABLE,
            "the applications' messages have no probes; the engine's own are in engine_rtt_ms",
        )
    if field.category == "workload":
        other = "mavlink" if bulk else "bulk"
        return StatusKind.NOT_APPLICABLE, f"the {run.workload.workload} workload has no such figure ({other} has)"
    if field.category == "latency_jitter" and field.name.startswith("owd_"):
        if not run.run_context.same_clock and not bulk:
            return StatusKind.UNAVAILABLE, "MAVLink's time stamps give one-way delays on one clock only"
        if not run.run_context.same_clock and field.name.endswith(("_classes", "_ratio")):
            return StatusKind.UNAVAILABLE, "counts cannot be corrected for two clocks"
        return StatusKind.NOT_APPLICABLE, "the workload measures no delay in this direction"
    if field.category == "latency_jitter":
        return StatusKind.UNAVAILABLE, "the proxy has not seen enough packets for it yet"
    if field.category == "network":
        return StatusKind.UNAVAILABLE, "the interface that carries the tunnel has no counters"
    if field.name.endswith(("seal_mean_ns", "open_mean_ns")):
        return StatusKind.UNAVAILABLE, _AEAD
    if field.side is Side.GCS:
        return StatusKind.UNAVAILABLE, "the agent on the ground did not report it"
    return StatusKind.UNAVAILABLE, "it was not reported"


def fill(run: RunMetrics) -> None:
    """Writes `metric_status` anew."""
    status: dict[str, Status] = {}
    for field in all_fields():
        value = run.value(field.path)
        if value is None:
            status[field.path] = missing_status(run, field)
        elif field.zero and value in (0, False) and field.kind != "text":
            status[field.path] = StatusKind.ZERO_BY_NATURE, field.zero
    _label(run, status)
    for finding in run.findings:
        _mark(finding, run, status)
    run.metric_status = {
        path: MetricStatus(status=kind, reason=reason) for path, (kind, reason) in sorted(status.items())
    }


_POWERS = ("power_mean_w", "power_peak_w", "power_min_w", "energy_j", "voltage_v", "current_a", "energy_per_bit_nj")


def _label(run: RunMetrics, status: dict[str, Status]) -> None:
    """What is modelled or emulated says so at each value."""
    if run.power_energy.power_source == "model":
        modelled = "computed from the processor's load by the sensing node, not measured"
        for name in _POWERS:
            if getattr(run.power_energy, name) is not None:
                status[f"power_energy.{name}"] = StatusKind.MODELLED, modelled
    if run.workload.scenario_load == "emulated":
        emulated = "a documented load takes the place of the detector, which does not run here"
        status |= dict.fromkeys(_EMULATED, (StatusKind.EMULATED, emulated))
    pooled = run.crypto_primitives.gcs_pooled_handshakes
    if pooled and run.value(_KEYGEN) is not None:
        status[_KEYGEN] = (
            StatusKind.POOLED,
            f"{pooled} key pairs came from the gcs's pool (key_pool_depth); this is the median of the others",
        )
    if run.mavproxy_drone.simulated:
        status["mavproxy_drone.simulated"] = StatusKind.EMULATED, "the messages come from a simulated vehicle"


def _mark(finding: Finding, run: RunMetrics, status: dict[str, Status]) -> None:
    for path in finding.fields:
        if run.value(path) is not None and finding.severity in (Severity.ERROR.value, Severity.WARNING.value):
            status[path] = StatusKind.ANOMALOUS, finding.message
