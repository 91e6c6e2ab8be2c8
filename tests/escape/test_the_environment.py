"""Attack: find a secret in the environment, or in the memory where it was."""

from __future__ import annotations

import pytest

ENV = {"API_KEY": "correct horse battery"}
ASK_PYTHON = """
def attack(_):
    return "found" if "API_KEY" in os.environ else "gone"
"""
ASK_C = """
libc.getenv.restype = ctypes.c_char_p

def attack(_):
    return "found" if libc.getenv(b"API_KEY") else "gone"
"""
LOOK_IN_MEMORY = """
libc.getenv.restype = ctypes.c_void_p

def prepare():
    return libc.getenv(b"API_KEY")

def attack(address):
    return "found" if b"horse" in ctypes.string_at(address, 21) else "gone"
"""
ZONE = """
import time

def attack(_):
    return "UTC" if time.localtime(0).tm_hour == 0 and time.tzname[0] == "UTC" else "local"
"""
EACH = pytest.mark.parametrize(
    "attack", [ASK_PYTHON, ASK_C, LOOK_IN_MEMORY], ids=["os.environ", "getenv", "memory"]
)


@EACH
def test_nothing_is_left_of_the_environment(locked, attack):
    assert locked(attack, env=ENV) == "gone"


@EACH
def test_a_secret_could_be_found_if_it_were_not_wiped(locked, attack):
    assert locked(attack, env=ENV, skip={"environment"}) == "found"


def test_the_time_zone_tells_nobody_where_we_are(locked):
    assert locked(ZONE, env={"TZ": "XYZ-5"}) == "UTC"
    assert locked(ZONE, env={"TZ": "XYZ-5"}, skip={"environment"}) == "local"
