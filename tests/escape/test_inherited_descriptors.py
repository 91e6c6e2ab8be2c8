"""Attack: use a file or socket that the host had open and forgot to close."""

from __future__ import annotations

import os

import pytest

WRITE = """
def attack(_):
    os.write({fd}, b"gotcha")
"""


@pytest.fixture
def pipe():
    reader, writer = os.pipe()
    os.set_blocking(reader, False)
    yield reader, writer
    os.close(reader)
    os.close(writer)


def test_no_inherited_descriptor_is_left(locked, pipe):
    reader, writer = pipe
    assert locked(WRITE.format(fd=writer), fds=(writer,)) == "EBADF"
    with pytest.raises(BlockingIOError):
        os.read(reader, 10)


def test_standard_output_and_error_are_closed(locked):
    assert locked(WRITE.format(fd=1)) == "EBADF"
    assert locked(WRITE.format(fd=2)) == "EBADF"
    assert locked(WRITE.format(fd=1), skip={"descriptors"}) == "succeeded"


def test_an_inherited_descriptor_could_be_used_if_it_were_left(locked, pipe):
    reader, writer = pipe
    attack = WRITE.format(fd=writer)
    assert locked(attack, fds=(writer,), skip={"descriptors"}) == "succeeded"
    assert os.read(reader, 10) == b"gotcha"
