"""What a terminal of 80 or 120 columns shows, as pictures: screens for docs/make_images.py."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import ramgape
from ramgape.cli.demo import COURIERS, EPSILON, HOURS

Screen = tuple[Callable[[], Any], tuple[int, ...]]


def couriers() -> ramgape.Result:
    """What `ramgape demo` finds."""

    def send(courier: str, rng: np.random.Generator) -> float:
        return HOURS * float(rng.beta(*COURIERS[courier]))

    options: dict[str, Any] = {"reward_range": (0.0, HOURS), "direction": "minimize", "epsilon": EPSILON}
    return ramgape.identify(send, list(COURIERS), seed=0, **options)


def undecided() -> ramgape.Result:
    """A search that a cap ends: of each arm, what is missing."""
    return ramgape.simulate("paper:46", epsilon=0.02, max_trials=3_000, seed=0)


def ceiling() -> ramgape.Result:
    """The best mean among arms that are safe enough."""
    return ramgape.simulate("paper:46", task="best:max-risk=0.2", risk="std", epsilon=0.05, seed=0)


def study() -> Any:
    """Models with long names, in the middle of a study."""
    names = [f"lightgbm depth={depth}, learning_rate={rate}" for depth in (3, 6, 9) for rate in (0.01, 0.1)]
    generator = np.random.default_rng(0)
    with ramgape.Study.create("models", names, reward_range=(0, 1), epsilon=0.03, seed=1) as models:
        for _ in range(150):
            for asked in models.ask(10):
                place = names.index(asked.arm)
                score = generator.normal(0.6 + 0.03 * place, 0.05 + 0.03 * place)
                models.tell(asked, float(np.clip(score, 0.0, 1.0)))
        return models.report()


def returns() -> ramgape.Analysis:
    """Daily returns of six funds, drawn with long tails: an approximate answer."""
    generator = np.random.default_rng(3)
    funds = {
        "Shares of the world": (0.0008, 0.011),
        "Emerging markets": (0.0007, 0.014),
        "Government bonds": (0.0002, 0.004),
        "Gold": (0.0003, 0.009),
        "Real estate": (0.0005, 0.012),
        "A coin": (0.002, 0.04),
    }
    rows = [
        (name, mean + 0.77 * std * float(generator.standard_t(5)))
        for _ in range(2500)
        for name, (mean, std) in funds.items()
    ]
    return ramgape.analyze(rows, epsilon=0.002)


def timing() -> Any:
    """Commands that were timed, by times drawn as machines give them."""
    from ramgape.commands.how_timed import HowTimed
    from ramgape.commands.times import measure
    from ramgape.commands.typed import describe_commands
    from ramgape.search.outcome import OURS
    from ramgape.studies.running import run_study
    from ramgape.views.console import ConsoleView

    means = {"sort words.txt": 0.84, "sort --parallel=1 words.txt": 0.87, "LC_ALL=C sort words.txt": 0.21}
    generator = np.random.default_rng(5)

    def run(command: str, _: int) -> ramgape.Outcome:
        seconds = means[command] * float(generator.lognormal(0.0, 0.04))
        used = {"user": 0.9 * seconds, "system": 0.06 * seconds, "exit_code": 0}
        return ramgape.Outcome(seconds, info={OURS: used})

    asked = describe_commands(list(means), HowTimed(), {"task": "best", "interleave": True, "seed": 1})
    with ramgape.Study.create("commands", means, **asked.options) as commands:
        run_study(commands, run, progress=False)
        return ConsoleView(measure(commands, commands.report(), None, 0.001, typed=True))  # type: ignore[arg-type]


SCREENS: dict[str, Screen] = {
    "couriers": (couriers, (80, 120)),
    "undecided": (undecided, (80, 120)),
    "ceiling": (ceiling, (80,)),
    "study": (study, (80,)),
    "returns": (returns, (80,)),
    "timing": (timing, (80, 120)),
}


def write_screen(make: Callable[[], object], width: int, path: Path) -> None:
    """A terminal of so many columns, as a picture."""
    from rich.console import Console

    console = Console(record=True, width=width, file=io.StringIO(), force_terminal=True, legacy_windows=False)
    console.print(make())
    drawn = console.export_svg(title=f"{width} columns", unique_id=path.stem)
    # No font from the network: what is not installed is replaced, in the same width.
    path.write_text(re.sub(r"@font-face \{.*?\}\s*", "", drawn, flags=re.DOTALL), encoding="utf-8")
