"""The alarm in plain Python, written from its definition: every reward is kept, and every gap counted anew.

Only for tests: it takes a time that grows with the square of the number of rewards.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

KEPT, JUMP, PATIENCE = 32, 0.003, 16.0
STAKES = (-0.9, -0.45, 0.0, 0.45, 0.9)
BETS = ("level", "spread", "memory", "clusters")

Random = Callable[[int], float]


def fixed_random(number: int) -> float:
    """What the package draws: two rounds of multiply and shift on 32 bits."""
    word = 2**32
    for key in (0x3C6EF372, 0x5BE0CD19):
        number = (number ^ key) % word
        number = (number ^ number // 2**16) * 0x21F0AAAD % word
        number = (number ^ number // 2**15) * 0x735A2D97 % word
        number = number ^ number // 2**15
    return (number + 0.5) / word


def ranks(rewards: Sequence[float], random: Random = fixed_random) -> list[float]:
    """p of every reward: where it lies among the gaps that those before it leave, as far as cells tell."""
    found = []
    points = [(reward, random(2 * place)) for place, reward in enumerate(rewards)]
    for place, point in enumerate(points):
        before = sorted(points[:place])
        edges = sorted(points[: min(place, KEPT)])
        lower = max((edge for edge in edges if edge < point), default=(-math.inf, 0.0))
        upper = min((edge for edge in edges if edge > point), default=(math.inf, 0.0))
        within = sum(lower < other < upper for other in before) + 1
        above = sum(other >= upper for other in before)
        found.append(1.0 - (above + random(2 * place + 1) * within) / (place + 1))
    return found


@dataclass
class Watched:
    """The evidence after every reward, and the bet with most capital then."""

    evidence: list[float]
    kinds: list[str]

    def alarm(self, threshold: float) -> tuple[int, str, float] | None:
        """The reward at which there was enough, and of the greatest evidence the kind and the size."""
        first = next((place for place, value in enumerate(self.evidence, 1) if value >= threshold), None)
        if first is None:
            return None
        greatest = max(range(len(self.evidence)), key=self.evidence.__getitem__)
        return first, self.kinds[greatest], self.evidence[greatest]


def watched(rewards: Sequence[float], random: Random = fixed_random) -> Watched:
    """Bet on all rewards."""
    capital = {bet: [0.0] * len(STAKES) for bet in BETS}
    seen = Watched([], [])
    before, earlier_level, earlier_spread = 1.0, 0.0, 0.0
    for number, rank in enumerate(ranks(rewards, random), start=1):
        level = 2.0 * rank - 1.0
        spread = 2.0 * abs(level) - 1.0
        outcomes = (level, spread, level * earlier_level, spread * earlier_spread)
        reserve = math.sqrt(PATIENCE / (PATIENCE + number))
        for bet, outcome in zip(BETS, outcomes, strict=True):
            shared = (JUMP * math.fsum(capital[bet]) + before - reserve) / len(STAKES)
            capital[bet] = [
                ((1.0 - JUMP) * held + shared) * (1.0 + stake * outcome)
                for held, stake in zip(capital[bet], STAKES, strict=True)
            ]
        before, earlier_level, earlier_spread = reserve, level, spread
        seen.evidence.append(reserve + math.fsum(math.fsum(held) for held in capital.values()) / len(BETS))
        seen.kinds.append(max(BETS, key=lambda bet: math.fsum(capital[bet])))
    return seen
