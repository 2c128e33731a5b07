"""How commands that are typed are timed; a file of its own, so that help need not load what runs them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class HowTimed:
    """How commands are timed, beside the options of a search. Names are those of the options, with `_` for `-`.

    Attributes:
        name: Of the study, which is then stored.
        command_name: Of the first commands.
        setup, cleanup: A command before the first run of each command, and one after its last.
        prepare, conclude: Commands before and after each run: none, one for all, or one for each.
        parameter_scan: Name, first and last value.
        parameter_step_size: Of that.
        parameter_list: Pairs of a name and its values, separated by commas.
        reference, reference_name: A command that the others are compared with.
        warmup: Runs of each command that count for nothing.
        shell: The name of one, or a line that starts it; "none" for none at all.
        input: A file that commands read; None or "null" for nothing.
        output: Where goes what they print: null, pipe, inherit or a file.
        min_runs: Of each command before anything is said.
        max_runs: Of each command, on average over all of them, before it is given up.
        runs: Of each command, neither more nor fewer.
        budget_time: Seconds after which no run begins any more.
        ignore_failure: Whether any exit code is as good as 0.
        baseline: A JSON file of earlier runs, to compare with.
    """

    name: str | None = None
    command_name: Sequence[str] = ()
    setup: str | None = None
    cleanup: str | None = None
    prepare: Sequence[str] = ()
    conclude: Sequence[str] = ()
    parameter_scan: tuple[str, str, str] | None = None
    parameter_step_size: str | None = None
    parameter_list: Sequence[tuple[str, str]] = ()
    reference: str | None = None
    reference_name: str | None = None
    warmup: int = 0
    shell: str | None = None
    input: str | None = None
    output: str = "null"
    min_runs: int | None = None
    max_runs: int | None = None
    runs: int | None = None
    budget_time: float | None = None
    ignore_failure: bool = False
    baseline: str | None = None
