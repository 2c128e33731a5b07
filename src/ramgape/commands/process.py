"""One process: started and waited for with the clock read next to both, and what it has used.

A small program of its own does that (launcher.py): it makes a child by posix_spawn, which shares the memory of its
parent until the program starts (vfork) and so takes the same time however large that is. Nothing of ours runs between
the two readings of the clock: we sleep until the process ends, prints or is out of time.
"""

from __future__ import annotations

import contextlib
import marshal
import os
import select
import socket
import subprocess
import sys
import threading
import time
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from ramgape.commands import launcher

KEPT = 64 * 1024  # bytes of what a process prints: the last ones
CHUNK = 256 * 1024  # bytes to read from a pipe at once
OFTEN = 0.25  # seconds between two checks whether another thread has seen the end of a process
SOON = 0.001  # seconds between two checks whether a process has started
PATIENCE = 1.0  # seconds to wait for the rest of the output, which a process that escaped may hold open
MAXRSS_UNIT = 1 if sys.platform == "darwin" else 1024  # bytes


class Usage(NamedTuple):
    """What a process and all it waited for have used: seconds of processor time, and the most bytes of memory.

    Attributes:
        small: The memory is only an upper limit. Linux counts what a process had before its program started, which was
            the launcher's. So of a program that is smaller than that it is known that it is no larger.
    """

    user: float
    system: float
    memory: int
    small: bool


class Launcher:
    """The program that starts processes, one at a time.

    It has a session of its own, so that its processes have no terminal. And where Linux shares processors out among
    sessions (autogroup), this one was idle, and waits no longer for a busy processor than a new one would.

    Args:
        folder: The current directory of all processes.
        notes: A file where the number of a process stands while it runs.
        place: Where in that file.
    """

    def __init__(self, folder: Path, notes: int, place: int) -> None:
        self._notes, self._place = notes, place
        self.channel, other = socket.socketpair()
        os.pwrite(notes, b" " * launcher.NOTE, place)
        with other:
            words = [sys.executable, "-IS", launcher.__file__, *map(str, (other.fileno(), notes, place))]
            nothing = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
            self._process = subprocess.Popen(  # type: ignore[call-overload]
                words, **nothing, cwd=folder, pass_fds=(other.fileno(), notes), start_new_session=True
            )
        self.pid: int = self._process.pid

    def request(self, words: Sequence[str], environment: Mapping[str, str], streams: tuple[int, int, int]) -> None:
        """Have a process started."""
        message = marshal.dumps((list(words), dict(environment)))
        length = len(message).to_bytes(launcher.LENGTH, "little")
        self.channel.sendmsg([length], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array("i", streams))])
        self.channel.sendall(message)

    def noted(self) -> int | None:
        """The number of the process that runs; None before its start and after its end."""
        text = os.pread(self._notes, launcher.NOTE, self._place).strip()
        return int(text) if text else None

    def close(self) -> None:
        """End it, once no process runs."""
        self.channel.close()
        self._process.wait()


class Child:
    """A process that was started here.

    Attributes:
        mark: What its trial has in the environment.
        code: Its exit code, below 0 for a signal; None while it runs.
        started: When, by `time.perf_counter`, as far as we know.
        seconds: How long it ran, once it has ended.
        usage: What it has used; None where the system does not tell.
        cut_off: The timeout, in seconds, if it was ended there.
    """

    mark = ""
    cut_off: float | None = None
    usage: Usage | None = None

    def __init__(
        self,
        launcher: Launcher,
        command: str | Sequence[str],
        environment: Mapping[str, str],
        streams: tuple[int, int, int],
    ) -> None:
        """Have it started, at the head of its own process group.

        Args:
            launcher: What starts it; no other process of that runs.
            command: Words, or a line for the usual shell of the system.
            environment: All its variables.
            streams: File descriptors for its input, output and errors.
        """
        self.code: int | None = None
        self.seconds = 0.0
        self._pid: int | None = None
        self._launcher = launcher
        self._lock = threading.Lock()
        words = ["/bin/sh", "-c", command] if isinstance(command, str) else list(command)
        self.started = time.perf_counter()
        launcher.request(words, environment, streams)

    @property
    def pid(self) -> int | None:
        """Its number, which is also that of its process group; None if it could not be started."""
        while self._pid is None and self.code is None:
            self._pid = self._launcher.noted()
            if self._pid is None and not self._ready(SOON):
                continue
            if self._pid is None:
                self._take()
        return self._pid

    def wait(self, seconds: float | None = None, tails: Sequence[Tail] = ()) -> bool:
        """Wait until it ends, or was running for so long; whether it has ended. Its output is read meanwhile.

        Raises:
            OSError: It could not be started.
        """
        if self._ended():
            return True
        watched = self._launcher.channel.fileno()
        open_tails = {tail.fileno(): tail for tail in tails}
        poll = select.poll()
        for each in (*open_tails, watched):
            poll.register(each, select.POLLIN)
        while not self._ended():
            left = OFTEN if seconds is None else self.started + seconds - time.perf_counter()
            if left <= 0.0:
                return self._ready(0.0) and self._take()
            for each, _ in poll.poll(max(1000.0 * min(left, OFTEN), 1.0)):
                if each == watched:
                    self._take()
                elif not open_tails[each].read():
                    poll.unregister(each)
        return True

    def _ended(self) -> bool:
        return self.code is not None

    def _ready(self, seconds: float) -> bool:
        return bool(select.select([self._launcher.channel], [], [], seconds)[0])

    def _take(self) -> bool:
        """Take what the launcher says of its end; always True."""
        with self._lock:
            if self.code is not None:  # another thread was first
                return True
            answer = self._launcher.channel.recv(4096)
            found: tuple[Any, ...] = (
                marshal.loads(answer) if answer else ("the process that starts commands was ended",)
            )
            if len(found) == 1:
                self.code = 127
                raise OSError(found[0])
            self._pid, self.code, self.seconds, user, system, memory, own = found
            self.usage = Usage(user, system, int(memory) * MAXRSS_UNIT, memory <= own)
            return True

    def send(self, number: int) -> None:
        """Send a signal to its whole process group."""
        # A group that is gone, or on some systems one of which only dead processes are left.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if self.pid is not None:
                os.killpg(self.pid, number)


class WindowsChild(Child):
    """The same where there are no process groups: started from here."""

    def __init__(
        self, command: str | Sequence[str], environment: Mapping[str, str], streams: tuple[int, int, int], folder: Path
    ) -> None:
        self.code, self.seconds, self.started = None, 0.0, time.perf_counter()
        given: Any = dict(zip(("stdin", "stdout", "stderr"), streams, strict=True))
        shell = isinstance(command, str)
        self._popen = subprocess.Popen(command, shell=shell, cwd=folder, env=dict(environment), **given)

    @property
    def pid(self) -> int | None:
        """Its number."""
        return self._popen.pid

    def wait(self, seconds: float | None = None, tails: Sequence[Tail] = ()) -> bool:
        """Wait until it ends, or was running for so long; whether it has ended."""
        if self.code is None:
            left = None if seconds is None else max(self.started + seconds - time.perf_counter(), 0.0)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.code = self._popen.wait(left)
                self.seconds = time.perf_counter() - self.started
        return self.code is not None

    def send(self, number: int) -> None:
        """End it."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            self._popen.kill()


@dataclass(slots=True)
class Tail:
    """The last bytes that come out of a pipe; all others are read and forgotten, so that no program has to wait.

    Attributes:
        inlet: Where a process writes.
    """

    inlet: int = -1
    _outlet: int = -1
    _kept: bytearray = field(default_factory=bytearray)

    def __post_init__(self) -> None:
        self._outlet, self.inlet = os.pipe()
        os.set_blocking(self._outlet, False)

    def fileno(self) -> int:
        """What a poll waits for."""
        return self._outlet

    def started(self) -> None:
        """Close our end of the inlet: the process has its own."""
        if self.inlet >= 0:
            os.close(self.inlet)
            self.inlet = -1

    def read(self) -> bool:
        """Take what is there; whether more may come."""
        try:
            more = os.read(self._outlet, CHUNK)
        except BlockingIOError:
            return True
        self._kept += more
        del self._kept[:-KEPT]
        return bool(more)

    def text(self) -> str:
        """What was kept, after the end of it all."""
        self.started()
        give_up = time.monotonic() + PATIENCE
        poll = select.poll()
        poll.register(self._outlet, select.POLLIN)
        while (left := give_up - time.monotonic()) > 0.0 and poll.poll(1000.0 * left) and self.read():
            pass
        return bytes(self._kept).decode(errors="replace")

    def close(self) -> None:
        """Close the pipe."""
        self.started()
        os.close(self._outlet)
