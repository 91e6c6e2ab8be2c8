"""Attack: talk to a local service whose socket has a name but no file, such as a desktop's bus."""

from __future__ import annotations

import os
import socket

import pytest

WALLS = {"seccomp", "landlock", "processes"}
CONNECT = """
import socket

def attack(_):
    with socket.socket(socket.AF_UNIX) as door:
        door.connect({name!r})
"""


@pytest.fixture
def attack():
    name = f"\0nocturn-test-{os.urandom(8).hex()}"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(name)
        server.listen()
        yield CONNECT.format(name=name)


def test_no_abstract_socket_can_be_reached(locked, attack):
    assert locked(attack) == "killed by SIGSYS"


def test_no_abstract_socket_can_be_reached_when_only_landlock_holds(locked, attack, landlock):
    if landlock < 6:
        pytest.skip("this kernel's Landlock does not know abstract sockets")
    assert locked(attack, skip=WALLS - {"landlock"}) == "EPERM"


def test_an_abstract_socket_could_be_reached_without_the_lock(locked, attack):
    assert locked(attack, skip=WALLS) == "succeeded"
