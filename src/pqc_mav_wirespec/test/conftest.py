import pytest


@pytest.fixture(scope="session")
def folders(tmp_path_factory):
    """(gcs folder, drone folder) with keys for one drone; only tests that run the engine ask for it."""
    from socket_support import make_key_folders

    return make_key_folders(tmp_path_factory.mktemp("keys") / "all", tmp_path_factory.mktemp("drone") / "keys")
