"""The road for real trials: call the user's function until the goal is reached."""

from __future__ import annotations

import contextlib
import inspect
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ramgape.common.checks import check_seed
from ramgape.errors import RamgapeWarning, require
from ramgape.search.engine import Engine
from ramgape.search.inference import infer
from ramgape.search.result import Result
from ramgape.search.spec import DEFAULT_MAX_PULLS, Tolerance, make_spec

if TYPE_CHECKING:
    from ramgape.risks.measure import Measure


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a search stands: pulls made, the limit on them, and V(t) against epsilon, in the user's units."""

    samples: int
    limit: int
    doubt: float
    epsilon: float | None


Callback = Callable[[Progress], object]


def progress_of(engine: Engine) -> Progress:
    """Where a search stands."""
    return Progress(engine.samples, engine.spec.limit, engine.doubt, engine.spec.epsilon)


def identify(
    pull: Callable[..., float],
    arms: Sequence[Any],
    *,
    reward_range: tuple[float, float] | None = None,
    noise: str | None = None,
    epsilon: Tolerance | None = None,
    delta: float | None = None,
    budget: int | None = None,
    risk: Measure | str | None = None,
    rho: float | None = None,
    alpha: float | None = None,
    policy: str = "auto",
    bound: str = "auto",
    direction: str = "maximize",
    exploration: float | str | None = None,
    sigma_max: float | None = None,
    resolution: float | None = None,
    max_pulls: int = DEFAULT_MAX_PULLS,
    initial_pulls: int = 2,
    returned: str = "last",
    seed: int | None = None,
    callback: Callback | None = None,
) -> Result:
    """Find the arms with the best trade-offs between mean reward and risk, with as few pulls as the goal allows.

    pull           tries an arm once and returns its reward: `pull(arm)`, or `pull(arm, rng)` with a NumPy generator
    arms           what is handed to `pull`; their text is their name
    reward_range   (low, high) that no reward can leave, or noise="gaussian" in its place
    epsilon        tolerance in mean and scaled risk, in reward units; 0 asks for the exact Pareto set. A pair
                   (mean, risk) has one for each, the second in units of variance - rho mean
    delta          accepted probability of a wrong answer (0.05 if neither delta nor budget is given)
    budget         spend exactly this many pulls instead, and return the best set they can buy
    risk           what counts as risk: `MeanVariance(rho)`, `Variance()`, `Semivariance(target)`, `Entropic(gamma)`,
                   `CVaR(level)`, or its text, "cvar:0.1"; the mean-variance unless given
    rho            weight of the mean in the mean-variance, variance - rho mean, in reward units; 0.01 unless given
    alpha          factor of the risk; unless given 1 / (3 (high - low) + rho) for the mean-variance, and 1 for
                   risks in reward units or if epsilon is a pair
    policy         which arm is tried next; unless given, "ramgape" for a confidence, "evidence" under a budget
    direction      "maximize" rewards or "minimize" costs
    exploration    for a budget with the paper's policies: "theorem" (unless given), "sharp" or the constant a itself
    sigma_max      for bound "gaussian-paper": the largest standard deviation an arm may have
    resolution     for noise="gaussian": the step to which rewards were rounded, in reward units; intervals then hold
                   for the rewards before that
    max_pulls      give up undecided after so many
    returned       where a stop has not proved a set, as after a budget: that of the "last" round, or of the round of
                   "smallest-doubt"
    callback       called after every pull with a `Progress`; a true return value ends the search

    An exception inside `pull`, or a reward that is none, reaches the caller with `partial_result` attached; Ctrl-C
    returns the result so far.

    >>> import ramgape
    >>> def pull(arm, rng):
    ...     return rng.beta(*{"steady": (40, 40), "wild": (0.2, 0.1), "poor": (1, 3)}[arm])
    >>> result = ramgape.identify(pull, ["steady", "wild", "poor"], reward_range=(0, 1), epsilon=0.05, seed=1)
    >>> result.front
    ('steady', 'wild')
    >>> result.arm("poor").dominated_by
    'steady'
    """
    options = arms if isinstance(arms, str | bytes) or not isinstance(arms, Iterable) else list(arms)
    spec = make_spec(
        options,
        reward_range=reward_range,
        noise=noise,
        epsilon=epsilon,
        delta=delta,
        budget=budget,
        risk=risk,
        rho=rho,
        alpha=alpha,
        policy=policy,
        bound=bound,
        direction=direction,
        exploration=exploration,
        sigma_max=sigma_max,
        resolution=resolution,
        max_pulls=max_pulls,
        initial_pulls=initial_pulls,
        returned=returned,
    )
    require(callable(pull), "pull", "a function of one arm, or of an arm and a generator", pull)
    check_callback(callback)
    seed = None if seed is None else check_seed(seed)
    for warning in spec.warnings:
        warnings.warn(warning, RamgapeWarning, stacklevel=2)
    generator = np.random.default_rng(seed)
    extra = (generator,) if wants_generator(pull) else ()
    engine = Engine(spec)
    try:
        while (arm := engine.ask()) is not None:
            engine.tell(arm, engine.check_reward(pull(options[arm], *extra)))
            if callback is not None and callback(progress_of(engine)):
                engine.finish("callback")
    except KeyboardInterrupt:
        engine.finish("interrupted")
    except Exception as error:
        with contextlib.suppress(Exception):  # some exceptions refuse attributes; they must arrive all the same
            error.partial_result = infer(engine, "error", seed)  # type: ignore[attr-defined]
            error.add_note(f"ramgape: after {engine.samples} rewards; what they show is in this error's partial_result")
        raise
    return infer(engine, seed=seed)


def check_callback(callback: object) -> None:
    """Complain before the first pull rather than after it."""
    require(callback is None or callable(callback), "callback", "a function of one argument", callback)


def wants_generator(pull: Callable[..., float]) -> bool:
    """Whether `pull` takes a generator beside the arm: a second positional parameter that is required or called rng."""
    try:
        parameters = list(inspect.signature(pull).parameters.values())
    except (TypeError, ValueError):  # some builtins have no signature
        return False
    positional = [each for each in parameters if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)]
    return len(positional) >= 2 and (positional[1].default is positional[1].empty or positional[1].name == "rng")
