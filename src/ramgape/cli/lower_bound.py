"""`ramgape lower-bound`: how few samples could suffice on Gaussian arms like those of a known instance."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from ramgape.cli.simulate import DELTA, GOAL, INSTANCE, RISK, Alpha, AsJson, Direction, Text, option
from ramgape.common.parsing import parse_number, tolerance
from ramgape.options import DEFAULT_DELTA, DEFAULT_RHO
from ramgape.views.terminal import output, waiting

EPSILON = "Tolerance in mean and scaled risk, or MEAN,RISK: one for each. 0 asks for the exact Pareto set."
RHO = f"Of the risk variance - rho mean, the only one for which this is known. Unless given: {DEFAULT_RHO}."


def lower_bound(
    instance: Annotated[str, typer.Argument(metavar="INSTANCE", help=INSTANCE, show_default=False)],
    epsilon: Annotated[str, option(GOAL, "NUMBER", EPSILON)] = "0",
    delta: Annotated[Text, option(GOAL, "NUMBER", DELTA)] = None,
    rho: Annotated[Text, option(RISK, "NUMBER", RHO)] = None,
    alpha: Alpha = None,
    direction: Direction = "maximize",
    as_json: AsJson = False,
) -> None:
    """Tell how few samples could suffice if the arms were Gaussian, and how an ideal algorithm would share them out.

    [bold]ramgape lower-bound paper:46[/bold]
    for the exact Pareto set with probability 0.95

    If the arms are Gaussian, this is a lower bound for every algorithm. Others
    are taken as Gaussian with the same mean and variance: then it is a reference
    and no bound, and methods for bounded rewards may need fewer samples. Where
    epsilon allows several answers, it is asymptotic, about small delta, and a
    reference, too. The output says which ("exact" in JSON). Needs scipy.

    Exit codes: 0 done, 1 unexpected failure, 2 bad input or usage, 130 interrupted.
    """
    asked: dict[str, Any] = {
        "delta": DEFAULT_DELTA if delta is None else parse_number(delta, "delta"),
        "epsilon": tolerance(epsilon, "epsilon"),
        "rho": DEFAULT_RHO if rho is None else parse_number(rho, "rho"),
        "alpha": parse_number(alpha, "alpha"),
        "direction": direction,
    }
    with waiting("looking for what could be mistaken for this instance"):
        from ramgape.planning.lower_bound import lower_bound

        bound = lower_bound(instance, **asked)
    if as_json:
        typer.echo(bound.to_json())
    else:
        output().print(bound)
