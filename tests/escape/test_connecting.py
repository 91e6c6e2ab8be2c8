"""Attack: reach another machine, or a server on this one."""

from __future__ import annotations

import socket

import pytest

WALLS = {"seccomp", "landlock", "processes"}
CONNECT = """
import socket

def attack(_):
    with socket.socket() as door:
        door.connect(("127.0.0.1", {port}))
"""
LATE_CONNECT = """
import socket

def prepare():
    return socket.socket()

def attack(door):
    door.connect(("127.0.0.1", {port}))
"""


@pytest.fixture
def port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def test_no_socket_can_be_made(locked, port):
    assert locked(CONNECT.format(port=port)) == "killed by SIGSYS"


def test_no_connection_can_be_made_when_only_landlock_holds(locked, port, landlock):
    if landlock < 4:
        pytest.skip("this kernel's Landlock does not know the network")
    assert locked(CONNECT.format(port=port), skip=WALLS - {"landlock"}) == "EACCES"


def test_a_connection_could_be_made_without_the_lock(locked, port):
    assert locked(CONNECT.format(port=port), skip=WALLS) == "succeeded"


def test_a_socket_from_before_the_lock_is_gone_and_could_not_connect(locked, port):
    attack = LATE_CONNECT.format(port=port)
    assert locked(attack) == "killed by SIGSYS"
    assert locked(attack, skip=WALLS) == "EBADF"
    assert locked(attack, skip=WALLS | {"descriptors"}) == "succeeded"
