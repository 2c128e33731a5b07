"""Starts processes and waits for them, with the clock read next to both: a small program that does nothing else.

`process.Launcher` runs it by its path, and it imports only what comes with the interpreter and takes no time. So it is
idle until a process ends, and small. A program that has just computed waits for its turn on a busy processor, and would
read the clock late. And Linux counts the memory of the program that starts a process as the process's own.
"""

from __future__ import annotations

import _socket
import marshal
import os
import signal
import sys
from time import perf_counter
from typing import Any

LENGTH, NUMBERS = 8, 3  # bytes of a message's length; file descriptors that come with it
NOTE = 12  # bytes for the number of a process that runs, with blanks
IGNORED = [getattr(signal, name) for name in ("SIGPIPE", "SIGXFSZ") if hasattr(signal, name)]  # by Python


def serve(channel: Any, notes: int, place: int) -> None:
    """Answer requests until the other end is closed.

    Args:
        channel: A socket.
        notes: A file where the number of a process stands while it runs, for whoever must end it.
        place: Where in that file.
    """
    blank = b" " * NOTE
    while (request := receive(channel)) is not None:
        (words, environment), streams = request
        actions = [(os.POSIX_SPAWN_DUP2, stream, number) for number, stream in enumerate(streams)]
        answer: tuple[Any, ...]
        try:
            started = perf_counter()
            pid = os.posix_spawnp(words[0], words, environment, file_actions=actions, setsigdef=IGNORED, setpgroup=0)
        except (OSError, ValueError) as error:
            answer = (str(error),)
        else:
            os.pwrite(notes, b"%-12d" % pid, place)
            _, status, used = os.wait4(pid, 0)
            seconds = perf_counter() - started
            os.pwrite(notes, blank, place)
            code = os.waitstatus_to_exitcode(status)
            answer = (pid, code, seconds, used.ru_utime, used.ru_stime, used.ru_maxrss, peak())
        for stream in streams:
            os.close(stream)
        channel.sendall(marshal.dumps(answer))


def peak() -> int:
    """The most memory of this program, in the unit of `ru_maxrss`, without what Linux counts of its parent there."""
    import resource

    try:
        status = os.open("/proc/self/status", os.O_RDONLY)
        lines = os.read(status, 1 << 14).splitlines()
        os.close(status)
        return next(int(line.split()[1]) for line in lines if line.startswith(b"VmHWM:"))
    except (OSError, StopIteration):
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def receive(channel: Any) -> tuple[Any, list[int]] | None:
    """A request and the file descriptors that come with it; None at the end."""
    head, ancillary, _, _ = channel.recvmsg(LENGTH, _socket.CMSG_SPACE(4 * NUMBERS))
    if not head:
        return None
    streams = [number for _, _, numbers in ancillary for number in memoryview(numbers).cast("i").tolist()]
    for stream in streams:
        os.set_inheritable(stream, False)
    head += b"" if len(head) == LENGTH else exactly(channel, LENGTH - len(head))
    return marshal.loads(exactly(channel, int.from_bytes(head, "little"))), streams


def exactly(channel: Any, count: int) -> bytes:
    """So many bytes."""
    parts = bytearray()
    while len(parts) < count:
        part = channel.recv(count - len(parts))
        if not part:
            raise SystemExit
        parts += part
    return bytes(parts)


if __name__ == "__main__":
    descriptor, notes, place = map(int, sys.argv[1:])
    for each in (descriptor, notes):
        os.set_inheritable(each, False)
    serve(_socket.socket(fileno=descriptor), notes, place)
