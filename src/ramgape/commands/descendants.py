"""Finds what a trial has started and what has left its process group, as a daemon does (setsid).

That takes Linux. We become the parent of orphans (PR_SET_CHILD_SUBREAPER), and /proc shows who is whose child, and the
mark that each trial has in its environment: the one that the watchdog goes by when we are killed. Elsewhere nothing is
found. What has cleared its environment as well is known by its parents; as an orphan it is known only when no other
trial runs, and is ended then.
"""

from __future__ import annotations

import ctypes
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from typing import ClassVar, NamedTuple

MARK = "RAMGAPE_RUN"  # in the environment of every command: which run and which trial it belongs to
LINUX = sys.platform == "linux"
SET_CHILD_SUBREAPER = 36  # of prctl


class SeenProcess(NamedTuple):
    """A process as /proc shows it."""

    state: str
    parent: int
    group: int


class Descendants:
    """What has been started from here, for as long as trials are made."""

    known: ClassVar[set[int]] = set()  # processes that we started ourselves, and wait for
    _lock: ClassVar[threading.Lock] = threading.Lock()
    _users: ClassVar[int] = 0

    def __init__(self) -> None:
        self._before = children()
        self._open = True
        self._adopt(1)

    def close(self) -> None:
        """Orphans are no longer ours; may be called twice."""
        if self._open:
            self._open = False
            self._adopt(-1)

    def _adopt(self, more: int) -> None:
        with self._lock:
            Descendants._users += more
            if LINUX:
                ctypes.CDLL(None).prctl(SET_CHILD_SUBREAPER, int(Descendants._users > 0), 0, 0, 0)

    def find(self, mark: str, process: int | None, alone: bool) -> set[int]:
        """The processes of a trial.

        Args:
            mark: What the value of `MARK` begins with in its environment.
            process: Its first process while that runs, which is not among them; None when it has ended.
            alone: No other trial runs, so that orphans without a mark are of this one.
        """
        if not LINUX or (process is None and not self._strangers()):
            return set()
        seen = dict(processes())
        strangers = {each for each in self._strangers() if each in seen and seen[each].group != os.getpgid(0)}
        found = {each for each in seen if (value := mark_of(each)) is not None and value.startswith(mark)}
        found |= {each for each in strangers if alone and mark_of(each) is None}
        found |= {process} if process is not None else set()
        while more := {each for each, about in seen.items() if about.parent in found and each not in found}:
            found |= more
        for each in strangers:
            if seen[each].state == "Z":
                with suppress(ChildProcessError):
                    os.waitpid(each, os.WNOHANG)
        return {each for each in found if each != process and each in seen and seen[each].state != "Z"} - self.known

    def _strangers(self) -> set[int]:
        """Children that we did not start: orphans."""
        return children() - self._before - self.known


def children() -> set[int]:
    """Our children."""
    found: list[str] = []
    with suppress(FileNotFoundError):
        threads = os.listdir("/proc/self/task")  # noqa: PTH208
        for thread in threads:
            with suppress(ProcessLookupError), open(f"/proc/self/task/{thread}/children") as file:  # noqa: PTH123
                found += file.read().split()
        return set(map(int, found))
    return {each for each, about in processes() if about.parent == os.getpid()} if LINUX else set()


def processes() -> Iterator[tuple[int, SeenProcess]]:
    """All that runs on this machine."""
    for name in filter(str.isdecimal, os.listdir("/proc")):  # noqa: PTH208
        with suppress(OSError), open(f"/proc/{name}/stat", "rb") as file:  # noqa: PTH123
            state, parent, group = file.read().rpartition(b")")[2].split()[:3]
            yield int(name), SeenProcess(state.decode(), int(parent), int(group))


def mark_of(process: int) -> str | None:
    """The mark in the environment of a process; None where there is none, or where we may not look."""
    with suppress(OSError), open(f"/proc/{process}/environ", "rb") as file:  # noqa: PTH123
        for entry in file.read().split(b"\0"):
            if entry.startswith(f"{MARK}=".encode()):
                return entry.partition(b"=")[2].decode(errors="replace")
    return None
