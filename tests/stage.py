"""Scenes that several processes play, on a stage of their own: a program that forks, which a test runner should not.

It reads scenes from its standard input, name and arguments as a JSON list a line, and plays each in a child. All is
imported and compiled before, so that whoever takes part is at work a few milliseconds after it was started.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from tests.storage_processes import in_child, say

END = "the end:"  # of a scene; its status follows
LONGEST = 600.0  # seconds for a scene, unless it is given more

Play = Callable[..., list[str]]


@contextmanager
def playing(program: str) -> Iterator[Play]:
    """What plays the scenes of a program, a module of the tests, and returns what its processes say."""
    # Python 3.12 and later warn of a fork next to the threads that NumPy starts; and the server here has no fsync.
    warnings = ["-W", "ignore::DeprecationWarning", "-W", "ignore:fsync is off"]
    command = [sys.executable, *warnings, "-m", program]
    place = Path(__file__).parents[1]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    with (
        subprocess.Popen(command, cwd=place, text=True, start_new_session=True, **pipes) as stage,  # type: ignore[call-overload]
        ExitStack() as end,
    ):
        orders, voices = stage.stdin, stage.stdout

        def clear() -> None:
            """With all who are left on it."""
            with suppress(ProcessLookupError):
                os.killpg(stage.pid, signal.SIGKILL)

        end.callback(clear)

        def play(*scene: object, longest: float = LONGEST) -> list[str]:
            watchdog = threading.Timer(longest, clear)
            watchdog.start()
            orders.write(json.dumps(scene) + "\n")
            orders.flush()
            said = []
            for line in voices:
                said.append(line.rstrip("\n"))
                if said[-1].startswith(END):
                    break
            watchdog.cancel()
            watchdog.join()
            assert said, "nobody answers"
            assert said.pop() == f"{END} 0", "\n".join(said)
            return said

        yield play


def play_all(scenes: Mapping[str, Any]) -> None:
    """On the stage: play scenes, by their names, until there are no more."""
    for line in sys.stdin:
        scene, *arguments = json.loads(line)
        child = in_child(lambda scene=scene, arguments=arguments: scenes[scene](*arguments))
        say(f"{END} {os.waitpid(child, 0)[1]}")
