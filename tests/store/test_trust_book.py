"""Trust: by content and place, in the user's own folder."""

from __future__ import annotations

import stat
import subprocess
import sys
from pathlib import Path

import pytest

from nocturn.errors import ConfigurationError
from nocturn.store.trust import TrustBook

RECORD = """
import sys
from pathlib import Path
from nocturn.store.trust import TrustBook
for i in range(10):
    TrustBook(Path(sys.argv[1])).record(Path(f"/nowhere/{sys.argv[2]}-{i}"), b"x")
"""


@pytest.fixture
def book(tmp_path):
    return TrustBook(tmp_path / "data")


def test_nothing_is_trusted_at_first_and_asking_makes_nothing(book, tmp_path):
    assert not book.is_trusted(tmp_path / "grants.json", b"x")
    assert not (tmp_path / "data").exists()


def test_trust_is_for_this_content_at_this_place(book, tmp_path):
    book.record(tmp_path / "grants.json", b"x", b"y")
    assert book.is_trusted(tmp_path / "grants.json", b"x")
    assert book.is_trusted(tmp_path / "grants.json", b"y")
    assert not book.is_trusted(tmp_path / "grants.json", b"z")
    assert not book.is_trusted(tmp_path / "elsewhere" / "grants.json", b"x")
    assert TrustBook(tmp_path / "data").is_trusted(tmp_path / "grants.json", b"x")


def test_a_new_record_ends_the_old_one_of_that_file_only(book, tmp_path):
    book.record(tmp_path / "a", b"x")
    book.record(tmp_path / "b", b"x")
    book.record(tmp_path / "a", b"y")
    assert not book.is_trusted(tmp_path / "a", b"x")
    assert book.is_trusted(tmp_path / "b", b"x")


def test_a_file_is_known_by_its_real_path(book, tmp_path):
    (tmp_path / "ws").mkdir()
    (tmp_path / "link").symlink_to("ws")
    book.record(tmp_path / "link" / "grants.json", b"x")
    assert book.is_trusted(tmp_path / "ws" / "grants.json", b"x")


def test_a_path_that_is_not_utf8_can_be_trusted(book, tmp_path):
    book.record(tmp_path / "\udcff", b"x")
    assert book.is_trusted(tmp_path / "\udcff", b"x")


def test_the_book_is_private(book, tmp_path):
    book.record(tmp_path / "a", b"x")
    assert stat.S_IMODE((tmp_path / "data/trust.json").stat().st_mode) == 0o600


@pytest.mark.parametrize(
    "data",
    [b"", b"{", b"[]", b"{}", b'{"version":2,"files":{}}', b"\xff",
     b'{"version":1,"files":{},"x":1}',
     b'{"version":1,"files":{"a":"b"}}', b"[" * 60_000],
)  # fmt: skip
def test_a_broken_book_is_an_error_and_stays(book, tmp_path, data):
    (tmp_path / "data").mkdir()
    (tmp_path / "data/trust.json").write_bytes(data)
    with pytest.raises(ConfigurationError) as caught:
        book.is_trusted(tmp_path / "a", b"x")
    assert str(tmp_path) not in caught.value.message
    with pytest.raises(ConfigurationError):
        book.record(tmp_path / "a", b"x")
    assert (tmp_path / "data/trust.json").read_bytes() == data


def test_records_of_many_processes_are_all_kept(book, tmp_path):
    command = [sys.executable, "-c", RECORD, tmp_path / "data"]
    writers = [subprocess.Popen([*command, str(i)]) for i in range(4)]
    assert [each.wait() for each in writers] == [0] * 4
    for i in range(4):
        for j in range(10):
            assert book.is_trusted(Path(f"/nowhere/{i}-{j}"), b"x")
