# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import argparse
import threading

import pytest
import transfers
from overload import FORMS
from pymavlink.dialects.v20 import common as mavlink
from traffic import application_socket


def test_a_mission_is_uploaded_item_by_item(monkeypatch: pytest.MonkeyPatch) -> None:
    proxy = application_socket()
    monkeypatch.setattr(transfers, "GCS_PLAIN", proxy.getsockname()[1])
    got: list[int] = []

    def vehicle() -> None:
        mav = mavlink.MAVLink(None, srcSystem=1, srcComponent=1)
        wanted = 0
        while True:
            data, ground = proxy.recvfrom(4096)
            for message in mav.parse_buffer(data) or []:
                if message.get_type() == "MISSION_ITEM_INT":
                    got.append(message.seq)
                    wanted = message.seq + 1
            done = wanted == 10
            answer = (
                mavlink.MAVLink_mission_ack_message(255, 190, mavlink.MAV_MISSION_ACCEPTED)
                if done
                else mavlink.MAVLink_mission_request_int_message(255, 190, wanted)
            )
            proxy.sendto(answer.pack(mav), ground)
            if done:
                return

    thread = threading.Thread(target=vehicle)
    thread.start()
    with proxy, application_socket() as ground:
        seconds = transfers.upload(ground)
        thread.join()
    assert got == list(range(10))
    assert seconds is not None and seconds < 10


def test_the_page_tells_what_ended() -> None:
    first, *_ = FORMS
    results = [transfers.Figures(first, 20.0, None), transfers.Figures(first, 22.0, 30.0)]
    results += [transfers.Figures(form, 4.0, 1.0) for form in FORMS if form != first]
    text = transfers.page(results, "a machine", argparse.Namespace(runs=2, jobs=1))
    assert f"| {first} | 2 | 2/2 | 21.0 ± 12.7 | 1/2 | 30.0 |" in text
