"""Ends the commands of a process that was killed and could not do so itself.

A small shell waits at the end of a pipe. When that closes without a farewell, the process at the other end is gone, and
the shell ends the process groups whose numbers stand in a file. The launcher writes them there: that wakes nothing up,
while a line in the pipe would have the shell run just when a command starts. On Linux it also looks for whatever has
the mark of this run in its environment: a command that was started but not yet written down, and what has left its
group.
"""

from __future__ import annotations

import os
import secrets
import subprocess
from contextlib import suppress
from tempfile import TemporaryFile

from ramgape.commands.descendants import MARK, Descendants

FAREWELL = "over"

SCRIPT = f"""
read -r word && [ "$word" = {FAREWELL} ] && exit
exec 3<&1  # in a substitution, 1 is where its output goes
last=$(cat <&3)
exec >&2
for signal in TERM KILL; do
    for group in $last; do kill -s $signal -- -"$group"; done
    marked=$(grep -slz "^{MARK}=$1" /proc/[0-9]*/environ | tr -dc '0-9\\n')
    for process in $marked; do kill -s $signal -- -"$process" "$process"; done
    [ $signal = TERM ] && sleep 1
done
"""


class TrialGuard:
    """One for all commands of a process; where there are no process groups it does nothing.

    Attributes:
        mark: What the environment of all commands has.
        groups: The file with the numbers of process groups that run, with blanks between them.
    """

    def __init__(self) -> None:
        self.mark = secrets.token_hex(8)
        self._shell: subprocess.Popen[bytes] | None = None
        if os.name == "posix":
            self.groups = TemporaryFile(buffering=0)  # noqa: SIM115 - closed with the shell
            self._shell = subprocess.Popen(
                ["/bin/sh", "-c", SCRIPT, "ramgape-guard", self.mark],
                stdin=subprocess.PIPE,
                stdout=self.groups,  # which it reads; the shared offset never moves
                stderr=subprocess.DEVNULL,
                bufsize=0,
                cwd="/",
                start_new_session=True,  # so that a Ctrl-C in the terminal, or the end of our group, does not end it
            )
            Descendants.known.add(self._shell.pid)

    def close(self) -> None:
        """All is over; may be called twice."""
        shell, self._shell = self._shell, None
        if shell is not None and shell.stdin is not None:
            with suppress(BrokenPipeError):  # it was killed, which must not stop the commands
                shell.stdin.write(f"{FAREWELL}\n".encode())
            shell.communicate()  # closes the pipe, and waits
            self.groups.close()
            Descendants.known.discard(shell.pid)
