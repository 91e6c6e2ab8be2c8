"""No attack: the filter's numbers are the kernel's, and each gets the answer its table says."""

from __future__ import annotations

import re
import struct
from pathlib import Path

import pytest

from nocturn.worker import syscalls

ALLOW, KILL, REFUSE = 0x7FFF0000, 0x80000000, 0x00050001
ARCHITECTURE = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
HEADERS = {
    "x86_64": ["/usr/include/x86_64-linux-gnu/asm/unistd_64.h", "/usr/include/asm/unistd_64.h"],
    "aarch64": ["/usr/include/asm-generic/unistd.h"],
}
EACH = pytest.mark.parametrize("machine", ["x86_64", "aarch64"])


def answer(machine, number, *, architecture=None, protection=0):
    """Interprets the filter, as the kernel does, on one call."""
    program = syscalls.filter_program(machine)
    assert program is not None
    architecture = ARCHITECTURE[machine] if architecture is None else architecture
    call = struct.pack("<IIQ6Q", number, architecture, 0, 0, 0, protection, 0, 0, 0)
    instructions = list(struct.iter_unpack("<HBBI", program))
    place = accumulator = 0
    while True:
        code, yes, no, value = instructions[place]
        place += 1
        if code == 0x20:
            (accumulator,) = struct.unpack_from("<I", call, value)
        elif code == 0x06:
            return value
        else:
            test = {
                0x15: accumulator == value,
                0x35: accumulator >= value,
                0x45: bool(accumulator & value),
            }
            place += yes if test[code] else no


@EACH
def test_each_number_gets_the_answer_of_its_table(machine):
    allowed = set(syscalls.numbers(syscalls.ALLOWED, machine))
    checked = set(syscalls.numbers(syscalls.WITHOUT_EXEC, machine))
    killed = set(syscalls.numbers(syscalls.KILLED, machine))
    for number in range(1024):
        wanted = ALLOW if number in allowed | checked else KILL if number in killed else REFUSE
        assert answer(machine, number) == wanted, number
        wanted = REFUSE if number in checked else wanted
        assert answer(machine, number, protection=7) == wanted, number


@EACH
def test_another_architecture_and_numbers_out_of_range_are_killed(machine):
    (read,) = syscalls.numbers({"read": syscalls.ALLOWED["read"]}, machine)
    for architecture in (0x40000003, 0x40000028, 0xC00000F3, 0):
        assert answer(machine, read, architecture=architecture) == KILL
    for number in (0x40000000 | read, 0x80000000, 0xFFFFFFFF):
        assert answer(machine, number) == KILL


@EACH
def test_the_numbers_are_those_of_the_kernels_header(machine):
    header = next((Path(each) for each in HEADERS[machine] if Path(each).exists()), None)
    if header is None:
        pytest.skip("the kernel's headers are not installed")
    found = dict(re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)", header.read_text()))
    column = ["x86_64", "aarch64"].index(machine)
    for table in (syscalls.ALLOWED, syscalls.WITHOUT_EXEC, syscalls.KILLED, syscalls.OURS):
        for name, both in table.items():
            assert both[column] == (int(found[name]) if name in found else None), name


def test_no_call_is_in_two_tables():
    tables = (syscalls.ALLOWED, syscalls.WITHOUT_EXEC, syscalls.KILLED, syscalls.OURS)
    names = [name for table in tables for name in table]
    assert len(names) == len(set(names))


def test_a_machine_without_a_table_has_no_filter():
    assert syscalls.filter_program("riscv64") is None
