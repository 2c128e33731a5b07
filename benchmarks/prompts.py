"""The README's first example over ten seeds, and equal shares by the same evidence: `python -m benchmarks.prompts`.

Equal shares ask every prompt the same number of questions, in the same random order, until the analysis of all answers
proves as much. Round robin as a policy would be judged by intervals of single arms, which need more.
"""

from __future__ import annotations

import random
import warnings
from typing import Any

import ramgape
from ramgape.datasets import load_prompts

SEEDS = 10
DATA = load_prompts()
SEARCH: dict[str, Any] = {"items": DATA.items, "reward_range": (0, 1), "question": "best", "epsilon": 0.05}
COLUMNS = {"arm_column": "arm", "reward_column": "reward", "item_column": "item"}


def ours(seed: int) -> int:
    """The calls that a search takes."""
    return ramgape.identify(DATA.ask, DATA.arms, **SEARCH, seed=seed, progress=False).trials


def equal_shares(seed: int) -> int:
    """The calls that equal shares take, to one in a hundred questions."""
    import pandas as pd

    order = random.Random(seed).sample(DATA.items, len(DATA.items))
    too_few, enough = 0, len(order)
    while enough - too_few > max(1, 0.01 * enough):
        count = (too_few + enough) // 2
        rows = [(arm, item, DATA.ask(arm, item)) for item in order[:count] for arm in DATA.arms]
        found = ramgape.analyze(pd.DataFrame(rows, columns=["arm", "item", "reward"]), **COLUMNS, **SEARCH)
        too_few, enough = (too_few, count) if found.result.goal_reached else (count, enough)
    return enough * len(DATA.arms)


def main() -> None:
    """Print the calls of both, seed by seed, and their averages."""
    warnings.simplefilter("ignore", ramgape.RamgapeWarning)
    for name, calls in (("ramgape", ours), ("equal shares", equal_shares)):
        found = [calls(seed) for seed in range(SEEDS)]
        print(f"{name}: {sum(found) / SEEDS:,.0f} on average ({min(found):,} to {max(found):,})")


if __name__ == "__main__":
    main()
