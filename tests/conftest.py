import importlib
import sys
from pathlib import Path

import hypothesis
import pytest

from nocturn.store import master

# A test never asserts elapsed time: the machines that it runs on are busy.
hypothesis.settings.register_profile("nocturn", deadline=None)
hypothesis.settings.load_profile("nocturn")

pytest_plugins = ["nocturn.testing"]

_BENCHMARKS = str(Path(__file__).resolve().parents[1] / "scripts/benchmarks")


@pytest.fixture(autouse=True)
def _own_data_folder(tmp_path, monkeypatch):
    """No test reads or writes the real user's keys, trust or default workspace."""
    monkeypatch.setenv("NOCTURN_DATA", str(tmp_path / "data"))
    for name in (
        "NOCTURN_WORKSPACE",
        "NOCTURN_KEYRING",
        "NOCTURN_MASTER_PASSPHRASE",
        "NOCTURN_NOTIFY",
    ):
        monkeypatch.delenv(name, raising=False)
    for name in ("NOCTURN_MASTER_PASSPHRASE_FILE", "CREDENTIALS_DIRECTORY"):
        monkeypatch.delenv(name, raising=False)
    yield
    # A passphrase stays with the process that took it out of its environment, and so with no test.
    master._taken.clear()


@pytest.fixture(scope="module")
def load_benchmark():
    """Loads modules of ``scripts/benchmarks`` as the benchmarks do, and unloads them again."""
    before = set(sys.modules)
    sys.path.insert(0, _BENCHMARKS)
    yield importlib.import_module
    sys.path.remove(_BENCHMARKS)
    for name in set(sys.modules) - before:
        if _BENCHMARKS in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


@pytest.fixture
def ws(nocturn_workspace):
    return nocturn_workspace()
