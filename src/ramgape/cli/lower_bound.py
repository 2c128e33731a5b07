"""`ramgape lower-bound`: how few samples could suffice on Gaussian arms like those of a known instance."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ramgape.cli.options import INSTANCE, AsJson, takes_options
from ramgape.options import DEFAULT_DELTA, DEFAULT_RHO, LOWER_BOUND
from ramgape.views.terminal import output, waiting

if TYPE_CHECKING:
    from ramgape.planning.lower_bound import LowerBound

NAME_WIDTH = 32


@takes_options(LOWER_BOUND)
def lower_bound(
    instance: Annotated[str, typer.Argument(metavar="INSTANCE", help=INSTANCE, show_default=False)],
    options: dict[str, Any],
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
    asked = {"delta": DEFAULT_DELTA, "epsilon": 0, "rho": DEFAULT_RHO, "alpha": None, **options}
    with waiting("looking for what could be mistaken for this instance"):
        from ramgape.planning.lower_bound import lower_bound
        from ramgape.problems.instances import load_instance
        from ramgape.search.result import SCHEMA_VERSION

        loaded = load_instance(instance)
        bound = lower_bound(loaded, **asked)
    if as_json:
        numbers = {name: float(asked[name]) for name in ("delta", "rho")}
        described = {"schema_version": SCHEMA_VERSION, "instance": loaded.name, **asked, **numbers, **bound.to_dict()}
        typer.echo(json.dumps(described, indent=2, allow_nan=False))
    else:
        show_bound(loaded.name, asked, bound)


def show_bound(instance: str, asked: dict[str, Any], bound: LowerBound) -> None:
    """A headline, whether it is a bound, and the shares."""
    from rich.text import Text

    from ramgape.cli.listing import listing_table
    from ramgape.views.content import least_word

    console = output()
    console.print(Text(headline(instance, asked, bound), style="bold"))
    if bound.samples is None:
        console.print(Text(f"\nThe reason: {bound.note}.\n"))
        return
    console.print(Text(f"\nThis is the {least_word(bound.exact)}: {bound.note}.\n"))
    console.print(f"Characteristic time T* = {bound.characteristic_time:,.1f}. Ideal for Gaussian arms:\n")
    table = listing_table(("arm", "share", "samples"), shares(bound.allocation, bound.samples))
    for column in table.columns[1:]:
        column.justify = "right"
    console.print(table)


def headline(instance: str, asked: dict[str, Any], bound: LowerBound) -> str:
    """The number in a sentence."""
    from ramgape.errors import printable
    from ramgape.views.content import wanted

    name = printable(instance)
    if bound.samples is None:
        return f"{name}: no number of samples suffices"
    epsilon = asked["epsilon"]
    goal = wanted(*epsilon) if isinstance(epsilon, tuple) else wanted(epsilon)
    goal = f"{goal} with probability {1.0 - asked['delta']:g}"
    samples = f"{math.floor(bound.samples):,} samples on average"
    if bound.exact:
        return f"{name}: {goal} takes at least {samples}"
    return f"{name}: Gaussian arms like these would take about {samples} for {goal}"


def shares(allocation: dict[str, float], samples: float) -> Iterator[tuple[str, str, str]]:
    """One row per arm; of very many arms, those that need the most samples."""
    from rich.markup import escape

    from ramgape.common.formatting import short_names
    from ramgape.views.content import ROWS

    names = list(allocation)
    if len(names) > ROWS:
        names.sort(key=lambda name: -allocation[name])
    shown = short_names(names, NAME_WIDTH)
    for name in names[:ROWS]:
        yield escape(shown[name]), f"{allocation[name]:.1%}", f"{allocation[name] * samples:,.0f}"
    if len(names) > ROWS:
        rest = sum(allocation[name] for name in names[ROWS:])
        yield f"{len(names) - ROWS:,} more", f"{rest:.1%}", f"{rest * samples:,.0f}"
