"""`ramgape demo`: a whole search on a small story, with a live view, a verdict and a picture."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ramgape.cli.pictures import EXPLAIN, check_picture, write_file
from ramgape.cli.streams import INTERRUPTED
from ramgape.common.checks import check_seed
from ramgape.common.formatting import plural
from ramgape.common.parsing import parse_number
from ramgape.common.terminal import READY, is_watched, messages, output, plain_table, waiting
from ramgape.errors import MissingExtra, printable
from ramgape.trials.progress_words import state

if TYPE_CHECKING:
    import numpy as np
    from rich.console import RenderableType

    from ramgape.trials.progress import Progress

HOURS = 48.0
EPSILON = 0.5
SEARCH: dict[str, Any] = {"reward_range": (0.0, HOURS), "direction": "minimize", "epsilon": EPSILON}
MOST_EACH = 1_000  # parcels that equal shares may take of each courier

# Times of delivery are Beta distributed, times 48 hours.
COURIERS = {
    "Steady Snail": (35.0, 12.0),
    "City Bikes": (7.5, 7.5),
    "Night Train": (1.4, 2.7),
    "Fast Fox": (0.15, 0.64),
    "Old Van": (1.4, 0.27),
    "Lucky Box": (0.55, 0.36),
    "Parcel Pete": (1.3, 0.6),
    "Coin Flip": (0.18, 0.23),
}

STORY = (
    "Eight couriers could carry your parcels. A parcel takes from 0 to 48 hours; you want it soon, on average, and you "
    "want to rely on it. The couriers worth keeping are those that no other one beats in both. ramgape sends trial "
    "parcels, each with the courier that tells most, until its answer is right with probability 0.95."
)

NEXT = """\
Try next:
  ramgape run 'gzip -k FILE' 'xz -k FILE'
      which of your commands is faster, in as few runs as it takes
  ramgape analyze yours.csv
      what your own results prove, and which options to try next
  ramgape simulate paper:46 --epsilon 0.02
      one search on a problem of the paper, whose truth is known"""


def demo(
    out: Annotated[
        Path, typer.Option("--out", metavar="FILE", help="Where the picture goes (.png, .svg, .pdf).")
    ] = Path("ramgape-demo.png"),
    seed: Annotated[str, typer.Option(metavar="SEED", help="Another seed, other parcels.")] = "0",
    explain: Annotated[bool, typer.Option("--explain", help=EXPLAIN)] = False,
) -> None:
    """Watch a search on a small story.

    Which of eight couriers are worth keeping? Takes some seconds.

    Prints the verdict and writes a picture into the current folder.
    """
    first = check_seed(parse_number(seed, "seed"))
    missing = None
    try:
        check_picture(out, "out")
    except MissingExtra as error:
        missing = str(error)
    console = output()
    console.print(f"{STORY}\n")
    depot = Depot()
    with depot.watched():
        from ramgape.trials.identification import identify

        result = identify(depot.send, list(COURIERS), **SEARCH, seed=first, callback=depot.notice, progress=False)
    from ramgape.views import print_for_shell

    print_for_shell(result, full=explain)
    if result.stopped == "interrupted":
        raise typer.Exit(INTERRUPTED)
    with waiting("sending as many parcels with every courier"):
        needed = equal_shares(first)
    about = (
        f"more than {needed:,.0f}" if needed == MOST_EACH * len(COURIERS) else f"about {float(f'{needed:.2g}'):,.0f}"
    )
    words = f"{result.trials:,} trials; equal shares would have needed {about} for the same certainty."
    console.print(f"\n{words}", markup=False, highlight=False)
    if missing is None:
        with waiting("drawing"):
            write_file(result.save_plot, out, "out")
        console.print("\n" + printable(f"The picture is in {out}."), markup=False, soft_wrap=True)
    else:
        console.print(f"\nNo picture: {missing}", markup=False, soft_wrap=True)
    console.print(f"\n{NEXT}")


def equal_shares(seed: int) -> int:
    """How many trials, as many of each courier, the same evidence needs for the same proof; to one in twenty."""
    import numpy as np

    from ramgape.data.analysis import analyze

    rng = np.random.default_rng(seed)
    hours = {courier: HOURS * rng.beta(*shape, MOST_EACH) for courier, shape in COURIERS.items()}
    too_few, enough = 0, MOST_EACH
    while enough - too_few > 0.05 * enough:
        count = (too_few + enough) // 2
        found = analyze({courier: each[:count] for courier, each in hours.items()}, shared=False, **SEARCH)
        too_few, enough = (too_few, count) if found.result.goal_reached else (count, enough)
    return enough * len(COURIERS)


class Depot:
    """Sends parcels and keeps count, for the live view alone: the search keeps its own books."""

    def __init__(self) -> None:
        self.parcels = dict.fromkeys(COURIERS, 0)
        self.hours = dict.fromkeys(COURIERS, 0.0)
        self.squares = dict.fromkeys(COURIERS, 0.0)
        self.progress: Progress | None = None

    def send(self, courier: str, rng: np.random.Generator) -> float:
        """One parcel; the hours it took. This is all that ramgape asks of you."""
        hours = HOURS * float(rng.beta(*COURIERS[courier]))
        self.parcels[courier] += 1
        self.hours[courier] += hours
        self.squares[courier] += hours * hours
        return hours

    def notice(self, progress: Progress) -> None:
        """Where the search stands."""
        self.progress = progress

    @contextmanager
    def watched(self) -> Iterator[None]:
        """The live view, on a terminal."""
        if not is_watched():
            yield
            return
        from rich.live import Live

        with Live(get_renderable=self.view, console=messages(), refresh_per_second=8, transient=True):
            yield

    def view(self) -> RenderableType:
        """The couriers, and how many parcels each has got."""
        from rich.console import Group
        from rich.progress_bar import ProgressBar

        headings = ("courier", "parcels", "hours", "give or take", "share of the parcels")
        table = plain_table(headings, numbers=headings[1:4])
        total = max(sum(self.parcels.values()), 1)
        for courier, parcels in self.parcels.items():
            mean = self.hours[courier] / max(parcels, 1)
            spread = math.sqrt(max(self.squares[courier] / max(parcels, 1) - mean**2, 0.0))
            bar = ProgressBar(total=total, completed=parcels, width=30)
            table.add_row(courier, f"{parcels:,}", f"{mean:.1f}", f"{spread:.1f}", bar)
        words = (
            READY
            if self.progress is None
            else f"{plural(self.progress.samples, 'pull')}, {state(self.progress, budget=False)}"
        )
        return Group(table, "", words)
