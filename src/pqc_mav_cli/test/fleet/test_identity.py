# SPDX-License-Identifier: Apache-2.0
"""The operator's and the stations' keys: files that come back whole, and others that are refused by a sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

from pqc_mav_cli.errors import CliError
from pqc_mav_cli.fleet.identity import Operator, Station, operator_public, station_public, write_secret


def test_an_operator_comes_back_from_its_files(tmp_path: Path) -> None:
    made = Operator.make()
    write_secret(tmp_path / "o" / "operator.pem", made.pem())
    (tmp_path / "operator.pub").write_bytes(made.public.pem())
    again, public = Operator.read(tmp_path / "o" / "operator.pem"), operator_public(tmp_path / "operator.pub")
    assert public.fingerprint == made.public.fingerprint == again.public.fingerprint
    assert public.signed(again.key.sign(b"this"), b"this")
    assert not public.signed(again.key.sign(b"this"), b"that")
    assert not public.signed(b"short", b"this")
    assert again.receipt_key(b"a") == made.receipt_key(b"a") != made.receipt_key(b"b")


def test_a_station_opens_what_is_sealed_to_it_in_its_context_alone(tmp_path: Path) -> None:
    made = Station.make()
    write_secret(tmp_path / "station.pem", made.pem())
    (tmp_path / "station.pub").write_bytes(made.public.pem())
    sealed = station_public(tmp_path / "station.pub").seal(b"a PSK", b"here")
    station = Station.read(tmp_path / "station.pem")
    assert b"a PSK" not in sealed
    assert station.opened(sealed, b"here") == b"a PSK"
    assert station.opened(sealed, b"there") is None
    assert Station.make().opened(sealed, b"here") is None
    assert all(station.opened(sealed[:n], b"here") is None for n in (0, 10, len(sealed) - 1))
    for at in range(0, len(sealed), 97):
        assert station.opened(sealed[:at] + bytes([sealed[at] ^ 1]) + sealed[at + 1 :], b"here") is None


def test_a_secret_is_its_users_alone_and_never_replaced(tmp_path: Path) -> None:
    path = tmp_path / "station.pem"
    write_secret(path, Station.make().pem())
    before = path.read_bytes()
    assert path.stat().st_mode & 0o777 == 0o600
    with pytest.raises(CliError, match=r"is there already, and stays"):
        write_secret(path, Station.make().pem())
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]
    path.chmod(0o640)
    with pytest.raises(CliError, match=r"Others than its user can read .*chmod 600"):
        Station.read(path)


def test_another_file_is_refused_by_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "key"
    with pytest.raises(CliError, match=r"There is no .*fleet init"):
        Operator.read(path)
    station = Station.make()
    whole = station.pem()
    for text in (b"", b"hello\n", whole[:-40], whole[:150], Operator.make().pem(), whole + whole, b"x" * 20_000):
        path.write_bytes(text)
        path.chmod(0o600)
        with pytest.raises(CliError, match=r"not the key that is wanted|too large"):
            Station.read(path)
    path.write_bytes(station.public.pem())
    with pytest.raises(CliError, match="not the key that is wanted"):
        operator_public(path)
