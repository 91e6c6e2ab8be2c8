import hypothesis
import pytest

# A test never asserts elapsed time: the machines that it runs on are busy.
hypothesis.settings.register_profile("nocturn", deadline=None)
hypothesis.settings.load_profile("nocturn")

pytest_plugins = ["nocturn.testing"]


@pytest.fixture(autouse=True)
def _own_data_folder(tmp_path, monkeypatch):
    """No test reads or writes the real user's keys, trust or default workspace."""
    monkeypatch.setenv("NOCTURN_DATA", str(tmp_path / "data"))
    monkeypatch.delenv("NOCTURN_WORKSPACE", raising=False)


@pytest.fixture
def ws(nocturn_workspace):
    return nocturn_workspace()
