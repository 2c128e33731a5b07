"""A stop by comparisons of two arms, whatever the rewards: what must be proved of whom, and how surely.

An answer S is proved when every arm of S withstands every other arm, in one objective, and every arm outside has a
cover in S, in all objectives. The evidence for such claims is one kernel:

    ahead(arms, memory, arm, other, objective, epsilon, problem, since, level)
        whether the evidence that the arm is more than the other less epsilon, in that objective, reaches e^level

A bound brings it for the mean and the risk of one outcome, as two kernels:

    mean_ahead(row, past, rival, rival_past, epsilon, problem, since, level)
        whether the evidence that the row's mean is more than the rival's less epsilon reaches e^level
    risk_ahead(...)
        the same of the row's risk being less than the rival's plus epsilon

With `since` 1 it is the evidence of those rewards alone that came after the last designation, explained below.

How much evidence a claim needs follows from one supermartingale with a weight of 1 / K per arm
(docs/theory/comparisons.md): ln(K / (b_j d)) to withstand in objective j, where the b_j add up to 1, and
ln(K N / d) in all of them to be covered, where N counts the arms that may be a wrong cover: those that boxes prove
neither to be beaten by epsilon nor to cover. At epsilon 0 the size of S will do if it is less, provided that all of S
is proved at one moment; and so it is, because at the end everything is checked once more.

At epsilon 0, where searches are long, most of delta is kept for answers that are fixed before the rewards that prove
them: then no union over arms is paid for at all. When the present front is likely to be right it is designated, and
what was known is written into the memory (`snapshot`). From then on the sums of later rewards alone (`since` 1) may
prove it: ln(1 / (w q d)), where w is the weight that the claim was given beforehand and q the share of this
designation. It is designated anew if the estimates refute it, or after a while if it is not the front.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from ramgape.core.doubt import dominates, shortfall, threat
from ramgape.core.kernel import Kernel, fixed, inlined, kernel, open_kernel
from ramgape.core.prices import for_the_money
from ramgape.core.rare import errors_with_unseen
from ramgape.core.rates import faster
from ramgape.core.statistics import LEAST_ERROR, PSEUDO_PULLS, all_sums

# Shapes: `arms` has K rows, in each of which estimate, spread, error, low and high are float[J], one for each of J
# objectives, with more being better; `memory` is float[K, M]; `proofs` is int[K], `inside` is bool[K].

IN_MEAN = 0.7  # b: of an arm's weight, for claims that it withstands in mean; the rest is for risk
AT_ANY_TIME = 0.15  # of delta at epsilon 0, for answers that nobody has fixed beforehand
LATER = 0.3  # of what is left for designations, the part that each leaves to those after it
FAVOURED = 0.85  # of a claim's weight after a designation, for what looks easier to prove then
RIPE = 0.6  # the sum of chances of error at which a front is designated, and half of it later
AGAIN = 3  # an answer that is no longer the front is given up when there are so many times the pulls
MOST_DESIGNATIONS = 12
UNSEEN = 0.5  # of the squared range of rewards: what one pull more might bring
EASIER = 4.0  # an arm outside the front is returned if that is so many times easier to prove than that it is covered
MANY = 100  # where there are more arms, they are looked at less often, and not each one beside each other one
PATIENCE = 100  # after a look in vain, the next one when there are so many parts more pulls
GOLDEN = 0.6180339887498949  # multiples of it, without their whole parts, are spread evenly: a choice without dice
NOT_PROVED, INSIDE_PROVED = -2, -1
BY_ALL, SINCE = 0, 1  # by which rewards something is to be proved: all, or those since the designation

# Of the snapshot: counts and sums when the answer was designated, the answer, and each arm's cover or what blocks it.
PULLS, TOTAL, SQUARES, CUBES, FOURTHS, RISK, RISK_SPREAD, INSIDE, COVER, BLOCKER = range(10)
COLUMNS = 10  # and as many as the risk remembers


def set_levels(record: Any, arm_count: int, delta: float, boxes: float) -> None:
    """The levels of comparisons, where boxes have a share of delta."""
    # What boxes do not take is shared by the arms; an objective with the part b of an arm's weight needs ln(K / (b d)).
    left, designates = (1.0 - boxes) * delta, record["snapshot"] >= 0
    share = arm_count / (left * AT_ANY_TIME if designates else left)
    record["pair_levels"] = math.log(share / IN_MEAN), math.log(share / (1.0 - IN_MEAN))
    record["cover_level"] = math.log(share)
    record["designated_level"] = -math.log(left * (1.0 - AT_ANY_TIME)) if designates else math.inf


@inlined
def sums(row, past, problem, since):
    """Count and power sums about the arm's first reward: of all rewards, or of those after the designation."""
    count, total, squares, cubes, fourths = all_sums(row)
    if since:
        base = problem.snapshot
        count -= past[base + PULLS]
        total -= past[base + TOTAL]
        squares -= past[base + SQUARES]
        cubes -= past[base + CUBES]
        fourths -= past[base + FOURTHS]
    return count, total, squares, cubes, fourths


@inlined
def certainty(difference, error):
    """The squared difference over its squared error, if it is the right way round."""
    if not difference > 0.0:
        return 0.0
    return difference * difference / error if error > 0.0 else math.inf


@inlined
def error_chance(difference, error):
    """How likely a normal estimate is to have a difference the wrong way round."""
    return 0.5 * math.erfc(difference / math.sqrt(2.0 * error))


@inlined
def unseen(problem, row, objective, pulls):
    """What the squared error of an estimate has to be more than it looks, where rewards have a range.

    As if one more pull, of so many, might have shown something else: an arm that has shown nothing rare seems to be
    known exactly, which no bound believes. Of a root it is that much less the farther that is from 0.
    """
    more = problem.unseen[objective] * (UNSEEN / (pulls * pulls))
    if problem.rooted[objective] and more > 0.0:
        more /= 4.0 * row.spread[0] + 2.0 * math.sqrt(UNSEEN) / pulls
    return more


@inlined
def error_of(row, problem, objective):
    """The squared error of an estimate."""
    return row.spread[objective] / row.pulls + unseen(problem, row, objective, row.pulls)


@inlined
def set_all_errors(arms, memory, problem, since):
    """The squared errors of all estimates, drawn towards the average of all arms while pulls are few."""
    count = len(arms)
    # An arm of few trials may look surer than it is. So its spread counts like that of some trials of an average arm,
    # which fades as trials come in. LEAST_ERROR keeps the average above 0 where nothing has varied yet.
    for objective in range(len(arms[0].estimate)):
        average = LEAST_ERROR
        for arm in range(count):
            average += arms[arm].spread[objective] / count
        for arm in range(count):
            row = arms[arm]
            pulls = float(row.pulls)
            if since:
                pulls = max(pulls - memory[arm][problem.snapshot + PULLS], 1.0)
            error = (pulls * row.spread[objective] + PSEUDO_PULLS * average) / ((pulls + PSEUDO_PULLS) * pulls)
            error += unseen(problem, row, objective, pulls)
            if objective == 0 and row.cut > 0 and row.variance == 0.0:
                error += UNSEEN * (row.average / pulls) ** 2  # all were cut off; one more might have shown nearly 0
            row.error[objective] = error


@inlined
def divide(arms, search, problem, one, two, objective, ahead):
    """Which of two arms to pull: by what each contributes to the error of their comparison, for its price.

    What is to be proved is that the first is ahead of the second, or the second of the first.
    Where both meet the same items, the one that has seen fewer: only what both have seen is compared.
    """
    if problem.item_count > 0.0 and objective == 0 and arms[one].pulls != arms[two].pulls:
        return one if arms[one].pulls < arms[two].pulls else two
    chance = (search.samples * GOLDEN) % 1.0
    if problem.by_rates:
        first, second = (one, two) if ahead else (two, one)
        return faster(arms, search, problem, first, second, objective, chance)
    own, others = arms[one].error[objective], arms[two].error[objective]
    if objective == 0:
        own, others = errors_with_unseen(own, others, arms[one], arms[two], problem, search.epsilon)
    own, others = for_the_money(own, arms[one], arms[two]), for_the_money(others, arms[two], arms[one])
    # In proportion to the errors, as dice would choose, but from the number of trials: a replay decides the same.
    return one if chance * (own + others) < own else two


@inlined
def support(row, rival, search, problem, in_all):
    """How well estimates support that the row is ahead of the rival: in the best of the objectives, or in all."""
    found = 0.0
    for objective in range(len(row.estimate)):
        error = error_of(row, problem, objective) + error_of(rival, problem, objective)
        one = certainty(row.estimate[objective] - rival.estimate[objective] + search.epsilon, error)
        found = one if objective == 0 else min(found, one) if in_all else max(found, one)
    return found


@inlined
def boxes_withstand(row, rival, search):
    """Whether boxes prove that the rival does not beat the arm by epsilon."""
    return threat(rival, row) < search.epsilon


@kernel
def mark_beaten(arms, search):
    """By how much boxes prove each arm to be beaten in all objectives, at most.

    Where there are many, each is compared with the front alone: to take an arm for less beaten than it is costs pulls,
    and proves nothing that is wrong.
    """
    many = len(arms) > MANY
    for arm in range(len(arms)):
        row = arms[arm]
        row.beaten = -math.inf
        for place in range(search.front_size if many else len(arms)):
            other = arms[place].front if many else place
            if other != arm:
                row.beaten = max(row.beaten, -shortfall(arms[other], row))


@kernel
def count_covers(arms, search, problem, arm):
    """How many arms may be a wrong cover of this one, by the boxes; one at least."""
    row, count = arms[arm], 0
    if problem.any_epsilon:  # a tolerance that the data have chosen: what counts must not depend on it
        return len(arms) - 1
    for other in range(len(arms)):
        rival = arms[other]
        beaten = rival.beaten >= search.epsilon and rival.beaten > 0.0
        count += other != arm and not beaten and not shortfall(rival, row) < search.epsilon
    return max(count, 1)


@inlined
def level_to_cover(arms, search, problem, arm, since):
    """How much evidence a cover of an arm needs, in each objective."""
    # A wrong cover is one of N arms, each of which has its part of the weight. At epsilon 0 it is one of the answer, if
    # all of that is proved at this very moment: then N is no more than the size of the front.
    possible = count_covers(arms, search, problem, arm)
    if not since and search.epsilon == 0.0 and not problem.any_epsilon:
        possible = min(possible, search.front_size)
    return problem.cover_level + math.log(possible)


@kernel
def favoured_objective(row, past, rival, rival_past, search, problem):
    """In which objective, the mean or the risk, it looked easier at the designation to withstand."""
    base = problem.snapshot
    count, rival_count = past[base + PULLS], rival_past[base + PULLS]
    mean, rival_mean = past[base + TOTAL] / count, rival_past[base + TOTAL] / rival_count
    variance = max(past[base + SQUARES] / count - mean * mean, 0.0)
    rival_variance = max(rival_past[base + SQUARES] / rival_count - rival_mean * rival_mean, 0.0)
    error = variance / count + rival_variance / rival_count
    unknown = UNSEEN / (count * count) + UNSEEN / (rival_count * rival_count)
    error += problem.unseen[0] * unknown
    in_mean = certainty(row.shift + mean - rival.shift - rival_mean + search.epsilon, error)
    error = past[base + RISK_SPREAD] / count + rival_past[base + RISK_SPREAD] / rival_count
    error += problem.unseen[1] * unknown
    in_risk = certainty(rival_past[base + RISK] - past[base + RISK] + search.epsilon, error)
    return 0 if in_mean >= in_risk else 1


@inlined
def level_now(search, problem):
    """Of the present designation, for a claim of weight 1: 1 - LATER of what those before it have left."""
    return problem.designated_level - math.log(1.0 - LATER) - (search.designations - 1) * math.log(LATER)


@inlined
def level_to_withstand(search, problem, objective, favoured, since):
    """How much evidence it takes to withstand in an objective; after a designation, by which one was favoured."""
    if not since:
        return problem.pair_levels[objective]
    return level_now(search, problem) - math.log(FAVOURED if objective == favoured else 1.0 - FAVOURED)


@inlined
def level_to_cover_since(arms, memory, search, problem, cover, arm):
    """Of a designated answer; the other arms of it share what the designated cover leaves."""
    base, spare = problem.snapshot, -1
    for other in range(len(arms)):
        spare += memory[other][base + INSIDE] > 0.0
    if memory[arm][base + COVER] == cover:
        return level_now(search, problem) - (math.log(FAVOURED) if spare else 0.0)
    return level_now(search, problem) - math.log((1.0 - FAVOURED) / spare) if spare else math.inf


@open_kernel
def ahead_in(mean_ahead, risk_ahead, arms, memory, arm, other, objective, epsilon, problem, since, level):
    """Whether one arm is proved to be ahead of another in mean (0) or in risk (1), by what a bound brings."""
    row, past, rival, rival_past = arms[arm], memory[arm], arms[other], memory[other]
    if objective == 0:
        return mean_ahead(row, past, rival, rival_past, epsilon, problem, since, level)
    return risk_ahead(row, past, rival, rival_past, epsilon, problem, since, level)


@open_kernel
def withstands(ahead, arms, memory, search, problem, arm, other, since):
    """Whether it is proved that the other arm does not beat this one by epsilon in all objectives.

    By all rewards, and if `since` is 1 by those after the designation, too.
    """
    # Boxes have a part of delta of their own, so what they prove costs no evidence.
    if problem.rare_level == 0.0 and boxes_withstand(arms[arm], arms[other], search):
        return True
    for later in range(since, -1, -1):
        favoured = -1
        if later:
            favoured = favoured_objective(arms[arm], memory[arm], arms[other], memory[other], search, problem)
        for objective in range(len(arms[arm].estimate)):
            level = level_to_withstand(search, problem, objective, favoured, later)
            if ahead(arms, memory, arm, other, objective, search.epsilon, problem, later, level):
                return True
    return False


@open_kernel
def covers(ahead, arms, memory, search, problem, cover, arm, level, since):
    """Whether it is proved that the cover is less than epsilon behind the arm in each objective.

    Each by all rewards at this level, or if `since` is 1 by those after the designation.
    """
    levels = level, level_to_cover_since(arms, memory, search, problem, cover, arm) if since else math.inf
    for objective in range(len(arms[arm].estimate)):
        for later in range(since, -1, -1):
            if ahead(arms, memory, cover, arm, objective, search.epsilon, problem, later, levels[later]):
                break
        else:
            return False
    return True


@open_kernel
def find_blocker(withstands, covers, arms, memory, search, problem, arm, since):
    """Of the arms that keep the place of this one from being proved, the one that the data say least about; -1 if none.

    Outside the answer, the cover that is nearest to being proved. The answer is the designated one if `since` is 1.
    """
    row, column = arms[arm], problem.snapshot + INSIDE
    blocker, largest = -1, -math.inf
    if memory[arm][column] > 0.0 if since else row.member == 1:
        for other in range(len(arms)):
            danger = -support(row, arms[other], search, problem, False)
            if (
                other != arm
                and (danger > largest or blocker < 0)
                and not withstands(arms, memory, search, problem, arm, other, since)
            ):
                blocker, largest = other, danger
        return blocker
    # To count covers takes all arms: where there are many, that waits for a cover that is proved if it is the only one.
    counted = len(arms) <= MANY
    level = level_to_cover(arms, search, problem, arm, since) if counted else problem.cover_level
    blocker = arm  # nothing is proved by there being no cover
    for other in range(len(arms)):
        inside = memory[other][column] > 0.0 if since else arms[other].in_front == 1
        if inside and dominates(arms[other], row):
            while covers(arms, memory, search, problem, other, arm, level, since):
                if counted:
                    return -1
                counted, level = True, level_to_cover(arms, search, problem, arm, since)
            ease = support(arms[other], row, search, problem, True)
            if ease > largest or blocker == arm:
                blocker, largest = other, ease
    return blocker


@kernel
def is_easier_in(arms, search, problem, arm):
    """Whether an arm outside the front, beaten by so little that it need not be left out, had better be returned.

    Where two arms are nearly alike it may be far easier to prove that neither beats the other by epsilon in one
    objective than that one covers the other in both. Without a tolerance nothing but the front is right.
    """
    row = arms[arm]
    if search.epsilon == 0.0:
        return False
    outside = 0.0
    for place in range(search.front_size):
        rival = arms[arms[place].front]
        if dominates(rival, row):
            outside = max(outside, support(rival, row, search, problem, True))
    for other in range(len(arms)):
        if other != arm and support(row, arms[other], search, problem, False) < EASIER * outside:
            return False
    return True


@open_kernel
def answer_is_proved(find_blocker, withstands, arms, memory, search, problem):
    """Whether the front is proved, perhaps with some arms more, at this moment; blockers are looked for where unknown.

    What is proved is what is returned.
    """
    mark_beaten(arms, search)
    blockers = 0
    for arm in range(len(arms)):
        row = arms[arm]
        row.accepted = 0  # by a proof that nobody has heeded
        member = row.in_front or is_easier_in(arms, search, problem, arm)
        if row.member != member or row.blocker == -2:
            row.blocker, row.member = -2, member
        # A blocker of the answer that still is one need not be looked for; outside another cover may do instead.
        known = row.blocker >= 0 and row.member
        known = known and not withstands(arms, memory, search, problem, arm, row.blocker, BY_ALL)
        if row.blocker != -1 and not known:
            row.blocker = find_blocker(arms, memory, search, problem, arm, BY_ALL)
        blockers += row.blocker >= 0
    if blockers:
        return False
    # What was proved at other times was perhaps of another answer: all of it must hold now.
    for arm in range(len(arms)):
        arms[arm].blocker = find_blocker(arms, memory, search, problem, arm, BY_ALL)
        blockers += arms[arm].blocker >= 0
    for arm in range(len(arms)):
        if blockers == 0:
            arms[arm].accepted = 1 if arms[arm].member else -1
    return blockers == 0


@kernel
def is_refuted(arms, memory, search, problem):
    """Whether the designated answer is wrong by the estimates."""
    # An answer is wrong if one of its arms is beaten by epsilon in all objectives, or if an arm outside has no cover.
    column, epsilon = problem.snapshot + INSIDE, search.epsilon
    for arm in range(len(arms)):
        row, inside = arms[arm], memory[arm][column] > 0.0
        covered = False
        for other in range(len(arms)):
            rival = arms[other]
            beats, reaches = other != arm, memory[other][column] > 0.0
            for objective in range(len(row.estimate)):
                own, others = row.estimate[objective], rival.estimate[objective]
                beats = beats and others >= own + epsilon
                reaches = reaches and others + epsilon > own
            if inside and beats:
                return True
            covered = covered or reaches
        if not inside and not covered:
            return True
    return False


@kernel
def front_is_designated(arms, memory, problem):
    """Whether the present front is the designated answer."""
    for arm in range(len(arms)):
        if (memory[arm][problem.snapshot + INSIDE] > 0.0) != (arms[arm].in_front == 1):
            return False
    return True


@kernel
def chance_of_error(arms, search, problem):
    """How likely the front is to be wrong, at most and roughly: a sum over the arms, from normal estimates."""
    total, epsilon = 0.0, search.epsilon
    for arm in range(len(arms)):
        row = arms[arm]
        doubt = 0.0 if row.in_front else 1.0
        for other in range(len(arms)):
            rival = arms[other]
            least, together = math.inf, 0.0
            withstands, covers = row.in_front and other != arm, rival.in_front and dominates(rival, row)
            if withstands or (covers and not row.in_front):
                for objective in range(len(row.estimate)):
                    error = error_of(row, problem, objective) + error_of(rival, problem, objective)
                    ahead = row.estimate[objective] - rival.estimate[objective]
                    chance = error_chance((ahead if withstands else -ahead) + epsilon, error)
                    least, together = min(least, chance), together + chance
                doubt = doubt + least if withstands else min(doubt, together)
        total += doubt
    return total


@kernel
def designate(arms, memory, search, problem):
    """Fix the present front as an answer that later rewards may prove, and write down what is known."""
    base = problem.snapshot
    search.designations += 1
    search.designated_at = search.samples
    for arm in range(len(arms)):
        row, past = arms[arm], memory[arm]
        count, total, squares, cubes, fourths = all_sums(row)
        past[base + PULLS], past[base + TOTAL], past[base + SQUARES] = count, total, squares
        past[base + CUBES], past[base + FOURTHS] = cubes, fourths
        past[base + RISK], past[base + RISK_SPREAD] = row.risk, row.risk_spread
        past[base + INSIDE], past[base + COVER], past[base + BLOCKER] = row.in_front, -1.0, -2.0
        # Evidence since now goes by differences: all that risk and bound remember is written down as well.
        for column in range(base):
            past[base + COLUMNS + column] = past[column]
        # The cover that looks surest gets most of the weight of the claim that this arm is covered.
        surest = -1.0
        for place in range(search.front_size):
            other = arms[place].front
            rival = arms[other]
            if not row.in_front and dominates(rival, row):
                least = math.inf
                for objective in range(len(row.estimate)):
                    error = error_of(row, problem, objective) + error_of(rival, problem, objective)
                    least = min(least, certainty(rival.estimate[objective] - row.estimate[objective], error))
                if least > surest:
                    surest, past[base + COVER] = least, other


@open_kernel
def designated_is_proved(find_blocker, arms, memory, search, problem):
    """Whether the designated answer is proved; a new one is designated if it is time."""
    refuted, alike = False, False
    if search.designations:
        refuted, alike = is_refuted(arms, memory, search, problem), front_is_designated(arms, memory, problem)
    late = not alike and search.samples > AGAIN * search.designated_at
    again = (search.designations == 0 or refuted or late) and search.designations < MOST_DESIGNATIONS
    if again and chance_of_error(arms, search, problem) <= (0.5 * RIPE if search.designations else RIPE):
        designate(arms, memory, search, problem)
        refuted, alike = False, True
    search.served = 0 if search.designations == 0 or refuted else 1 if alike else 2
    if search.designations == 0:
        return False
    blockers, column = 0, problem.snapshot + BLOCKER
    for arm in range(len(arms)):
        if memory[arm][column] != -1.0:  # what has been proved for a designated answer remains so
            memory[arm][column] = find_blocker(arms, memory, search, problem, arm, SINCE)
        blockers += memory[arm][column] >= 0.0
    return blockers == 0


@inlined
def is_early(arms, search):
    """Whether it is too early to look; if not, say when the next look is due.

    Whether the second arm of a pair is still to be pulled must not count: who replays rewards does not know of it. A
    look takes all arms, so that of many the next one waits for at least a fifth as many pulls.
    """
    if search.samples < search.next_look:
        return True
    wait = 1 + search.samples // PATIENCE
    search.next_look = search.samples + (max(wait, len(arms) // 5) if len(arms) > MANY else wait)
    return False


@inlined
def accept_front(arms, missing):
    """Whether no claim is missing for the present answer, which then is what is returned."""
    for arm in range(len(arms)):
        arms[arm].accepted = 0 if missing else 1 if arms[arm].in_front else -1
    return missing == 0


@open_kernel
def stop_by_pairs(answer_is_proved, designated_is_proved, arms, memory, search, problem):
    """Whether the front, or a designated answer, is proved; which then is what is returned."""
    if is_early(arms, search):
        return False
    if answer_is_proved(arms, memory, search, problem):
        return True
    if problem.snapshot < 0 or not designated_is_proved(arms, memory, search, problem):
        return False
    for arm in range(len(arms)):
        arms[arm].accepted = 1 if memory[arm][problem.snapshot + INSIDE] > 0.0 else -1
    return True


@open_kernel
def find_cover(covers, arms, memory, search, problem, proofs, arm, most):
    """An arm that is proved to be in, and to cover this one; `most` bounds how many may be a wrong cover."""
    level = problem.cover_level + math.log(min(count_covers(arms, search, problem, arm), most))
    for other in range(len(arms)):
        if proofs[other] == INSIDE_PROVED and covers(arms, memory, search, problem, other, arm, level, BY_ALL):
            return other
    return NOT_PROVED


@open_kernel
def prove_arms(withstands, find_cover, arms, memory, search, problem, inside, proofs):
    """What is proved of single arms, which holds for all of them at once; of one outside by a cover proved to be in."""
    count, size, undecided = len(arms), inside.sum(), 0
    for arm in range(count):
        proofs[arm] = NOT_PROVED
        if inside[arm]:
            proofs[arm] = INSIDE_PROVED
            for other in range(count):
                if other != arm and not withstands(arms, memory, search, problem, arm, other, BY_ALL):
                    proofs[arm] = NOT_PROVED
                    break
            undecided += proofs[arm] == NOT_PROVED
    for arm in range(count):
        if not inside[arm]:
            proofs[arm] = find_cover(arms, memory, search, problem, proofs, arm, count)
    if undecided or search.epsilon > 0.0 or problem.any_epsilon:
        return
    # At epsilon 0 the size of the answer will do if all of it is proved at once, and not otherwise.
    for arm in range(count):
        if not inside[arm] and find_cover(arms, memory, search, problem, proofs, arm, size) == NOT_PROVED:
            return
    for arm in range(count):
        if not inside[arm]:
            proofs[arm] = find_cover(arms, memory, search, problem, proofs, arm, size)


@open_kernel
def prove(prove_arms, find_blocker, arms, memory, searches, problems, inside, proofs):
    """What comparisons prove of each arm of an answer: that it is in (-1), is covered (by whom), or nothing (-2).

    An answer that has been designated is proved as a whole or not at all.
    """
    search, problem = searches[0], problems[0]
    base, count = problem.snapshot, len(arms)
    mark_beaten(arms, search)
    prove_arms(arms, memory, search, problem, inside, proofs)
    if base < 0 or search.designations == 0 or search.epsilon > 0.0:
        return
    for arm in range(count):
        if (memory[arm][base + INSIDE] > 0.0) != inside[arm]:
            return
    for arm in range(count):
        if memory[arm][base + BLOCKER] != -1.0 and find_blocker(arms, memory, search, problem, arm, SINCE) >= 0:
            return
    for arm in range(count):
        if proofs[arm] == NOT_PROVED:
            proofs[arm] = INSIDE_PROVED if inside[arm] else int(memory[arm][base + COVER])


class ByPairs(NamedTuple):
    """How a task is proved by comparisons of two arms: the kernels that stop, that say what is proved of each arm of an
    answer, and that decide what to pull; None where the policy knows."""

    stop: Kernel
    prove: Kernel
    decide: Kernel | None = None


def pareto_by_pairs(ahead: Kernel) -> ByPairs:
    """The Pareto set, from the evidence for one arm being ahead of another in an objective."""
    of_two, of_cover = fixed(withstands, ahead), fixed(covers, ahead)
    blocker = fixed(find_blocker, of_two, of_cover)
    of_front = fixed(answer_is_proved, blocker, of_two)
    of_arms = fixed(prove_arms, of_two, fixed(find_cover, of_cover))
    stop = fixed(stop_by_pairs, of_front, fixed(designated_is_proved, blocker))
    return ByPairs(stop, fixed(prove, of_arms, blocker))
