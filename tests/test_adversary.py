"""The stopping rules of docs/theory/comparisons.md against an adversary, at a delta where errors are frequent.

True claims cost nothing. A false one is at the boundary: the walks of its two arms are fair, and with Gaussian steps
the bets on them are exact. N_i is the smallest that is allowed. The adversary knows the truth, and pulls the arms, and
designates the answers, that bring a wrong stop nearest.

With r runs, a rule whose error is at most delta exceeds delta + 4.9 sqrt(delta (1 - delta) / r) with a chance below
1e-6 (the normal tail beyond 4.9 is 5e-7): that is the chance of a false alarm of each assertion about a valid rule.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.comparing import Truth, answers, truths

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Lacking = Callable[[int, int, int, bool, int], Floats]  # objective, i, j, whether for a cover, size of the answer

DELTA = 0.5
B = 0.7, 0.3
BET = 0.4  # larger ones overshoot more, so that errors are rarer; smaller ones take longer
PATIENCE = 4.5  # the adversary gives up when so much more is lacking than at the beginning
MOST_ROUNDS = 600


def too_many(runs: int) -> float:
    return DELTA + 4.9 * math.sqrt(DELTA * (1.0 - DELTA) / runs)


class Walks:
    """Sums of fair steps of every arm, in both objectives, in every run; and how often each arm was pulled."""

    def __init__(self, arms: int, runs: int) -> None:
        self.sums, self.pulls = np.zeros((2, arms, runs)), np.zeros((arms, runs))

    def pull(self, generator: np.random.Generator, arms: Integers, rows: Integers) -> None:
        self.sums[:, arms, rows] += generator.standard_normal((2, len(rows)))
        self.pulls[arms, rows] += 1.0

    def evidence(self) -> Floats:
        """ln of the bet that i is ahead of j, in [objective, i, j, run]."""
        cost = 0.5 * BET**2 * self.pulls
        up, down = BET * self.sums - cost, -BET * self.sums - cost
        return np.asarray(up[:, :, None] + down[:, None, :])


class Wish(NamedTuple):
    """A wrong answer, and what it takes: for each (i, j) one claim; for each arm outside all claims of one cover."""

    size: int
    withstand: list[tuple[int, int, list[int]]]  # i, j, the objectives by which chance may do it
    covers: list[
        list[tuple[int, int, list[int]]]
    ]  # per arm outside: the cover, the arm, the objectives in which it is not


def is_near(truth: Truth, objective: int, i: int, j: int) -> bool:
    """Whether a false claim is false by so little that chance may verify it. Without a tolerance every one may be."""
    return truth.epsilon == 0 or truth.holds(objective, i, j, truth.epsilon + 1)


def wishes(truth: Truth) -> list[Wish]:
    """All wrong answers that chance can bring about, those first that take the fewest claims and leave most choice."""
    found = []
    for answer in answers(truth):
        if truth.is_right(answer):
            continue
        withstand, covers = [], []
        for i in answer:
            for j in set(truth.arms) - {i}:
                if not any(truth.holds(objective, i, j, truth.epsilon) for objective in (0, 1)):
                    withstand.append((i, j, [objective for objective in (0, 1) if is_near(truth, objective, i, j)]))
        for i in set(truth.arms) - answer:
            if not truth.epsilon and i not in truth.front:
                continue  # it has a true cover; the adversary may have it for nothing, in the answer or not
            false = {j: [o for o in (0, 1) if not truth.holds(o, j, i, truth.epsilon)] for j in answer}
            covers.append([(j, i, o) for j, o in false.items() if all(is_near(truth, each, j, i) for each in o)])
        if all(near for _, _, near in withstand) and all(covers):
            free = [all(objectives for _, _, objectives in several) for several in covers]
            needed = [several for several, costs in zip(covers, free, strict=True) if costs]
            found.append(Wish(len(answer), withstand, needed))
    return sorted(found, key=lambda wish: (len(wish.withstand) + len(wish.covers), -sum(map(len, wish.covers))))


def lack_of(wish: Wish, lacking: Lacking, runs: int) -> tuple[Floats, Integers]:
    """How much evidence is lacking for a wrong answer in each run, and the two arms on which that hangs."""
    worst, hangs_on = np.full(runs, -math.inf), np.zeros((2, runs), np.int64)

    def demand(lack: Floats, pair: Integers) -> None:
        more = lack > worst
        worst[more], hangs_on[:, more] = lack[more], pair[:, more]

    for i, j, near in wish.withstand:
        lacks = [lacking(objective, i, j, False, wish.size) for objective in near]
        demand(functools.reduce(np.minimum, lacks), np.array([[i], [j]]).repeat(runs, axis=1))
    for several in wish.covers:
        each = [
            functools.reduce(np.maximum, (lacking(o, j, i, True, wish.size) for o in near)) for j, i, near in several
        ]
        table, pairs = np.array(each), np.array([(j, i) for j, i, _ in several]).T
        best = table.argmin(axis=0)
        demand(table[best, np.arange(runs)], pairs[:, best])
    return worst, hangs_on


class Game:
    """Many runs at once against one truth."""

    def __init__(self, truth: Truth, runs: int, seed: int, lean: float) -> None:
        self.truth, self.runs, self.wishes, self.lean = truth, runs, wishes(truth), lean
        self.walks, self.generator = Walks(len(truth.arms), runs), np.random.default_rng(seed)
        self.lost, self.over = np.zeros(runs, bool), np.zeros(runs, bool)
        self.best = self.now = self.walks.evidence()

    def look(self) -> None:
        self.now = self.walks.evidence()
        self.best = np.maximum(self.best, self.now)

    def pull(self, pairs: Integers) -> None:
        """One more reward where the game goes on: of the arm that is to seem ahead, or sometimes of the other one."""
        rows = np.flatnonzero(~self.over)
        other = self.generator.random(len(rows)) > self.lean
        self.walks.pull(self.generator, pairs[other.astype(int), rows], rows)

    def judge(self, lack: Floats) -> None:
        self.lost |= ~self.over & (lack <= 0.0)
        self.over |= self.lost

    def of_claims(self, delta: float) -> Lacking:
        """What section 5 lacks where claims are remembered."""

        @functools.cache
        def lacking(objective: int, i: int, j: int, cover: bool, size: int) -> Floats:
            times = len(self.truth.strangers(j)) if cover else 1.0 / B[objective]
            level = math.log(len(self.truth.arms) * times / delta) if times else -math.inf
            return np.where(self.best[objective, i, j] >= level, -math.inf, level - self.now[objective, i, j])

        return lacking

    def of_levels(self, delta: float) -> Lacking:
        """What section 5 lacks, with covers at the size of the answer, which count only now."""
        remembered = self.of_claims(delta)

        @functools.cache
        def lacking(objective: int, i: int, j: int, cover: bool, size: int) -> Floats:
            lack = remembered(objective, i, j, cover, 0)
            if not cover or self.truth.epsilon:
                return lack
            level = math.log(len(self.truth.arms) * size / delta)
            return np.minimum(lack, level - self.now[objective, i, j])

        return lacking

    def of_any_answer(self, delta: float) -> Lacking:
        """What section 6 would lack if sums did not begin anew, so that any answer could be designated afterwards."""

        @functools.cache
        def lacking(objective: int, i: int, j: int, cover: bool, size: int) -> Floats:
            weight = 1.0 / size if cover else B[objective]
            return np.asarray(-math.log(weight * delta) - self.now[objective, i, j])

        return lacking

    def nearest(self, lacking: Lacking) -> tuple[Floats, Integers, Integers]:
        """Of all wrong answers the one that lacks least: how much, the two arms behind it, which."""
        found = [lack_of(wish, lacking, self.runs) for wish in self.wishes]
        lacks, pairs = np.array([lack for lack, _ in found]), np.array([pair for _, pair in found])
        best, rows = lacks.argmin(axis=0), np.arange(self.runs)
        return lacks[best, rows], pairs[best, :, rows].T, best


Rule = Callable[[Game, float], Lacking]


def levels_error(truth: Truth, runs: int, seed: int, lean: float = 0.5, rule: Rule = Game.of_levels) -> float:
    """How often the adversary wins against section 5, or another rule that judges all answers by all rewards."""
    game, limit = Game(truth, runs, seed, lean), math.inf
    for _ in range(MOST_ROUNDS):
        game.look()
        lack, pairs, _ = game.nearest(rule(game, DELTA))
        limit = min(limit, lack.max() + PATIENCE)
        game.judge(lack)
        game.over |= lack > limit
        game.pull(pairs)
        if game.over.all():
            break
    return float(game.lost.mean())


class Designation:
    """Designated answers against one truth: the place of each, its answer, and what was known when it was fixed."""

    def __init__(self, game: Game, first: float, shares: tuple[float, ...], weighted: bool) -> None:
        self.game, self.first, self.shares, self.weighted = game, first, np.array(shares), weighted
        self.start = np.zeros_like(game.now)
        self.best = np.zeros_like(game.now)
        self.place, self.answer = np.full(game.runs, -1), np.zeros(game.runs, np.int64)

    def designate(self, rows: NDArray[np.bool_]) -> None:
        """The next answer: that which takes least, and at every other time the one nearest by all rewards so far."""
        self.place[rows] += 1
        self.answer[rows] = 0
        odd = rows & (self.place % 2 == 1)
        if odd.any():
            self.answer[odd] = self.game.nearest(self.game.of_claims(DELTA))[2][odd]
        self.start[..., rows], self.best[..., rows] = self.game.now[..., rows], 0.0

    def lack(self) -> tuple[Floats, Integers]:
        """What section 6 lacks for the present designation, claims by all rewards at q_0 included."""
        game, since = self.game, self.game.now - self.start
        self.best = np.maximum(self.best, since)
        share = self.shares[np.maximum(self.place, 0)]
        remembered = game.of_claims(self.first * DELTA) if self.first else None

        @functools.cache
        def lacking(objective: int, i: int, j: int, cover: bool, size: int) -> Floats:
            weight = (1.0 / size if self.weighted else 1.0) if cover else B[objective]
            level = -np.log(weight * share * DELTA)
            lack = np.where(self.best[objective, i, j] >= level, -math.inf, level - since[objective, i, j])
            return np.minimum(lack, remembered(objective, i, j, cover, 0)) if remembered else lack

        lack, pairs = np.full(game.runs, math.inf), np.zeros((2, game.runs), np.int64)
        for place, wish in enumerate(game.wishes):
            mine = self.answer == place
            if mine.any():
                found, hangs_on = lack_of(wish, lacking, game.runs)
                lack[mine], pairs[:, mine] = found[mine], hangs_on[:, mine]
        return lack, pairs


def designated_error(
    truth: Truth,
    runs: int,
    seed: int,
    first: float = 0.2,
    shares: tuple[float, ...] = (0.4, 0.2, 0.1, 0.1),
    *,
    lean: float = 0.5,
    weighted: bool = True,
) -> float:
    """How often the adversary wins against section 6, who designates again whenever an answer has become hopeless.

    Without weights each cover has the whole share of its arm: that rule is broken.
    """
    game = Game(truth, runs, seed, lean)
    designation = Designation(game, first, shares, weighted)
    limit = np.full(runs, -math.inf)
    for turn in range(MOST_ROUNDS):
        game.look()
        if first and turn % 8 == 0:
            game.judge(game.nearest(game.of_levels(first * DELTA))[0])
        lack, pairs = designation.lack()
        again = ~game.over & (lack > limit)
        game.over |= again & (designation.place == len(shares) - 1)
        again &= ~game.over
        if again.any():
            designation.designate(again)
            lack, pairs = designation.lack()
            limit[again] = lack[again] + PATIENCE
        game.judge(lack)
        game.pull(pairs)
        if game.over.all():
            break
    return float(game.lost.mean())


CHAIN = (0, 1, 2, 3)
TRUTHS = {
    "all in the Pareto set": Truth(CHAIN[:3], CHAIN[:3], 0),
    "one dominates all": Truth((1, 0, 0), (0, 1, 1), 0),
    "two and one": Truth((1, 2, 0), (0, 1, 1), 0),
    "with a tolerance": Truth((2, 0, 1), (2, 0, 1), 1),
}
QUICK = {"all in the Pareto set", "with a tolerance"}
FOUR = Truth(CHAIN, CHAIN, 0)
RUNS = 800


@pytest.mark.parametrize("name", TRUTHS)
def test_levels_withstand_an_adversary(name: str) -> None:
    assert levels_error(TRUTHS[name], RUNS, seed=7) <= too_many(RUNS)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in QUICK else pytest.mark.long) for name in TRUTHS]
)
def test_designated_answers_withstand_an_adversary(name: str) -> None:
    assert designated_error(TRUTHS[name], RUNS, seed=8, lean=1.0) <= too_many(RUNS)


def test_one_designated_answer_with_all_of_delta_withstands_an_adversary() -> None:
    assert designated_error(FOUR, RUNS, seed=9, first=0.0, shares=(1.0,), lean=1.0) <= too_many(RUNS)


def test_covers_without_weights_are_found_out() -> None:
    """The same game as before: three covers, each with the chance of one."""
    error = designated_error(FOUR, RUNS, seed=9, first=0.0, shares=(1.0,), lean=1.0, weighted=False)
    assert error > too_many(RUNS)  # .77 in 2,000 other runs: so it is missed with a chance below 1e-9


def test_sums_that_do_not_begin_anew_are_found_out() -> None:
    error = levels_error(TRUTHS["all in the Pareto set"], RUNS, seed=10, lean=1.0, rule=Game.of_any_answer)
    assert error > too_many(RUNS)  # .73 in 2,000 other runs


@pytest.mark.long
@pytest.mark.parametrize(("arms", "epsilon"), [(2, 0), (3, 0), (4, 0), (2, 1), (3, 1), (4, 1)])
def test_no_truth_lets_the_adversary_win_too_often(arms: int, epsilon: int) -> None:
    """A score of truths of each kind, and the worst of them again, with new numbers and more runs."""
    every = [truth for truth in truths(arms, epsilon) if wishes(truth)]
    picked = [every[place] for place in np.random.default_rng(arms).permutation(len(every))[:20]]
    for error in (levels_error, designated_error):
        first = [error(truth, 400, seed=place) for place, truth in enumerate(picked)]
        worst = picked[int(np.argmax(first))]
        assert error(worst, 10_000, seed=99) <= too_many(10_000), worst
