"""One process: started and waited for with the clock read next to both, and what it has used.

Where the system can, a child is made by posix_spawn, which shares our memory until the program starts (vfork) and so
takes the same time however large we are. Nothing of ours runs between the two readings of the clock: no thread waits
for a timeout or reads a pipe. The thread that started the process sleeps until it ends, prints or is out of time.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

KEPT = 64 * 1024  # bytes of what a process prints: the last ones
CHUNK = 256 * 1024  # bytes to read from a pipe at once
OFTEN = 0.01  # seconds between two checks where the system cannot wake us when a process ends
PATIENCE = 1.0  # seconds to wait for the rest of the output, which a process that escaped may hold open
IGNORED = [getattr(signal, name) for name in ("SIGPIPE", "SIGXFSZ") if hasattr(signal, name)]
MAXRSS_UNIT = 1 if sys.platform == "darwin" else 1024  # bytes


class Child:
    """A process that was started here.

    Attributes:
        pid: Its number, which is also that of its process group.
        code: Its exit code, below 0 for a signal; None while it runs.
        started: When, by `time.perf_counter`.
        seconds: How long it ran, once it has ended.
        usage: What it and all it waited for have used (`os.wait4`); None where the system does not tell.
    """

    def __init__(
        self,
        command: str | Sequence[str],
        environment: Mapping[str, str],
        folder: Path,
        streams: tuple[int, int, int],
        *,
        session: bool = True,
    ) -> None:
        """Start it, at the head of its own process group.

        Args:
            command: Words, or a line for the usual shell of the system.
            environment: All its variables.
            folder: Its current directory.
            streams: File descriptors for its input, output and errors.
            session: Whether it has a session of its own, too, and so no terminal. Where Linux shares processors out
                among sessions (autogroup), a new one has to wait for a busy processor longer than we do.
        """
        self.code: int | None = None
        self.seconds = 0.0
        self.usage: Any = None
        self._popen: subprocess.Popen[bytes] | None = None
        self.started = 0.0
        words = ["/bin/sh", "-c", command] if isinstance(command, str) else list(command)
        if hasattr(os, "posix_spawn") and folder.samefile(os.curdir):
            actions = [(os.POSIX_SPAWN_DUP2, stream, number) for number, stream in enumerate(streams)]
            group: dict[str, Any] = {"setsid": True} if session else {"setpgroup": 0}
            options: dict[str, Any] = {"file_actions": actions, "setsigdef": IGNORED, **group}
            self.started = time.perf_counter()
            self.pid = os.posix_spawnp(words[0], words, environment, **options)
            return
        given: Any = dict(zip(("stdin", "stdout", "stderr"), streams, strict=True))
        given |= {"start_new_session": True} if session else {"process_group": 0}
        shown = words if os.name == "posix" else command
        self.started = time.perf_counter()
        self._popen = subprocess.Popen(shown, shell=isinstance(shown, str), cwd=folder, env=dict(environment), **given)
        self.pid = self._popen.pid

    def wait(self, seconds: float | None = None, tails: Sequence[Tail] = ()) -> bool:
        """Wait until it ends, or was running for so long; whether it has ended. Its output is read meanwhile."""
        if self.code is not None:
            return True
        if seconds is None and not tails:
            return self._take(0)
        poll, watched = select.poll(), _descriptor(self.pid)
        open_tails = {tail.fileno(): tail for tail in tails}
        for each in (*open_tails, *([] if watched is None else [watched])):
            poll.register(each, select.POLLIN)
        try:
            while True:
                left = None if seconds is None else self.started + seconds - time.perf_counter()
                if left is not None and left <= 0.0:
                    return self._take(os.WNOHANG)
                pause = left if watched is not None else min(OFTEN, OFTEN if left is None else left)
                ready = poll.poll(None if pause is None else max(1000.0 * pause, 1.0))
                now = time.perf_counter()
                if (watched is None or any(each == watched for each, _ in ready)) and self._take(os.WNOHANG, now):
                    return True
                for each, _ in ready:
                    if each in open_tails and not open_tails[each].read():
                        poll.unregister(each)
        finally:
            if watched is not None:
                os.close(watched)

    def _take(self, flags: int, now: float | None = None) -> bool:
        """Take its exit code, if it has ended."""
        if os.name != "posix":
            assert self._popen is not None
            self.code = self._popen.wait() if flags == 0 else self._popen.poll()
            self.seconds = (now or time.perf_counter()) - self.started
            return self.code is not None
        try:
            pid, status, usage = os.wait4(self.pid, flags)
        except ChildProcessError:  # another thread was first
            self.code = 0 if self.code is None else self.code
            return True
        now = time.perf_counter() if now is None else now
        if pid == 0:
            return False
        self.seconds, self.usage, self.code = now - self.started, usage, os.waitstatus_to_exitcode(status)
        if self._popen is not None:
            self._popen.returncode = self.code  # or it would warn that it was never waited for
        return True

    def send(self, number: int) -> None:
        """Send a signal to its whole process group; where there are none, end it."""
        # A group that is gone, or on some systems one of which only dead processes are left.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if os.name == "posix":
                os.killpg(self.pid, number)
            elif self._popen is not None:
                self._popen.kill()


def _descriptor(pid: int) -> int | None:
    """What a poll can wait for until a process ends; None where the system has no such thing."""
    with contextlib.suppress(AttributeError, OSError):
        return os.pidfd_open(pid)
    return None


def peak_memory(usage: Any) -> tuple[int | None, bool]:
    """The most bytes that a process had in memory, and whether that is only an upper limit; None if it is not known.

    Linux counts what a process had before its program started, which was ours. So of a program that is smaller than we
    are it is known that it is no larger.
    """
    if usage is None:
        return None, False
    import resource

    return int(usage.ru_maxrss) * MAXRSS_UNIT, usage.ru_maxrss <= resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


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
