"""What may be said of commands that are timed; a file of its own, so that help need not load what runs them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class HowTimed:
    """What may be said of commands that are timed, beside the options of a search.

    Attributes:
        name: Of the study, which is then stored.
        names: Of the first commands.
        prepare: Commands to run before each run: none, one for all, or one for each.
        warmup: Runs of each command that count for nothing.
        shell: The name of one, or a line that starts it; "none" for none at all.
        min_runs: Of each command before anything is said.
        max_runs: Of each command, on average over all of them, before it is given up.
        runs: Of each command, neither more nor fewer.
        ignore_failure: Whether any exit code is as good as 0.
    """

    name: str | None = None
    names: Sequence[str] = ()
    prepare: Sequence[str] = ()
    warmup: int = 0
    shell: str | None = None
    min_runs: int | None = None
    max_runs: int | None = None
    runs: int | None = None
    ignore_failure: bool = False
