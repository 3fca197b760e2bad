# SPDX-License-Identifier: Apache-2.0
"""What becomes of an engine's answer: names, units, labels; nothing of one that cannot be read."""

from __future__ import annotations

import re
from typing import Any

import pytest
from answers import results, samples
from prometheus_client.exposition import generate_latest

from pqc_mav_cli.metrics import families
from pqc_mav_cli.metrics.engines import NONSENSE, SILENT, Answer
from pqc_mav_cli.metrics.families import Family
from pqc_mav_cli.metrics.figures import Figures, add_answers

D1 = 'drone="d1",engine="drone-d1",role="drone"'


def answer(name: str = "drone-d1", **changed: Any) -> Answer:
    return Answer(name, "", **{**results(), **changed})


def shown(*answers: Answer) -> dict[str, float]:
    figures = Figures()
    add_answers(figures, answers)
    return samples(page_of(figures))


def page_of(figures: Figures) -> bytes:
    class Registry:
        @staticmethod
        def collect() -> Any:
            return figures.metrics()

    return generate_latest(Registry())  # type: ignore[arg-type]


def test_units_are_those_of_prometheus() -> None:
    found = shown(answer())
    assert found[f"pqcmav_key_age_seconds{{{D1}}}"] == 61.5
    assert found['pqcmav_key_limit_seconds{engine="drone-d1",role="drone"}'] == 7200
    assert found[f"pqcmav_shape_limit_bytes_per_second{{{D1}}}"] == 8000
    assert found[f"pqcmav_seal_mean_seconds{{{D1}}}"] == pytest.approx(1.5e-6)
    assert found[f"pqcmav_link_round_trip_seconds{{{D1}}}"] == pytest.approx(0.042)
    assert found[f'pqcmav_link_gap_p95_seconds{{{D1},side="local"}}'] == pytest.approx(0.02)
    assert found[f'pqcmav_shape_oldest_seconds{{class="commands",{D1}}}'] == 0.25


def test_what_is_not_known_is_not_there() -> None:
    found = shown(answer())
    assert not [name for name in found if 'side="peer"' in name or "round_trip_min" in name or "report_age" in name]
    changed = results()
    changed["status"]["tunnels"][0] |= {"session_id": "", "suite": "", "key_age_s": 0, "state": "DOWN"}
    found = shown(answer(**changed))
    assert not [name for name in found if re.match("pqcmav_(key_age|silence|session)", name)]
    assert found[f'pqcmav_state{{{D1.replace(",role", ",role", 1)},state="DOWN"}}'] == 1


def test_one_state_is_1() -> None:
    found = {name: value for name, value in shown(answer()).items() if name.startswith("pqcmav_state{")}
    assert len(found) == 5 and sum(found.values()) == 1
    assert found[f'pqcmav_state{{{D1},state="UP"}}'] == 1


def test_the_suite_is_a_label_of_the_session_alone() -> None:
    found = shown(answer())
    assert [name for name in found if "mlkem768" in name] == [
        'pqcmav_session_info{drone="d1",drone_signed="false",engine="drone-d1",hybrid="true",role="drone",'
        'suite="cs-mlkem768-aesgcm-mldsa65"}'
    ]


def test_neither_addresses_nor_sentences_nor_session_ids_are_shown() -> None:
    """They would make label sets without a bound, and somebody else's words."""
    figures = Figures()
    add_answers(figures, [answer()])
    text = page_of(figures).decode()
    for hidden in ("10.0.0.7", "No answer", "00112233445566aa", "a way around"):
        assert hidden not in text
    assert 'pqcmav_dangers{engine="drone-d1",role="drone"} 1.0' in text


def test_drops_have_their_reasons() -> None:
    found = shown(answer())
    port = 'engine="drone-d1",reason="replay",role="drone"'
    assert found[f"pqcmav_port_drops_total{{{port}}}"] == 3
    assert found['pqcmav_port_handshake_datagrams_total{engine="drone-d1",outcome="gate",role="drone"}'] == 7
    assert found['pqcmav_server_handshakes_total{engine="drone-d1",outcome="busy",role="drone"}'] == 1
    assert found['pqcmav_drops_total{drone="d1",engine="drone-d1",reason="auth_fail",role="drone"}'] == 8
    assert found['pqcmav_plain_drops_total{drone="d1",engine="drone-d1",reason="no_session",role="drone"}'] == 6


def test_counters_of_a_newer_engine_are_not_lost() -> None:
    found = shown(answer())
    assert found['pqcmav_port_other_total{counter="novel",engine="drone-d1",role="drone"}'] == 11
    endpoint = 'counter="unheard",drone="d1",endpoint="serial:/dev/ttyAMA0:921600",engine="drone-d1",role="drone"'
    assert found[f"pqcmav_endpoint_other_total{{{endpoint}}}"] == 9
    assert found['pqcmav_other_total{counter="fresh",drone="d1",engine="drone-d1",role="drone"}'] == 9


def test_handshakes_are_a_histogram() -> None:
    found = shown(answer())
    who = 'engine="drone-d1",kind="rekey"'
    name = "pqcmav_handshake_duration_seconds"
    buckets = {
        end: found[f'{name}_bucket{{{who},le="{end}",role="drone"}}'] for end in ("0.001", "0.002", "0.005", "+Inf")
    }
    assert buckets == {"0.001": 1, "0.002": 3, "0.005": 3, "+Inf": 7}
    assert found[f'{name}_count{{{who},role="drone"}}'] == 7
    assert found[f'{name}_sum{{{who},role="drone"}}'] == 4
    failed = 'engine="drone-d1",kind="first",reason="timeout",role="drone"'
    assert found[f"pqcmav_handshake_errors_total{{{failed}}}"] == 2
    older = results()
    del older["stats"]["handshakes"], older["status"]["key_limit_s"]
    assert f'{name}_count{{{who},role="drone"}}' not in shown(answer(**older))


def test_paths() -> None:
    found = shown(answer())
    of = {name: {key: value for key, value in found.items() if f'path="{name}"' in key} for name in ("lte", "radio")}
    states = {
        name: [key.split('state="')[1].split('"')[0] for key, value in each.items() if "_path_state{" in key and value]
        for name, each in of.items()
    }
    assert states == {"lte": ["good"], "radio": ["dead"]}
    figures = {key.split("{")[0].removeprefix("pqcmav_path_"): value for key, value in of["lte"].items()}
    assert {name: value for name, value in figures.items() if name != "state"} == {
        "silence_seconds": 0.0, "round_trip_seconds": 0.061, "loss_ratio": 0.25, "sent_packets_total": 1,
        "sent_bytes_total": 2, "received_packets_total": 3, "received_bytes_total": 4, "taken_total": 5,
    }  # fmt: skip
    assert not [key for key in of["radio"] if "round_trip" in key or "loss" in key], "what is not known is not there"


def test_stations() -> None:
    found = shown(answer())
    parts = {name: value for name, value in found.items() if name.startswith("pqcmav_station{") and value}
    assert parts == {
        f'pqcmav_station{{{D1.replace("role", f"part={chr(34)}{part}{chr(34)},role")},station="{station}"}}': 1
        for station, part in (("south", "active"), ("north", "standby"))
    }
    assert found[f"pqcmav_station_term{{{D1}}}"] == 4
    lost = results()
    lost["status"]["tunnels"][0]["term"] = 0
    assert not [name for name in shown(answer(**lost)) if "term" in name], "between two sessions, a change of nothing"
    alone = results()
    alone["status"]["tunnels"][0] |= {"station": "", "station_role": "", "stations": [], "term": 0}
    assert not [name for name in shown(answer(**alone)) if "station" in name]
    ground = results()
    ground["status"]["tunnels"][0] |= {"station": "south", "station_role": "standby", "stations": []}
    found = {name: value for name, value in shown(answer(**ground)).items() if name.startswith("pqcmav_station{")}
    assert len(found) == 3 and [name for name, value in found.items() if value and 'part="standby"' in name]


def test_how_far_behind_packets_came() -> None:
    found = {name: value for name, value in shown(answer()).items() if name.startswith("pqcmav_late_packets_total{")}
    assert len(found) == 13
    counts = [value for places in ("1", "3") for name, value in found.items() if f'places="{places}"' in name]
    assert counts == [5, 2]


def test_classes_that_never_were_shaped_are_left_out() -> None:
    plain = results()
    plain["picture"]["stats"][0]["shape_taken"] = [0] * 5
    assert not [name for name in shown(answer(**plain)) if re.match(r"pqcmav_shape_(?!limit)", name)]
    assert len([name for name in shown(answer()) if name.startswith("pqcmav_shape_drops_total{")]) == 5


def test_an_engine_that_fails_has_no_figures_but_0() -> None:
    figures = Figures()
    assert add_answers(figures, [answer("gcs"), Answer("drone-d1", SILENT)]) == [("drone-d1", SILENT)]
    found = samples(page_of(figures))
    assert found['pqcmav_up{engine="gcs"}'] == 1
    assert [name for name in found if "drone-d1" in name] == ['pqcmav_up{engine="drone-d1"}']
    assert found['pqcmav_up{engine="drone-d1"}'] == 0


@pytest.mark.parametrize(
    "spoil",
    [
        lambda all_of: all_of["status"].pop("tunnels"),
        lambda all_of: all_of["status"].update(tunnels=None),
        lambda all_of: all_of["picture"]["server"].update(delivered="many"),
        lambda all_of: all_of["picture"]["stats"][0].update(shape_sent=[1]),
        lambda all_of: all_of["stats"]["handshakes"].update(rekey={"counts": [1], "sum_ms": 0, "failed": {}}),
        lambda all_of: all_of["link"]["tunnels"].append("d2"),
        lambda all_of: all_of["link"]["tunnels"][0].update(rtt_ms=[]),
    ],
    ids=range(7),
)  # fmt: skip
def test_an_answer_that_cannot_be_read_to_its_end_leaves_nothing(spoil: Any) -> None:
    changed = results()
    spoil(changed)
    figures = Figures()
    assert add_answers(figures, [answer(**changed), answer("gcs")]) == [("drone-d1", NONSENSE)]
    assert [name for name in samples(page_of(figures)) if "drone-d1" in name] == ['pqcmav_up{engine="drone-d1"}']


def test_every_name_is_one_of_prometheus() -> None:
    """Base units, lower case; counters get _total from the library, so they must not have it themselves."""
    found = [value for value in vars(families).values() if isinstance(value, Family)]
    for table in (value for value in vars(families).values() if isinstance(value, dict)):
        found += [
            each[0] if isinstance(each, tuple) else each for each in table.values() if isinstance(each, (tuple, Family))
        ]
    assert len(found) > 60
    for family in found:
        assert re.fullmatch(r"[a-z][a-z0-9_]*", family.name), family
        assert not re.search(r"_(total|info|ms|ns|kbit|kib|s)$", family.name), family
        assert family.text.endswith("."), family
        assert len(set(family.labels)) == len(family.labels) and "le" not in family.labels, family
    by_name: dict[str, Family] = {}
    for family in found:
        assert by_name.setdefault(family.name, family) == family, "one name for two metrics"
