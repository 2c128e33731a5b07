"""Trials that are made on the machines of a cluster, which import this module and nothing of ours with it."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import Any

MEANS = {"good": 0.9, "fair": 0.5, "poor": 0.1}
ARMS = list(MEANS)


def coin(arm: str, rng: Any) -> float:
    """One or nothing."""
    return float(rng.random() < MEANS[arm])


class Coin:
    """A trial that takes so many seconds; with a folder, one that writes there that it was begun."""

    def __init__(self, seconds: float = 0.0, folder: Path | None = None) -> None:
        self.seconds, self.folder = seconds, folder

    def __call__(self, arm: str, rng: Any) -> float:
        if self.folder is not None:
            with (self.folder / "begun.txt").open("a") as file:
                file.write(f"{arm}\n")
        time.sleep(self.seconds)
        return coin(arm, rng)


class Together(Coin):
    """One that ends only when so many have begun: fewer at once would wait in vain."""

    def __init__(self, count: int, folder: Path, longest: float) -> None:
        super().__init__(0.0, folder)
        self.count, self.longest = count, longest

    def __call__(self, arm: str, rng: Any) -> float:
        assert self.folder is not None
        begun, end = self.folder / "together.txt", time.monotonic() + self.longest
        with begun.open("a") as file:
            file.write(".")
        while begun.stat().st_size < self.count:
            if time.monotonic() > end:
                raise TimeoutError(f"only {begun.stat().st_size} are under way")
            time.sleep(0.1)
        return coin(arm, rng)


class Deadly(Coin):
    """One that kills the process it is made in: every time for an arm, or once for all of them."""

    def __init__(self, arm: str | None, folder: Path, seconds: float = 0.02) -> None:
        super().__init__(seconds, folder)
        self.arm = arm

    def __call__(self, arm: str, rng: Any) -> float:
        assert self.folder is not None
        if arm == self.arm or (self.arm is None and self._is_first(arm)):
            time.sleep(0.1)  # in the middle of it, and of those beside it
            os.kill(os.getpid(), signal.SIGKILL)
        return super().__call__(arm, rng)

    def _is_first(self, arm: str) -> bool:
        assert self.folder is not None
        begun = self.folder / "begun.txt"
        if not begun.exists() or begun.read_text().count("\n") < 10:
            return False
        try:
            (self.folder / "killed").touch(exist_ok=False)
        except FileExistsError:
            return False
        return True


def broken(arm: str) -> float:
    """A trial that fails by itself."""
    raise LookupError(f"no {arm} here")
