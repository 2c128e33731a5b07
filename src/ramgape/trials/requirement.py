"""`check`: a requirement on how often a trial passes, for use inside a test."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from ramgape.common.checks import check_number, whole
from ramgape.errors import RequirementError, RequirementRefuted, RequirementUndecided, require
from ramgape.search.result import Result
from ramgape.trials.identification import identify

TRIAL = "trial"  # the name of the only arm


def check(
    pull: Callable[[], Any],
    *,
    at_least: float,
    confidence: float = 0.95,
    max_trials: int = 200,
    seed: int | None = None,
) -> Result:
    """Require that trials pass at least so often; for use inside a test.

    It calls `pull` until the requirement is proved or refuted, and stops at once then. Looking after every trial is
    allowed for: a verdict is wrong with probability at most 1 - confidence, if trials are independent and alike.

    Args:
        pull: Makes one trial. It passes with a true value, or scores a number from 0 to 1; it fails with a false value
            or by an `AssertionError`. It may take a NumPy generator, and may be async.
        at_least: The share of trials that must pass, or the mean score, above 0 and below 1.
        confidence: How sure a verdict is.
        max_trials: The most trials, after which the requirement is undecided.
        seed: Of the generator that `pull` gets.

    Returns:
        The result, where it is proved that more than `at_least` pass.

    Raises:
        RequirementRefuted: It is proved that no more than `at_least` pass; an `AssertionError`.
        RequirementUndecided: Neither is proved after `max_trials`; another `AssertionError`.

    Examples:
        >>> import random, ramgape
        >>> generator = random.Random(1)
        >>> ramgape.check(lambda: generator.random() < 0.95, at_least=0.8).trials
        30
    """
    require(callable(pull), "pull", "a function that makes one trial", pull)
    at_least = check_number(at_least, "at_least", "a number above 0 and below 1", lambda share: 0.0 < share < 1.0)
    confidence = check_number(confidence, "confidence", "a number above 0 and below 1", lambda p: 0.0 < p < 1.0)
    max_trials = whole(max_trials, "max_trials", "a whole number of at least 1", 1)
    result = identify(
        _scored(pull),
        [TRIAL],
        question=f"above:{at_least!r}",
        reward_range=(0, 1),
        epsilon=0,
        delta=1.0 - confidence,
        max_trials=max_trials,
        seed=seed,
        progress=False,
    )
    if result.stopped == "interrupted":
        raise KeyboardInterrupt
    found = f"a mean of {result.arms[0].mean:.3g} in {result.trials} trials, where at least {at_least:g} is required"
    if result.stopped in ("confidence", "complete") and result.answer:
        return result
    error: RequirementError = RequirementUndecided(f"undecided: {found}; more trials (max_trials) may decide it")
    if result.stopped in ("confidence", "complete"):
        error = RequirementRefuted(f"refuted at {100.0 * confidence:.4g}% confidence: {found}")
    error.partial_result = result
    raise error


def _scored(pull: Callable[..., Any]) -> Callable[..., Any]:
    """The trial as a function of an arm and a generator, whose failed assertions score 0."""
    try:
        takes_generator = any(each.default is each.empty for each in inspect.signature(pull).parameters.values())
    except (TypeError, ValueError):  # of some built-in functions nothing is known
        takes_generator = False

    def call(generator: Any) -> Any:
        return pull(generator) if takes_generator else pull()

    if inspect.iscoroutinefunction(pull):

        async def later(_: str, rng: Any) -> Any:
            try:
                return await call(rng)
            except AssertionError:
                return 0.0

        return later

    def now(_: str, rng: Any) -> Any:
        try:
            return call(rng)
        except AssertionError:
            return 0.0

    return now
