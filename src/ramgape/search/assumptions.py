"""What the data say against the assumptions of a guarantee."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ramgape.assumptions import HEAVY, UNKNOWN
from ramgape.common.formatting import exponent, list_names, plural
from ramgape.core.table import Table
from ramgape.errors import shorten
from ramgape.search.estimands import estimand_of
from ramgape.search.quality import Alarm
from ramgape.search.spec import Spec

FAR = 10.0  # standard errors
FEW_NAMES = 3  # in a sentence that is not about them
SMALLEST = 1e-140  # variances whose squares have all their digits
TYPICAL = 10  # trials an arm, on average, before what rewards have shown is taken for what they are
DUST, DIGITS = 1e-6, 6  # what rounding may add to moments of two values; and digits of their difference


class Objection(NamedTuple):
    """Something in the data that the assumption does not explain: in a few words, and as a warning."""

    brief: str
    warning: str


def asked_items(spec: Spec) -> str:
    """That nothing is left to ask."""
    assert spec.items is not None
    times = "" if spec.items.repeats == 1 else f", {spec.items.repeats:,} times,"
    return f"each of these {len(spec.items.values):,} items{times}"


def objections_to(spec: Spec, arms: Table, misses: int, alarms: Sequence[Alarm] = ()) -> list[Objection]:
    """What the data say against the assumption."""
    found = [_not_one_distribution(spec, alarms)] if alarms else []
    if misses:
        brief = f"{plural(misses, 'time')} an interval contradicted an older one or the average"
        reason = "an unlikely event, or rewards that are not independent draws from one distribution for each arm"
        found.append(Objection(brief, f"{brief}: {reason}"))
    if estimand_of(spec.bound) and np.ptp(arms["pulls"]) > 1:
        brief = f"arms have {arms['pulls'].min():,} to {arms['pulls'].max():,} pulls"
        found.append(Objection(brief, f"{brief}, so that their averages are not over the same rounds"))
    if spec.rewards.normal:
        found += _repeated(spec, arms)
        found += _not_normal(spec, arms)
    return found + _heavier(spec, arms)


def equal_rewards(spec: Spec, arms: Table) -> str:
    """Which arms have shown only equal rewards, and what helps; empty if none has, and where that is no obstacle.

    A range, a resolution or a kurtosis limits how rarely rewards may vary, so that equal ones tell something.
    """
    equal = (arms["variance"] == 0.0) & (arms["pulls"] >= spec.first_looks[0]) & (arms["cut"] == 0)
    names = _names(spec, equal)
    if spec.assumption != UNKNOWN or not names:
        return ""
    one = np.count_nonzero(equal) == 1
    arms_said = f"all rewards of {names} are equal" if one else f"each of these arms gave equal rewards only: {names}"
    return (
        f"{arms_said}, which tells nothing of how they may vary, so nothing is claimed of {'it' if one else 'them'}; "
        "a stated range (reward_range), or the step to which rewards were rounded (gaussian:resolution=STEP), "
        f"lets {'it' if one else 'them'} be claimed"
    )


def vacuous_note(spec: Spec, arms: Table, values: str, risk: str) -> str:
    """That of values of two kinds the risk asks nothing new; nothing where there are more.

    Args:
        spec, arms: As for `two_values`.
        values, risk: What they are called.
    """
    found = two_values(spec, arms)
    if found is None:
        return ""
    return (
        f"all {values} are {found[0]:g} or {found[1]:g}: of two values the {risk} is a function of the mean, so that "
        "the Pareto set asks nothing new; question best is the better question"
    )


def two_values(spec: Spec, arms: Table) -> tuple[float, float] | None:
    """The two values that all rewards of all arms have, in the user's units; None where there are more, or too few.

    Of a distribution with mean 0 and variance 1 the kurtosis is at least 1 + skewness^2, and exactly that for two
    values alone, which are then (skewness +- sqrt(skewness^2 + 4)) / 2: so the sums of powers know them.
    """
    pulls, varies = arms["pulls"], arms["variance"] > SMALLEST
    if not varies.any() or pulls.sum() < TYPICAL * len(arms):
        return None
    mean, deviation = arms["average"][varies], np.sqrt(arms["variance"][varies])
    skewness = _skewnesses(arms)[varies]
    with np.errstate(invalid="ignore"):
        alike = np.abs(_kurtoses(arms)[varies] - 1.0 - skewness**2) <= DUST * (1.0 + skewness**2)
    half = 0.5 * np.sqrt(skewness**2 + 4.0)
    low, high = mean + deviation * (0.5 * skewness - half), mean + deviation * (0.5 * skewness + half)
    ends, apart = (float(low[0]), float(high[0])), float(high[0] - low[0])
    constant = arms["average"][~varies]
    same = np.concatenate([low - ends[0], high - ends[1], np.minimum(abs(constant - ends[0]), abs(constant - ends[1]))])
    if not alike.all() or not (np.abs(same) <= DUST * apart).all():
        return None
    sign, digits = (1.0 if spec.direction == "maximize" else -1.0), DIGITS - exponent(apart * spec.span)
    first, second = sorted(round(sign * (spec.origin + spec.span * end), digits) + 0.0 for end in ends)
    return first, second


def cut_off_trials(spec: Spec, arms: Table) -> str:
    """How many trials of which arms were cut off, and what follows; empty if none was."""
    if not arms["cut"].any():
        return ""
    counts = zip(spec.names, arms["cut"].tolist(), arms["pulls"].tolist(), strict=True)
    told = [f"{cut:,} of {pulls:,} trials of {shorten(name)}" for name, cut, pulls in counts if cut]
    return (
        f"{list_names(told)} were cut off at {spec.cutoff:g}, and cost that or more, so the average shown is a lower "
        "limit; an arm with such trials is never proved to be the best"
    )


def warnings_of(spec: Spec, arms: Table) -> tuple[str, ...]:
    """What is no objection to the assumption, but keeps arms from being judged."""
    return tuple(filter(None, [equal_rewards(spec, arms)]))


def _not_one_distribution(spec: Spec, alarms: Sequence[Alarm]) -> Objection:
    """Arms whose rewards are not independent draws from one distribution; who they are stands with the alarm."""
    few = len(alarms) <= FEW_NAMES
    names = list_names([alarm.arm for alarm in alarms]) if few else f"{len(alarms):,} of {len(spec.names):,} arms"
    pulls = [alarm.pull for alarm in alarms]
    first, last = min(pulls), max(pulls)
    span = f"{first:,}" if first == last else f"{first:,} to {last:,}"
    place = f"by {'its' if len(alarms) == 1 else 'their'} trial {span}"
    return Objection(
        f"rewards are not draws from one distribution ({names})",
        f"rewards are not independent draws from one distribution ({names}), as was plain {place}: find out what "
        "changes them, or how one reward bears on the next, and go by rewards for which that is over (logged rows "
        "that bear on the next: block=N, or --block N, takes means of N)",
    )


def _repeated(spec: Spec, arms: Table) -> list[Objection]:
    """Rewards that repeat more often than draws of a normal distribution, rounded to the stated resolution if any, do.

    A reward rounded to r has any one value with probability at most r / (sqrt(2 pi) sigma), and so one of two values
    with less than r / sigma. Without a resolution a single repetition is too many: its chance is some 1e-16 a pull.
    """
    pulls, step = arms["pulls"], spec.resolution or 0.0
    expected = pulls * (step / np.maximum(_deviations(arms), step or 1.0))
    allowed = expected + FAR * np.sqrt(expected) + (FAR if step else 0.0)
    names = _names(spec, arms["repeats"] > allowed)
    if not names:
        return []
    if step:
        often = f"more often than a resolution of {step:g} explains"
        advice = f"the step to which they were rounded is larger than {step:g}, or they are not Gaussian"
    else:
        often = "exactly"
        advice = (
            "they are rounded, or come from a few values, and intervals for Gaussian rewards may be far too narrow; "
            "state the step to which they were rounded (resolution), or their range in place of assumption gaussian"
        )
    return [Objection(f"rewards repeat {often} ({names})", f"rewards repeat {often} ({names}): {advice}")]


def _not_normal(spec: Spec, arms: Table) -> list[Objection]:
    """Arms whose kurtosis is not that of a normal distribution, 3, give or take 10 standard errors, sqrt(24 / pulls).

    The errors are skewed: of normal rewards one arm in 100,000 is that far off at 60 to 200 pulls, fewer otherwise.
    Rounding to less than a standard deviation hardly changes a kurtosis; of rewards rounded more nothing is said.
    """
    kurtosis = _kurtoses(arms)
    with np.errstate(all="ignore"):
        far = np.abs(kurtosis - 3.0) > FAR * np.sqrt(24.0 / arms["pulls"])
    names = _names(spec, far & (_deviations(arms) > (spec.resolution or 0.0)))
    if not names:
        return []
    brief = f"rewards are not normal by their kurtosis ({names})"
    return [
        Objection(
            brief,
            f"{brief}, which is 3 for a normal distribution: intervals for variance and risk may miss the truth; if "
            "rewards have a range, state it in place of assumption gaussian, or else how heavy their tails may be "
            "(assumption heavy:kurtosis=10, say)",
        )
    ]


def _heavier(spec: Spec, arms: Table) -> list[Objection]:
    """Arms whose rewards have more than three times the stated kurtosis, or twice the stated deviation.

    A sign and no proof: of draws with exactly the stated kurtosis one arm in 50 or so shows three times as much, if
    their eighth moments are infinite, and hardly any otherwise. What was stated is never adapted.
    """
    if spec.assumption != HEAVY:
        return []
    found, deviations = [], _deviations(arms)
    for what, stated, seen, times in (
        ("kurtosis", spec.kurtosis, _kurtoses(arms), 3.0),
        ("standard deviation", spec.sigma_max, deviations, 2.0),
        ("coefficient of variation", spec.cv, deviations / np.abs(arms["average"]), 2.0),
    ):
        if stated is not None and (names := _names(spec, np.nan_to_num(seen) > times * stated)):
            brief = f"rewards have a far larger {what} than the stated {stated:g} ({names})"
            found.append(Objection(brief, f"{brief}: intervals may miss the truth if it was stated too small"))
    return found


def _kurtoses(arms: Table) -> NDArray[np.float64]:
    """Of every arm's rewards, by their power sums; NaN where it has no digits."""
    with np.errstate(all="ignore"):
        pulls, first = arms["pulls"], arms["average"] - arms["shift"]
        second, third, fourth = (
            (arms[power] + arms[f"{power}_carry"]) / pulls for power in ("squares", "cubes", "fourths")
        )
        fourth += -4.0 * first * third + (6.0 * second - 3.0 * first**2) * first**2
        kurtosis = fourth / arms["variance"] ** 2
    return np.where(np.isfinite(kurtosis) & (arms["variance"] > SMALLEST), kurtosis, np.nan)


def _skewnesses(arms: Table) -> NDArray[np.float64]:
    """Likewise their skewness."""
    with np.errstate(all="ignore"):
        pulls, first = arms["pulls"], arms["average"] - arms["shift"]
        second, third = ((arms[power] + arms[f"{power}_carry"]) / pulls for power in ("squares", "cubes"))
        return np.asarray((third - 3.0 * first * second + 2.0 * first**3) / arms["variance"] ** 1.5)


def _deviations(arms: Table) -> NDArray[np.float64]:
    return np.asarray(np.sqrt(np.nan_to_num(arms["variance"])))


def _names(spec: Spec, chosen: NDArray[np.bool_]) -> str:
    """The chosen arms, in words."""
    return list_names([name for name, there in zip(spec.names, chosen, strict=True) if there])
