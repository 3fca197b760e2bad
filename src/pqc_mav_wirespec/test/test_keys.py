# SPDX-License-Identifier: Apache-2.0
import pytest
from support import DRONE_ID, PSK, key_pair

from pqc_mav_wirespec.errors import KeyFileError
from pqc_mav_wirespec.keys import KeyFile, load_drone_keys, load_gcs_policy, read_key_file, write_key_file
from pqc_mav_wirespec.proofs import gcs_psk

TOKEN = "mldsa44"


@pytest.fixture
def folders(tmp_path):
    gcs_public, gcs_secret = key_pair(TOKEN)
    drone_public, drone_secret = key_pair(TOKEN, DRONE_ID)
    gcs, drone = tmp_path / "gcs", tmp_path / "drone"
    write_key_file(gcs / "psk" / f"{DRONE_ID}.key", KeyFile("psk", "psk", DRONE_ID, PSK))
    write_key_file(gcs / "sig" / f"{TOKEN}.key", KeyFile("sig-secret", TOKEN, "gcs", gcs_secret))
    write_key_file(gcs / "sig" / f"{TOKEN}.pub", KeyFile("sig-public", TOKEN, "gcs", gcs_public))
    write_key_file(gcs / "drones" / DRONE_ID / f"{TOKEN}.pub", KeyFile("sig-public", TOKEN, DRONE_ID, drone_public))
    write_key_file(drone / "psk.key", KeyFile("psk", "psk", DRONE_ID, PSK))
    write_key_file(drone / "gcs" / f"{TOKEN}.pub", KeyFile("sig-public", TOKEN, "gcs", gcs_public))
    write_key_file(drone / "sig" / f"{TOKEN}.key", KeyFile("sig-secret", TOKEN, DRONE_ID, drone_secret))
    return gcs, drone


def test_both_folders_load(folders):
    gcs, drone = folders
    policy, own = load_gcs_policy(gcs), load_drone_keys(drone)
    assert policy.psks == {DRONE_ID: PSK}
    assert policy.sign_secrets == {TOKEN: key_pair(TOKEN)[1]}
    assert policy.drone_publics == {(DRONE_ID, TOKEN): key_pair(TOKEN, DRONE_ID)[0]}
    assert (own.drone_id, own.psk, own.gcs_publics[TOKEN]) == (DRONE_ID, gcs_psk(PSK, "gcs"), key_pair(TOKEN)[0])
    assert own.sign_secrets == {TOKEN: key_pair(TOKEN, DRONE_ID)[1]}


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o644])
def test_secrets_that_others_can_reach_are_refused(folders, mode):
    path = folders[1] / "psk.key"
    path.chmod(mode)
    with pytest.raises(KeyFileError, match="chmod 600"):
        load_drone_keys(folders[1])


def test_missing_file(tmp_path):
    with pytest.raises(KeyFileError, match="cannot be read"):
        load_drone_keys(tmp_path)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "does not begin"),
        ("pqcmav-key 2\n", "does not begin"),
        ("pqcmav-key 1\nkind: psk\nalgorithm: psk\nowner: d\n????\n", "no base64"),
        ("pqcmav-key 1\nkind: psk\nalgorithm: psk\nowner: d\nAAAA\n", "PSK of 3 bytes"),
        ("pqcmav-key 1\nkind: sig-secret\nalgorithm: mldsa44\nowner: d\nAAAA\n", "holds a sig-secret for mldsa44"),
        ("pqcmav-key 1\n", "holds a  for"),
    ],
)
def test_wrong_content(tmp_path, text, complaint):
    path = tmp_path / "psk.key"
    path.write_text(text)
    path.chmod(0o600)
    with pytest.raises(KeyFileError, match=complaint):
        read_key_file(path, "psk", "psk")


def test_base64_may_be_wrapped(tmp_path):
    path = tmp_path / "psk.key"
    path.write_text(
        "pqcmav-key 1\nkind: psk\nalgorithm: psk\nowner: d\n\nAAAAAAAAAAAAAAAAAAAAAA\nAAAAAAAAAAAAAAAAAAAAA=\n"
    )
    path.chmod(0o600)
    assert read_key_file(path, "psk", "psk").key == bytes(32)


def test_keys_are_not_in_the_repr(folders):
    assert repr(PSK) not in repr(load_drone_keys(folders[1])) + repr(load_gcs_policy(folders[0]))
