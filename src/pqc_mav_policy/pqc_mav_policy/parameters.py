# SPDX-License-Identifier: Apache-2.0
"""The thresholds and times of the policy: name, default, bounds, unit, meaning and source of each, in one place.

The ROS parameters and the commented config/policy.yaml are made from this table. `published` names the row of
`rpi5_policy_parameters.csv` or the document a default comes from; if it is empty, the figure is ours and the
description says what it is for. The expert's own thresholds are in strategies/expert/parameters.py.
"""

from dataclasses import dataclass
from typing import Literal

from pqc_mav_policy.parameter_table import ParameterTable
from pqc_mav_policy.parameter_table import choice as _choice
from pqc_mav_policy.parameter_table import number as _number

STREAMS = ("battery", "thermal", "vehicle", "link")
StreamName = Literal["battery", "thermal", "vehicle", "link"]


@dataclass(frozen=True)
class PolicyParameters(ParameterTable):
    """Thresholds and times of all strategies. Frozen; construction refuses unknown names and values out of range."""

    stale_s: float = _number(
        2.0,
        0.5,
        60.0,
        "s",
        "A sense whose reading is older than this is out, and its rules with it.",
        "telemetry_stale_limit",
    )
    required: tuple[StreamName, ...] = _choice(
        (),
        "Senses without which the policy holds altogether; all four = as published. The rules of any other sense are "
        "out while it is missing, invalid or too old, and the remaining rules act.",
    )
    battery_emergency_v: float = _number(
        14.0,
        0.0,
        100.0,
        "V",
        "A voltage of a pack of four cells below this is an emergency: the lightest suite is used at once. Of a pack "
        "of other cells in proportion: 3.5 V a cell.",
        "emergency_battery",
    )
    battery_emergency_charge: float = _number(
        0.07,
        0.0,
        1.0,
        "fraction",
        "A charge below this (PX4's critical level) is an emergency too: the voltage sags late. Not published; "
        "0 = the voltage alone.",
    )
    temperature_emergency_c: float = _number(
        80.0, 0.0, 150.0, "Cel", "A processor hotter than this is an emergency.", "emergency_temperature"
    )
    rollback_blackouts: int = _number(
        3,
        0,
        100,
        "count",
        "After more blackouts than this near a switch, the policy goes back to the previous suite.",
        "rollback_blackouts",
    )
    near_switch_s: float = _number(
        30.0, 5.0, 600.0, "s", "Blackouts count as near a switch for this long after it; the documents name no figure."
    )
    cooldown_s: float = _number(
        5.0, 0.0, 600.0, "s", "Nothing changes for this long after a switch.", "cooldown_after_switch"
    )
    retry_most_s: float = _number(
        60.0,
        1.0,
        3600.0,
        "s",
        "A request of an emergency or of blackouts that fails is repeated after 2 s, 4 s, 8 s and so on, and after "
        "this at most.",
    )
    gap_p95_s: float = _number(
        1.0,
        0.01,
        60.0,
        "s",
        "The link is bad when the 95th percentile of the gaps between packets is above this.",
        "link_gap_p95_limit",
    )
    temperature_rate_c_per_min: float = _number(
        5.0, 0.1, 100.0, "Cel/min", "A temperature that rises faster than this is stress.", "stress_temp_rate"
    )
    voltage_rate_mv_per_min: float = _number(
        -500.0,
        -10000.0,
        0.0,
        "mV/min",
        "A voltage of a pack of four cells (others in proportion) that falls faster than this, the drop under load "
        "left out, is stress.",
        "stress_voltage_rate",
    )
    loss_limit: float = _number(
        0.10,
        0.0,
        1.0,
        "fraction",
        "The link is also bad when loss is above this: on a busy link the gaps stay short however much is lost; "
        "1 = look at the gaps only, as published.",
    )
    throttled_is_stress: bool = _choice(
        True, "A processor throttled by the kernel counts as stress. Not published; false = only the rates count."
    )
    attack_is_stress: bool = _choice(
        True, "A reported attack counts as stress. Not published for the cascade; false = it does not."
    )
    tau_down_s: float = _number(
        5.0, 0.0, 600.0, "s", "Stress must last this long before a step down.", "hysteresis_tau_down"
    )
    tau_up_s: float = _number(
        30.0, 0.0, 3600.0, "s", "Calm must last this long before an upgrade.", "hysteresis_tau_up"
    )
    rekey_stable_s: float = _number(
        60.0, 1.0, 86400.0, "s", "Calm must last longer than this before keys are renewed.", "rekey_stable_time"
    )
    rekey_mlkem_s: float = _number(
        60.0,
        0.0,
        86400.0,
        "s",
        "Keys of ML-KEM suites are renewed at this age; 0 = only on events.",
        "rekey_interval_mlkem",
    )
    rekey_hqc_s: float = _number(
        300.0,
        0.0,
        86400.0,
        "s",
        "Keys of HQC suites are renewed at this age; 0 = only on events.",
        "rekey_interval_hqc_min",
    )
    rekey_mceliece_s: float = _number(
        0.0,
        0.0,
        86400.0,
        "s",
        "Keys of Classic McEliece suites are renewed at this age; 0 = only on events.",
        "[pqcmav-paper] VI-B",
    )
    rekey_frodokem_s: float = _number(
        300.0,
        0.0,
        86400.0,
        "s",
        "Keys of FrodoKEM suites are renewed at this age; 0 = only on events. As for HQC; not published.",
    )
    rate_limit_count: int = _number(
        5,
        1,
        1000,
        "rekeys",
        "At most this many successful rekeys of its own in the window.",
        "rekey_rate_limit_count",
    )
    rate_limit_window_s: float = _number(
        300.0, 1.0, 86400.0, "s", "Length of the sliding window of the rate limit.", "rekey_rate_limit_window"
    )
    ratchet_above_bytes: int = _number(
        16384,
        0,
        10000000,
        "B",
        "Keys that are due are renewed by a ratchet, with a full handshake every eighth time, if key and signature "
        "of a full one have more bytes than this, the limit of the tunnel's own renewals; 0 = with every suite, "
        "10000000 = only if no full one can be made.",
    )
    blacklist_ttl_s: float = _number(
        1800.0,
        0.0,
        86400.0,
        "s",
        "A suite that was left because of blackouts is not chosen again for this long. Suites that the ground station "
        "refuses are on the proxy's list (its 'blacklist_s').",
        "blacklist_ttl",
    )
    shed_kbit: int = _number(
        0,
        0,
        100000,
        "kbit/s",
        "While link or processor is saturated, or a detector is sure of a volumetric attack, the proxy is asked to "
        "send no more than this, MAVLink in order of importance (its 'shape_kbit'); 0 = it never is.",
    )
    shed_queue_ms: float = _number(
        500.0,
        50.0,
        60000.0,
        "ms",
        "The link is saturated when packets are lost and a round trip takes this much longer than the least one.",
    )
    shed_cpu_percent: float = _number(
        95.0, 10.0, 100.0, "%", "The processor is saturated when all cores together are busier than this."
    )
    alert_loss: float = _number(
        0.03,
        0.0,
        1.0,
        "fraction",
        "The operator is told when more than this is lost, to fly slower or stop heavy analytics; 1 = never.",
        "[endurance-paper] 6.1",
    )
    alert_after_s: float = _number(10.0, 0.0, 600.0, "s", "Loss must last this long before the operator is told.")
    target_suite: str = _choice(
        "cs-mlkem768-aesgcm-mldsa65",
        "Suite to climb back to on the ground: an id or short code, or 'max' for the heaviest available suite.",
        "[pqcmav-paper] VI-B",
    )
    minimum_level: Literal[0, 1, 3, 5] = _choice(
        0,
        "Never choose a suite below this NIST level (1, 3 or 5), not even in an emergency; 0 = the level of the "
        "proxy's 'suite'.",
    )
    allow_drafts: bool = _choice(
        False,
        "Also choose suites with an algorithm that no published standard specifies: Falcon, SPHINCS+, HQC, Classic "
        "McEliece, FrodoKEM, Ascon-128a. false = of those only the proxy's own 'suite', and the one in use, which an "
        "operator asked for.",
    )
    phase_bands: bool = _choice(
        True,
        "Leave suites that are unfit for the phase of flight, and renew keys at the pace of the phase (see the bands).",
    )
    order: Literal["cost", "published"] = _choice(
        "cost",
        "Order of suites from light to heavy: 'cost' (with the signature) or 'published' ([pqcmav-paper] Eq. 4).",
    )
