"""Attack: fill the disk through a descriptor that was left open."""

from __future__ import annotations

WRITE = """
def attack(_):
    os.write({fd}, b"x")
"""


def test_no_byte_goes_into_a_file_even_if_one_were_left_open(locked, open_folder):
    path = open_folder / "x"
    with path.open("wb") as file:
        attack = WRITE.format(fd=file.fileno())
        assert locked(attack, fds=(file.fileno(),)) == "EBADF"
        assert locked(attack, fds=(file.fileno(),), skip={"descriptors"}) == "EFBIG"
        assert path.read_bytes() == b""
        skip = {"descriptors", "files"}
        assert locked(attack, fds=(file.fileno(),), skip=skip) == "succeeded"
        assert path.read_bytes() == b"x"
