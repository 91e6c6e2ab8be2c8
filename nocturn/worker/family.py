"""A session's processes, as the zygote sees them: it rules on each fork, and ends them all.

A session's worker forks before each line, so that a line can be taken back. It is allowed as many
forks as the host has asked for, by the process that the host has named, and each child is known by
its first call, whose caller the kernel names. So nothing that is said here is taken from a guest.

The members are children of the zygote's, all of one process group, and only ended with it.
"""

from __future__ import annotations

import _socket
import ctypes
import os
import struct

from nocturn.worker import kernel
from nocturn.worker.syscalls import BRANCHES, numbers

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs 3 ms of every cold start
    from typing import Final

__all__ = ["Family"]

# From linux/seccomp.h: struct seccomp_notif, _resp and _addfd, and what is asked with them.
_RECEIVE: Final = 0xC0502100
_ANSWER: Final = 0xC0182101
_GIVE_DESCRIPTOR: Final = 0x40182103
_NOTIFICATION: Final = struct.Struct("=QIIiIQ6Q")
_REPLY: Final = struct.Struct("=QqiI")
_DESCRIPTOR: Final = struct.Struct("=QIIII")
_CONTINUE: Final = 1
_AT_THAT_NUMBER: Final = 1
_SIGKILL: Final = 9


class Family:
    """The processes of one session.

    Args:
        leader: The process that it began with; its id is the group's.
        post: A socket over which that process gives its listener, before any guest is in it.

    Attributes:
        post: The socket.
        listener: The descriptor that tells of forks; -1 before it is there and after all is over.
        members: The ids of the processes that are known.
    """

    def __init__(self, leader: int, post: _socket.socket) -> None:
        self.leader = leader
        self.post = post
        self.listener = -1
        self.members = {leader}
        self._parent = 0
        self._socket_fd = -1
        self._granted = False
        self._arrived = 0

    def take_listener(self) -> bool:
        """Takes the listener, once it is there; waits for nothing."""
        if self.listener < 0:
            try:
                _, ancillary, _, _ = self.post.recvmsg(1, _socket.CMSG_SPACE(4))
            except OSError:  # not yet, or that process is gone
                return False
            if ancillary:
                (self.listener,) = struct.unpack("i", ancillary[0][2])
        return self.listener >= 0

    def open(self, parent: int, socket_fd: int) -> bool:
        """Allows one fork.

        Args:
            parent: Who may fork.
            socket_fd: What the child is given as its descriptor 0; owned from here on.

        Returns:
            Whether it is allowed.
        """
        if self._socket_fd >= 0 or parent not in self.members or not self.take_listener():
            os.close(socket_fd)
            return False
        self._parent, self._socket_fd = parent, socket_fd
        self._granted, self._arrived = False, 0
        return True

    def arrived(self) -> int:
        """Returns the child that has come of the last fork; 0 where none has."""
        return self._arrived

    def rule(self) -> None:
        """Rules on what a member asks; one that asks for what nobody ordered ends the session."""
        data = bytearray(_NOTIFICATION.size)
        if not self._ask(_RECEIVE, data):  # it has died meanwhile
            return
        identity, pid, _, number, *_ = _NOTIFICATION.unpack(data)
        fork, arrival, _ = numbers(BRANCHES, os.uname().machine)
        if number == fork and self._may_fork(pid):
            self._granted = True
            self._ask(_ANSWER, bytearray(_REPLY.pack(identity, 0, 0, _CONTINUE)))
        elif number == arrival and self._may_arrive(pid):
            given = _DESCRIPTOR.pack(identity, _AT_THAT_NUMBER, self._socket_fd, 0, 0)
            if self._ask(_GIVE_DESCRIPTOR, bytearray(given)):
                self.members.add(pid)
                self._arrived = pid
            self._close_socket()
            self._ask(_ANSWER, bytearray(_REPLY.pack(identity, 0, 0, 0)))
        else:
            self.kill()

    def reap(self, pid: int) -> tuple[int, float]:
        """Waits for a member that was ended; returns the signal that did, and its CPU seconds."""
        if pid == self.leader:  # its id is the group's, so it stays until there is no group
            ended = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
            killed = ended is not None and ended.si_code != os.CLD_EXITED
            return (ended.si_status if ended is not None and killed else 0), 0.0
        _, status, usage = os.wait4(pid, 0)
        self.members.discard(pid)
        ended_by = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
        return ended_by, usage.ru_utime + usage.ru_stime

    def kill(self) -> None:
        """Ends every process of the session, whether or not it has arrived."""
        try:  # noqa: SIM105 - contextlib is not loaded otherwise
            os.killpg(self.leader, _SIGKILL)
        except OSError:  # gone already
            pass

    def end(self) -> None:
        """Ends every process of the session, and reaps them all."""
        self.kill()
        try:
            while True:
                os.waitpid(-self.leader, 0)
        except ChildProcessError:
            pass
        self._close_socket()
        self.post.close()
        self.lose_listener()

    def lose_listener(self) -> None:
        """Closes the listener: nobody is left who could ask."""
        if self.listener >= 0:
            os.close(self.listener)
            self.listener = -1

    def _may_fork(self, pid: int) -> bool:
        return self._socket_fd >= 0 and not self._granted and pid == self._parent

    def _may_arrive(self, pid: int) -> bool:
        return self._socket_fd >= 0 and self._granted and pid not in self.members

    def _close_socket(self) -> None:
        if self._socket_fd >= 0:
            os.close(self._socket_fd)
            self._socket_fd = -1

    def _ask(self, request: int, data: bytearray) -> bool:
        if kernel.LIBC is None:
            return False
        block = (ctypes.c_char * len(data)).from_buffer(data)
        return bool(kernel.LIBC.ioctl(self.listener, ctypes.c_ulong(request), block) != -1)
