import hypothesis
import pytest

from nocturn.store import master

# A test never asserts elapsed time: the machines that it runs on are busy.
hypothesis.settings.register_profile("nocturn", deadline=None)
hypothesis.settings.load_profile("nocturn")

pytest_plugins = ["nocturn.testing"]


@pytest.fixture(autouse=True)
def _own_data_folder(tmp_path, monkeypatch):
    """No test reads or writes the real user's keys, trust or default workspace."""
    monkeypatch.setenv("NOCTURN_DATA", str(tmp_path / "data"))
    for name in ("NOCTURN_WORKSPACE", "NOCTURN_KEYRING", "NOCTURN_MASTER_PASSPHRASE"):
        monkeypatch.delenv(name, raising=False)
    for name in ("NOCTURN_MASTER_PASSPHRASE_FILE", "CREDENTIALS_DIRECTORY"):
        monkeypatch.delenv(name, raising=False)
    yield
    # A passphrase stays with the process that took it out of its environment, and so with no test.
    master._taken.clear()


@pytest.fixture
def ws(nocturn_workspace):
    return nocturn_workspace()
