"""Frames: four bytes of length, big-endian, then so many bytes of payload."""

from __future__ import annotations

import os
import struct

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs 3 ms of every cold start
    from typing import Final

__all__ = [
    "ANSWER",
    "BRANCH",
    "LINE",
    "NOT_LOADED",
    "NOT_LOCKED",
    "ORDER",
    "QUESTION",
    "READY",
    "Channel",
    "WireError",
]

ORDER: Final = struct.Struct("=cqd")
"""Host to zygote: a verb, a whole number, seconds; ``worker.zygote`` says which."""
ANSWER: Final = struct.Struct("=qd")
"""Zygote to host: a whole number, seconds."""
READY: Final = b"+"
NOT_LOCKED: Final = b"L"
"""With the step and the reason behind it."""
NOT_LOADED: Final = b"E"
"""With the exception's name behind it."""

LINE: Final = b"L"
QUESTION: Final = b"Q"
BRANCH: Final = b"B"
"""Host to a session's worker, at a frame's head: what the rest is, a start frame, or a question."""

HEADER_BYTES: Final = 4
# More at a time makes Python map and unmap memory on each read: 27k calls a second, not 46k.
READ_BYTES: Final = 32_768


class WireError(Exception):
    """The other side broke the protocol; the message says how, in words of ours only."""


class Channel:
    """One end of a stream that carries frames both ways.

    Args:
        read_fd: Descriptor to read from; the same as ``write_fd`` for a socket.
        write_fd: Descriptor to write to.
        frame_bytes: The longest payload that is read; a longer one is a :class:`WireError`, seen
            from its header, before any of it is taken in.
    """

    __slots__ = ("_buffer", "_frame_bytes", "_read_fd", "_write_fd")

    def __init__(self, read_fd: int, write_fd: int, frame_bytes: int) -> None:
        self._read_fd = read_fd
        self._write_fd = write_fd
        self._frame_bytes = frame_bytes
        self._buffer = b""

    def read(self) -> bytes | None:
        """Returns the next payload, or None where the stream has ended between or within frames.

        Raises:
            WireError: The header announces more than ``frame_bytes``.
        """
        buffer = self._buffer
        while len(buffer) < HEADER_BYTES:
            chunk = self._some()
            if not chunk:
                return None
            buffer += chunk
        length = int.from_bytes(buffer[:HEADER_BYTES], "big")
        if length > self._frame_bytes:
            msg = f"a frame of {length} bytes was announced, the limit is {self._frame_bytes}"
            raise WireError(msg)
        end = HEADER_BYTES + length
        if len(buffer) < end:
            pieces = [buffer]
            missing = end - len(buffer)
            while missing > 0:
                chunk = self._some()
                if not chunk:
                    return None
                pieces.append(chunk)
                missing -= len(chunk)
            buffer = b"".join(pieces)
        self._buffer = buffer[end:]
        return buffer[HEADER_BYTES:end]

    def put_back(self, payload: bytes) -> None:
        """Has the next :meth:`read` return a payload, before anything else."""
        self._buffer = len(payload).to_bytes(HEADER_BYTES, "big") + payload + self._buffer

    def wait(self, milliseconds: float) -> bool:
        """Waits until there is something to read.

        Args:
            milliseconds: How long, at most.

        Returns:
            Whether there is; the stream's end is something, too.
        """
        if self._buffer:
            return True
        import select

        if not hasattr(select, "poll"):  # Windows: only sockets can be waited for there
            import time

            time.sleep(milliseconds / 1e3)
            return False
        poll = select.poll()
        poll.register(self._read_fd, select.POLLIN)
        return bool(poll.poll(milliseconds))

    def write(self, payload: bytes) -> bool:
        """Writes one frame whole.

        Returns:
            False where the other side is gone.
        """
        data = len(payload).to_bytes(HEADER_BYTES, "big") + payload
        try:
            written = os.write(self._write_fd, data)
            if written < len(data):
                rest = memoryview(data)
                while written < len(data):
                    written += os.write(self._write_fd, rest[written:])
        except OSError:
            return False
        return True

    def offer(self, payload: bytes) -> bool:
        """Writes one short frame to a side that has read what came before; never waits.

        Returns:
            False where it has not, or is gone.
        """
        import select

        poll = select.poll()
        poll.register(self._write_fd, select.POLLOUT)
        return bool(poll.poll(0)) and self.write(payload)

    def _some(self) -> bytes:
        try:
            return os.read(self._read_fd, READ_BYTES)
        except OSError:  # reset by a peer that was killed
            return b""
