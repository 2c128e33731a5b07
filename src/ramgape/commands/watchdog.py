"""Ends the commands of a process that was killed and could not do so itself.

A small shell waits at the end of a pipe. What it reads are the process groups that run at present, one line whenever
that changes; when the pipe closes without a farewell, the process at the other end is gone, and those groups are ended.
On Linux it also looks for whatever has the mark of this run in its environment: a command that was started but not yet
written down, and what has left its group.
"""

from __future__ import annotations

import os
import secrets
import subprocess
from collections.abc import Iterable
from contextlib import suppress

from ramgape.commands.descendants import MARK, Descendants

FAREWELL = "over"

SCRIPT = f"""
while read -r groups; do
    [ "$groups" = {FAREWELL} ] && exit
    last=$groups
done
for signal in TERM KILL; do
    for group in $last; do kill -s $signal -- -"$group"; done
    marked=$(grep -slz "^{MARK}=$1" /proc/[0-9]*/environ | tr -dc '0-9\\n')
    for process in $marked; do kill -s $signal -- -"$process" "$process"; done
    [ $signal = TERM ] && sleep 1
done
"""


class TrialGuard:
    """One for all commands of a process; where there are no process groups it does nothing."""

    def __init__(self) -> None:
        self.mark = secrets.token_hex(8)
        self._shell: subprocess.Popen[bytes] | None = None
        if os.name == "posix":
            self._shell = subprocess.Popen(
                ["/bin/sh", "-c", SCRIPT, "ramgape-guard", self.mark],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                bufsize=0,
                cwd="/",
                start_new_session=True,  # so that a Ctrl-C in the terminal, or the end of our group, does not end it
            )
            Descendants.known.add(self._shell.pid)

    def watch(self, groups: Iterable[int]) -> None:
        """These groups run now, and no others."""
        self._write(" ".join(map(str, groups)))

    def close(self) -> None:
        """All is over; may be called twice."""
        self._write(FAREWELL)
        shell, self._shell = self._shell, None
        if shell is not None:
            shell.communicate()  # closes the pipe, and waits
            Descendants.known.discard(shell.pid)

    def _write(self, line: str) -> None:
        if self._shell is not None and self._shell.stdin is not None:
            with suppress(BrokenPipeError):  # somebody has ended it, and the commands need not suffer for that
                self._shell.stdin.write(f"{line}\n".encode())
