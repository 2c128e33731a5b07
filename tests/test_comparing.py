"""The levels of docs/theory/comparisons.md, by going through every truth about a few arms: no chance, no rounding.

Whatever supermartingale a theorem names, here its value is bounded from below when a wrong answer, or a wrong
certificate, is given: it must be at least 1 / d'. Where a condition is dropped, there must be a truth in which it is
less.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction

import pytest

from tests.comparing import (
    PICKS,
    Alternative,
    Demand,
    Pick,
    Requirement,
    Truth,
    Weights,
    add,
    against,
    answers,
    arm_levels,
    cover,
    least,
    level_weights,
    truths,
    withstand,
)

GRID = [(2, 0, 1), (3, 0, 1), (4, 0, 7), (2, 3, 1), (3, 3, 11)]  # arms, tolerance; of so many truths one
LONG = [(4, 0, 1), (3, 3, 1), (4, 4, 60)]
GRIDS = [*GRID, *(pytest.param(*each, marks=pytest.mark.long) for each in LONG)]
A = Fraction(1, 20)  # of a Pareto arm's weight, for the certificate that an arm is strictly dominated


def every(arms: int, epsilon: int, step: int = 1) -> Iterator[tuple[Truth, Pick]]:
    """Each truth, with each of two ways to take the choices that a proof leaves open."""
    return itertools.product(truths(arms, epsilon, step), PICKS)


def equal_shares(truth: Truth) -> list[Fraction]:
    return [Fraction(1, len(truth.arms))] * len(truth.arms)


def unequal_shares(truth: Truth) -> list[Fraction]:
    whole = sum(range(2, len(truth.arms) + 2))
    return [Fraction(place + 2, whole) for place in truth.arms]


def stop_with(truth: Truth, answer: set[int], shares: list[Fraction], count: str = "both") -> Iterator[Requirement]:
    """What theorem 4 asks for before an answer is given, with the smallest N_i that boxes could leave."""
    for i in answer:
        yield from withstand(truth, i, arm_levels(shares[i]), truth.epsilon)
    for i in set(truth.arms) - answer:
        fewest, size = len(truth.strangers(i)), len(answer)
        by_size = count == "size" or (count == "both" and truth.epsilon == 0 and size < fewest)
        level = (size if by_size else fewest) / shares[i]
        yield [cover(truth, j, i, level, truth.epsilon, remembered=not by_size) for j in answer]


def least_of_levels(truth: Truth, pick: Pick, count: str = "both") -> Iterator[Fraction]:
    """For every wrong answer, what E must have reached if it was given."""
    for shares in (equal_shares(truth), unequal_shares(truth)):
        weights = level_weights(truth, shares, pick)
        assert sum(weights.values()) <= 1
        for answer in answers(truth):
            if not truth.is_right(answer):
                yield least(weights, stop_with(truth, answer, shares, count))


@pytest.mark.parametrize(("arms", "epsilon", "step"), GRIDS)
def test_no_wrong_answer_without_the_supermartingale_at_its_bound(arms: int, epsilon: int, step: int) -> None:
    found = [value for truth, pick in every(arms, epsilon, step) for value in least_of_levels(truth, pick)]
    assert min(found) == 1  # and no larger: nothing is given away


def test_covers_at_the_size_of_the_answer_must_be_of_one_moment() -> None:
    """Remembered ones count each by itself, and then two wrongly excluded arms of four leave E below its bound."""
    truth = Truth((0, 1, 2, 3), (0, 1, 2, 3), 0)
    shares = equal_shares(truth)
    weights = level_weights(truth, shares, PICKS[0])
    demanded = list(stop_with(truth, {0, 1}, shares, "size"))
    assert least(weights, demanded) >= 1
    remembered = [[[each._replace(remembered=True) for each in one] for one in several] for several in demanded]
    assert least(weights, remembered) == Fraction(2, 3)


def test_the_size_of_the_answer_does_not_do_with_a_tolerance() -> None:
    assert min(value for truth, pick in every(3, 3, 11) for value in least_of_levels(truth, pick, "size")) < 1


def all_tolerances(truth: Truth) -> Weights:
    """E of theorem 7, which does not know epsilon."""
    weights: Weights = {}
    means, risks, share = truth.means, truth.risks, Fraction(1, len(truth.arms))
    for i in truth.arms:
        others = [j for j in truth.arms if j != i]
        if i not in truth.front:
            farthest = max(others, key=lambda j: min(means[j] - means[i], risks[i] - risks[j]))
            against(weights, i, farthest, share)
            continue
        for j in others:
            objective = 0 if means[i] - means[j] >= risks[j] - risks[i] else 1
            add(weights, (objective, j, i), share / len(others))
    return weights


@pytest.mark.parametrize(("arms", "step"), [(2, 1), (3, 17), pytest.param(4, 60, marks=pytest.mark.long)])
def test_covers_by_any_arm_serve_all_tolerances_at_once(arms: int, step: int) -> None:
    share = Fraction(1, arms)
    for values in truths(arms, 3, step):
        weights = all_tolerances(values)
        assert sum(weights.values()) <= 1
        for epsilon in range(6):
            truth = Truth(values.means, values.risks, epsilon)
            for answer in answers(truth):
                if not truth.is_right(answer):
                    asked = [each for i in answer for each in withstand(truth, i, arm_levels(share), epsilon)]
                    asked += [
                        [cover(truth, j, i, (arms - 1) / share, epsilon) for j in answer]
                        for i in set(truth.arms) - answer
                    ]
                    assert least(weights, asked) >= 1, truth
        for i, j in itertools.permutations(values.arms, 2):
            if i in values.front:
                assert least(weights, proved_out(values, i, j, 0, arms - 1, Fraction(1))) >= 1


# --- The designated answer ---


def designated(truth: Truth, answer: set[int], pick: Pick) -> Weights:
    """The bet on rewards after the designation: against one wrong arm, by the weights that were fixed then."""
    weights: Weights = {}
    wrongly_in = answer & truth.beaten
    if wrongly_in:
        i = min(wrongly_in)
        j = pick(truth.beaters(i))
        shares = designated_shares(i, j)
        for objective in (0, 1):
            add(weights, (objective, i, j), shares[objective])
    else:
        i = min(i for i in truth.front - answer if not any(truth.covers(j, i, truth.epsilon) for j in answer))
        for j in answer:
            add(weights, truth.false_process(j, i, truth.epsilon, pick), cover_share(answer, i, j))
    return weights


def designated_shares(i: int, j: int) -> tuple[Fraction, Fraction]:
    """b_ij of the mean, the rest of the risk; here the mean is the likelier one for some pairs only."""
    mean = Fraction(17, 20) if (i + j) % 2 else Fraction(3, 20)
    return mean, 1 - mean


def cover_share(answer: set[int], i: int, j: int) -> Fraction:
    """v_ij: most for one cover, the rest in equal parts for the others."""
    best, others = sorted(answer)[i % len(answer)], len(answer) - 1
    if not others:
        return Fraction(1)
    return Fraction(17, 20) if j == best else Fraction(3, 20) / others


def either(first: Alternative, second: Alternative) -> Requirement:
    """Each claim from the one source or from the other: the same claims at other levels, of other processes."""
    return [list(chosen) for chosen in itertools.product(*zip(first, second, strict=True))]


def later(demand: Alternative, levels: list[Fraction]) -> Alternative:
    """The same claims by rewards after the designation; their processes have a mark of their own."""
    return [Demand((each.process[0] + 2, *each.process[1:]), level) for each, level in zip(demand, levels, strict=True)]


def stop_designated(truth: Truth, answer: set[int], first: Fraction, later_share: Fraction) -> Iterator[Requirement]:
    """What theorem 5 asks for, each claim by rewards after the designation, or by all of them at the first share."""
    shares = [first * share for share in equal_shares(truth)]
    for i in answer:
        for j in set(truth.arms) - {i}:
            several: Requirement = []
            for objective in (0, 1):
                old = [Demand((objective, i, j), arm_levels(shares[i])[objective])]
                new = later(old, [1 / (later_share * designated_shares(i, j)[objective])])
                true = truth.holds(objective, i, j, truth.epsilon)
                several += [[]] if true else either(old, new)
            yield several
    for i in set(truth.arms) - answer:
        several = []
        for j in answer:
            old = cover(truth, j, i, len(truth.strangers(i)) / shares[i], truth.epsilon)
            new = later(old, [1 / (later_share * cover_share(answer, i, j))] * len(old))
            several += either(old, new)
        yield several


def least_of_designated(truth: Truth, pick: Pick) -> Iterator[Fraction]:
    first, later_share = Fraction(3, 20), Fraction(17, 20)
    weights = {process: first * weight for process, weight in level_weights(truth, equal_shares(truth), pick).items()}
    for answer in answers(truth):
        if not truth.is_right(answer):
            bet = designated(truth, answer, pick)
            assert sum(bet.values()) <= 1
            after = {(objective + 2, i, j): later_share * weight for (objective, i, j), weight in bet.items()}
            yield least({**weights, **after}, stop_designated(truth, answer, first, later_share))


@pytest.mark.parametrize(("arms", "epsilon", "step"), GRIDS)
def test_no_wrong_designated_answer_without_a_bet_at_its_bound(arms: int, epsilon: int, step: int) -> None:
    assert min(value for truth, pick in every(arms, epsilon, step) for value in least_of_designated(truth, pick)) == 1


def test_a_designated_answer_proves_no_arm_by_itself() -> None:
    """Two arms of the answer are dominated by a third, and the bet is against the first of them only."""
    truth = Truth((1, 0, 2), (1, 2, 0), 0)
    answer = {0, 1, 2}
    bet = designated(truth, answer, PICKS[0])
    alone = [
        least(bet, ([[Demand((o, i, j), 1 / designated_shares(i, j)[o])] for o in (0, 1)] for j in {0, 1, 2} - {i}))
        for i in (0, 1)
    ]
    assert alone == [1, 0]


# --- What is said of single arms while a search is running ---


def certificate_weights(truth: Truth, pick: Pick) -> Weights:
    """E of theorem 6: arms that are dominated by less than epsilon have a weight, too."""
    weights: Weights = {}
    share = Fraction(1, len(truth.arms))
    for i in truth.arms:
        if i in truth.beaten:
            against(weights, i, pick(truth.beaters(i)), share)
        elif i not in truth.front:
            against(weights, i, pick([j for j in truth.arms if truth.dominates(j, i)]), share)
        else:
            strangers, rivals = truth.strangers(i), [j for j in truth.front if j != i]
            for j in strangers:
                add(weights, truth.false_process(j, i, truth.epsilon, pick), (1 - A) * share / len(strangers))
            for j in rivals:
                add(weights, truth.false_process(j, i, 0, pick), A * share / len(rivals))
    assert sum(weights.values()) <= 1
    return weights


def proved_in(truth: Truth, i: int, epsilon: int) -> list[Requirement]:
    return list(withstand(truth, i, arm_levels(Fraction(1, len(truth.arms))), epsilon))


def proved_out(truth: Truth, i: int, j: int, epsilon: int, candidates: int, share: Fraction) -> list[Requirement]:
    """That j is in, and covers i."""
    level = candidates * len(truth.arms) / share
    return [*proved_in(truth, j, epsilon), [cover(truth, j, i, level, epsilon)]]


def certificates(truth: Truth) -> Iterator[tuple[str, bool, list[Requirement]]]:
    """What may be said, whether it is true, and what it takes."""
    for i in truth.arms:
        yield "not beaten", i not in truth.beaten, proved_in(truth, i, truth.epsilon)
        yield "in the Pareto set", i in truth.front, proved_in(truth, i, 0)
        others = set(truth.arms) - {i}
        covered = any(truth.covers(j, i, truth.epsilon) for j in others - truth.beaten)
        for j in others:
            strangers, rivals = len(truth.strangers(i)), len(truth.front - {i})
            by_tolerance = proved_out(truth, i, j, truth.epsilon, strangers, 1 - A)
            yield "covered by some arm", covered, by_tolerance
            yield "covered by this arm", truth.covers(j, i, truth.epsilon), by_tolerance
            yield "covered, by an unproved arm", covered, by_tolerance[-1:]
            yield "not in the Pareto set", i not in truth.front, proved_out(truth, i, j, 0, rivals, A)
            yield (
                "not in it, at the level of covers",
                i not in truth.front,
                proved_out(truth, i, j, 0, strangers, 1 - A),
            )


def least_of_certificates(arms: int, epsilon: int, step: int) -> dict[str, Fraction]:
    """For every kind of certificate, the least that E can have reached when a false one is given."""
    found: dict[str, Fraction] = {}
    for truth, pick in every(arms, epsilon, step):
        weights = certificate_weights(truth, pick)
        for kind, true, requirements in certificates(truth):
            if not true:
                value = least(weights, requirements)
                found[kind] = min(found.get(kind, value), value)
    return found


@pytest.mark.parametrize(
    ("arms", "epsilon", "step"),
    [(2, 3, 1), (3, 3, 19), *(pytest.param(*each, marks=pytest.mark.long) for each in [(3, 3, 1), (4, 4, 500)])],
)
def test_single_arms_are_proved_as_the_page_says(arms: int, epsilon: int, step: int) -> None:
    found = least_of_certificates(arms, epsilon, step)
    for kind in ("not beaten", "in the Pareto set", "not in the Pareto set"):
        assert found[kind] >= 1, kind
    assert found["covered by some arm"] >= 1


def test_what_is_not_proved_of_single_arms() -> None:
    """An arm that is beaten has no term for its covers, nor a beaten cover for what it covers."""
    found = least_of_certificates(3, 3, 19)
    for kind in ("covered by this arm", "covered, by an unproved arm", "not in it, at the level of covers"):
        assert found[kind] < 1, kind


@pytest.mark.parametrize("arms", [2, 3, 4])
def test_single_arms_are_proved_in_an_exact_search(arms: int) -> None:
    """At epsilon 0, with E as it stands: in by withstanding, out by an arm that is proved in, at N_i."""
    for truth, pick in every(arms, 0, 5 if arms == 4 else 1):
        weights = level_weights(truth, equal_shares(truth), pick)
        for i in truth.arms:
            if i not in truth.front:
                assert least(weights, proved_in(truth, i, 0)) >= 1
                continue
            for j in set(truth.arms) - {i}:
                requirements = proved_out(truth, i, j, 0, len(truth.strangers(i)), Fraction(1))
                assert least(weights, requirements) >= 1
