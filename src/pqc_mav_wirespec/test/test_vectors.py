# SPDX-License-Identifier: Apache-2.0
import pytest
import vectors
import vectors_data
import vectors_handshake
import vectors_line
import vectors_mavlink
import vectors_transport
from support import VECTORS
from vectorfile import VectorFile

from pqc_mav_wirespec import oqs_library
from pqc_mav_wirespec.errors import WireError
from pqc_mav_wirespec.suites import AEADS, KEMS, SIGS, find_suite

SEED = b"PQMAV/3 vectors"
FILES = sorted(VECTORS.glob(f"*{vectors.ENDING}"))
HANDSHAKE = VECTORS / "handshake_ML-512-CP-FA-512_hybrid_signed_epoch1.txt"
OTHERS = (
    *("suites", "data", "control", "receive", "receive_compact", "compact", "bundles", "mavlink", "line"),
    *("ratchets", "datagrams", "acks", "retry", "rejects", "proofs"),
)


def test_every_case_is_committed():
    expected = {case.name for case in vectors_handshake.CASES} | set(OTHERS)
    assert {path.stem for path in FILES} == expected
    assert sum(path.stat().st_size for path in FILES) < 360_000


def test_the_cases_cover_every_family_and_every_mode():
    cases = vectors_handshake.CASES
    suites = [find_suite(case.suite) for case in cases]
    assert {suite.kem.family_id for suite in suites} == {kem.family_id for kem in KEMS}
    assert {suite.sig.family_id for suite in suites} == {sig.family_id for sig in SIGS}
    assert {suite.aead for suite in suites} == set(AEADS)
    assert {suite.kem.level for suite in suites} == {1, 3, 5}
    modes = {(case.hybrid, case.signed, case.rekey_epoch is not None) for case in cases}
    assert len(modes) == 8
    assert {0, 1, 255} <= {case.rekey_epoch for case in cases}
    assert {case.hybrid for case in cases if case.digest} == {True, False}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_committed_vectors_verify(path):
    suite = VectorFile.read(path)["vector"]
    if "suite" in suite and not oqs_library.offers(find_suite(suite.text("suite"))):
        pytest.skip(f"liboqs {oqs_library.library_version()} lacks an algorithm of it")
    assert vectors.check_file(path)["vector"].text("name") == path.stem


def test_committed_data_vectors_are_generated_from_the_seed():
    made = (vectors_data.generate_data(SEED), vectors_data.generate_control(SEED), vectors_data.generate_receive(SEED))
    more = (vectors_transport.generate_acks(SEED), vectors_transport.generate_retry(SEED))
    proofs = (vectors_transport.generate_rejects(SEED), vectors_transport.generate_proofs(SEED))
    headers, line = vectors_mavlink.generate_mavlink(SEED), vectors_line.generate_line(SEED)
    for file in (*made, *more, *proofs, headers, line, vectors_data.generate_suites()):
        assert (VECTORS / f"{file['vector'].text('name')}.txt").read_text() == file.render()


def test_generation_is_deterministic():
    case = vectors_handshake.Case("ML-512-CP-MD-44", signed=True)
    first, again, other = (vectors_handshake.generate(case, seed).render() for seed in (b"a", b"a", b"b"))
    assert first == again
    assert first != other


def test_liboqs_draws_from_the_system_again_afterwards():
    vectors_handshake.generate(vectors_handshake.Case("ML-512-CP-MD-44"), b"a")
    kem = oqs_library.oqs_module().KeyEncapsulation("ML-KEM-512")
    assert kem.generate_keypair() != kem.generate_keypair()


RECOMPUTED = [
    *(
        (section, key)
        for section in ("messages", "values", "data")
        for key in VectorFile.read(HANDSHAKE)[section].names()
    ),
    *(
        ("inputs", key)
        for key in ("psk", "gcs_public", "drone_public", "kem_secret_key", "session_id", "prev_session", "ck_prev")
    ),
]


@pytest.mark.parametrize(("section", "key"), RECOMPUTED, ids=lambda value: value)
def test_checker_notices_any_changed_value(section, key):
    file = VectorFile.read(HANDSHAKE)
    vectors_handshake.check(file)
    value = bytearray(file[section].raw(key))
    value[len(value) // 2] ^= 1
    file[section].put(**{key: bytes(value)})
    with pytest.raises(WireError):
        vectors_handshake.check(file)


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("data", "\ndatagram = 03", "\ndatagram = 13"),
        ("control", "\ntlv_epoch = 255", "\ntlv_epoch = 254"),
        ("mavlink", "\ncount = 2", "\ncount = 1"),
        ("line", "\nframe = 0580", "\nframe = 0581"),
        ("line", "\ncount = 1", "\ncount = 2"),
        ("control", "\noutcome = control", "\noutcome = delivered"),
        ("receive", "\noutcome = drop_seq_old", "\noutcome = drop_replay"),
        ("datagrams", "\npacket = 1\n", "\npacket = 2\n"),
        ("acks", "\nbase = 1\n", "\nbase = 2\n"),
        ("retry", "\nport = 46012", "\nport = 46013"),
        ("rejects", "\nretry_ms = 1000", "\nretry_ms = 1001"),
        ("proofs", "\nserial = 51234", "\nserial = 51235"),
        ("proofs", "\ngcs_id = north", "\ngcs_id = south"),
        ("ratchets", "\nepoch = 6", "\nepoch = 7"),
        ("ratchets", "\nhybrid = 1", "\nhybrid = 0"),
        ("suites", "\nheader_ids = 01010101", "\nheader_ids = 01010102"),
    ],
)
def test_checker_notices_a_changed_line(name, before, after, tmp_path):
    text = (VECTORS / f"{name}.txt").read_text()
    assert before in text
    path = tmp_path / f"{name}.txt"
    path.write_text(text.replace(before, after, 1))
    with pytest.raises(WireError, match=name):
        vectors.check_file(path)


def test_command_line(tmp_path, capsys):
    assert vectors.main(["check", str(VECTORS)]) == 0
    told = capsys.readouterr()
    known = len(FILES) - told.err.count("not checked: ")
    assert f"{known} of {len(FILES)} vector files verify" in told.out
    (tmp_path / "bad.txt").write_text("[vector]\nkind = nonsense\n")
    assert vectors.main(["check", str(tmp_path)]) == 1
    assert "bad.txt: [vector] kind nonsense" in capsys.readouterr().err
    assert vectors.main(["check", str(tmp_path / "none")]) == 1
