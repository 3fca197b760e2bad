# SPDX-License-Identifier: Apache-2.0
import pytest
from hypothesis import settings

# nothing here is about time, and the machine may be busy
settings.register_profile("wirespec", deadline=None)
settings.load_profile("wirespec")


@pytest.fixture(scope="session")
def folders(tmp_path_factory):
    """(gcs folder, drone folder) with keys for one drone; only tests that run the engine ask for it."""
    from socket_support import make_key_folders

    return make_key_folders(tmp_path_factory.mktemp("keys") / "all", tmp_path_factory.mktemp("drone") / "keys")
