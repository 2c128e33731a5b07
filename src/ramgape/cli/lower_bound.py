"""`ramgape lower-bound`: how few trials could suffice on a known instance."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from ramgape.cli.completion import instances
from ramgape.cli.options import INSTANCE, AsJson, takes_options
from ramgape.common.terminal import output, waiting
from ramgape.options import DEFAULT_DELTA, LOWER_BOUND


@takes_options(LOWER_BOUND)
def lower_bound(
    instance: Annotated[
        str, typer.Argument(metavar="INSTANCE", help=INSTANCE, show_default=False, autocompletion=instances)
    ],
    options: dict[str, Any],
    as_json: AsJson = False,
) -> None:
    """Compute how few trials could suffice.

    The number, and how an ideal algorithm would divide the trials among the arms.

    [bold]ramgape lower-bound paper:46[/bold]
    for the exact Pareto set with probability 0.95

    [bold]ramgape lower-bound paper:46 --question best[/bold]
    for the arm with the highest mean

    This is a lower bound for every algorithm that is right for all rewards in the
    declared range, or for all Gaussian rewards if they are declared Gaussian.
    Declared Gaussian rewards that are not are taken as Gaussian with the same mean
    and variance; where epsilon allows several answers, the bound is asymptotic,
    about small delta. Then it is a reference and no bound. The output says which
    ("exact" in JSON). Needs scipy.

    Exit codes: 0 done, 1 unexpected failure, 2 bad input or usage, 130 interrupted.
    """
    asked = {"delta": DEFAULT_DELTA, "epsilon": 0, **options}
    with waiting("looking for what could be mistaken for this instance"):
        from ramgape.simulation.lower_bound import lower_bound

        bound = lower_bound(instance, **asked)
    if as_json:
        typer.echo(bound.to_json())
    else:
        output().print(bound)
