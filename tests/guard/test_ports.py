from __future__ import annotations

import pytest

from nocturn.errors import ConfigurationError
from nocturn.guard.ports import EnvironmentSecrets
from nocturn.secret import Secret


def test_a_secret_does_not_show_its_value():
    assert "hunter2hunter2" not in repr(Secret("DB", "hunter2hunter2"))


def test_variables_are_read_once_when_the_source_is_made(monkeypatch):
    monkeypatch.setenv("NOCTURN_TEST_A", "hunter2hunter2")
    source = EnvironmentSecrets("NOCTURN_TEST_A")
    monkeypatch.setenv("NOCTURN_TEST_A", "changed")
    assert source.secrets() == (Secret("NOCTURN_TEST_A", "hunter2hunter2"),)


@pytest.mark.parametrize("value", [None, ""])
def test_a_variable_that_is_unset_or_empty_is_an_error_that_names_it(monkeypatch, value):
    monkeypatch.delenv("NOCTURN_TEST_A", raising=False)
    if value is not None:
        monkeypatch.setenv("NOCTURN_TEST_A", value)
    with pytest.raises(ConfigurationError, match="NOCTURN_TEST_A"):
        EnvironmentSecrets("NOCTURN_TEST_A")


def test_a_variable_that_is_not_utf_8_is_an_error_without_its_value(monkeypatch):
    monkeypatch.setenv("NOCTURN_TEST_A", "hunter\udcff2")
    with pytest.raises(ConfigurationError) as refused:
        EnvironmentSecrets("NOCTURN_TEST_A")
    assert "hunter" not in str(refused.value)
