"""Where simulated rewards come from: instances, that is named arms with known distributions.

A reward is drawn by a small compiled function, `draw(parameters, values, arm, generator)`. All arms stand in
one array `parameters`, one column per arm, with these rows:

    KIND       FIRST   SECOND      LOW     HIGH
    BETA       a       b           low     high
    BERNOULLI  p       -           low     high
    UNIFORM    -       -           low     high
    DATA       start   count       least   greatest     of values[start : start + count]
    GAUSSIAN   mean    deviation   -inf    inf
    STUDENT_T  df      -           location   scale
    LOGNORMAL  mu      sigma       location   scale
    GAMMA      shape   -           location   scale
    PARETO     shape   -           location   scale
    MIXTURE    column  count       start   -            parts in columns behind those of the arms, and
                                                        values[start : start + count], the shares up to each

The Python road and the compiled loops call the very same function, so they see the same rewards to the bit. Arms of any
other distribution are drawn in Python, by the distribution itself.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ramgape.assumptions import ASSUMPTIONS, ITEMS, assumption_names
from ramgape.common import checks
from ramgape.common.checks import SMALLEST
from ramgape.common.old_names import present_value
from ramgape.core.kernel import kernel
from ramgape.errors import InvalidInstance, InvalidSpec, UnknownName, known_name, require
from ramgape.problems.distribution import Distribution
from ramgape.problems.distributions import Bernoulli, Beta, Data, Drawn, Gaussian, Scores, Uniform
from ramgape.problems.mixtures import Mixture
from ramgape.problems.parameters import parameter
from ramgape.problems.unbounded import Exponential, Gamma, LogNormal, Lomax, StudentT
from ramgape.risks import make_risk
from ramgape.risks.measure import Measure
from ramgape.statistics.small import exp, expm1

__all__ = ["Arm", "Bernoulli", "Beta", "Data", "Distribution", "Gaussian", "Instance", "Sampler", "Uniform"]

Floats = NDArray[np.float64]
Draw = Callable[[Floats, Floats, int, np.random.Generator], float]

KIND, FIRST, SECOND, LOW, HIGH = range(5)
BETA, BERNOULLI, UNIFORM, DATA, GAUSSIAN, STUDENT_T, LOGNORMAL, GAMMA, PARETO, MIXTURE = range(10)

# For smaller shapes U^(1/a) can underflow, where U has 53 bits: 53 ln 2 / 745 = 0.0493.
UNDERFLOWING_SHAPE = 0.05


@kernel
def stretched(share: float, low: float, high: float) -> float:
    """A share of [0, 1] carried over to [low, high]; without `min`, rounding could pass high by one bit."""
    return min(low + (high - low) * share, high)


@kernel
def draw_beta(parameters: Floats, values: Floats, arm: int, generator: np.random.Generator) -> float:
    """Bit for bit NumPy's `Generator.beta`, except where both shapes are tiny; never NaN.

    For two shapes of at most 1 numba takes powers U^(1/a) and V^(1/b), and starts again when both underflow:
    with shapes of 1e-10 that takes millions of attempts, and with still smaller ones it never ends. So tiny
    shapes go another way: Beta(a, b) is Beta(a + 1, b) with probability a / (a + b), else Beta(a, b + 1).
    """
    a, b = parameters[FIRST, arm], parameters[SECOND, arm]
    if a < UNDERFLOWING_SHAPE and b < UNDERFLOWING_SHAPE:
        if generator.random() * (a + b) < a:
            a += 1.0
        else:
            b += 1.0
    return stretched(generator.beta(a, b), parameters[LOW, arm], parameters[HIGH, arm])


@kernel
def draw_bernoulli(parameters: Floats, values: Floats, arm: int, generator: np.random.Generator) -> float:
    won = generator.random() < parameters[FIRST, arm]
    return parameters[HIGH if won else LOW, arm]  # type: ignore[no-any-return]


@kernel
def draw_uniform(parameters: Floats, values: Floats, arm: int, generator: np.random.Generator) -> float:
    return stretched(generator.random(), parameters[LOW, arm], parameters[HIGH, arm])


@kernel
def draw_data(parameters: Floats, values: Floats, arm: int, generator: np.random.Generator) -> float:
    # generator.integers would take more than a second to compile
    start, count = int(parameters[FIRST, arm]), int(parameters[SECOND, arm])
    place = min(int(generator.random() * count), count - 1)
    return values[start + place]  # type: ignore[no-any-return]


@kernel
def draw_gaussian(parameters: Floats, values: Floats, arm: int, generator: np.random.Generator) -> float:
    deviation = parameters[SECOND, arm] * generator.standard_normal()
    return parameters[FIRST, arm] + deviation  # type: ignore[no-any-return]


@kernel
def draw_student_t(parameters: Floats, values: Floats, arm: int, generator: np.random.Generator) -> float:
    return shifted(generator.standard_t(parameters[FIRST, arm]), parameters, arm)


@kernel
def draw_lognormal(parameters: Floats, values: Floats, arm: int, generator: np.random.Generator) -> float:
    logarithm = parameters[FIRST, arm] + parameters[SECOND, arm] * generator.standard_normal()
    return shifted(exp(logarithm), parameters, arm)


@kernel
def draw_gamma(parameters: Floats, values: Floats, arm: int, generator: np.random.Generator) -> float:
    return shifted(generator.standard_gamma(parameters[FIRST, arm]), parameters, arm)


@kernel
def draw_pareto(parameters: Floats, values: Floats, arm: int, generator: np.random.Generator) -> float:
    return shifted(expm1(generator.standard_exponential() / parameters[FIRST, arm]), parameters, arm)


@kernel
def shifted(standard: float, parameters: Floats, arm: int) -> float:
    """A draw of the standard form, moved and stretched."""
    return parameters[LOW, arm] + parameters[HIGH, arm] * standard  # type: ignore[no-any-return]


@kernel
def chosen_part(parameters: Floats, values: Floats, arm: int, generator: np.random.Generator) -> int:
    """The column of one part of a mixture."""
    start, last = int(parameters[LOW, arm]), int(parameters[SECOND, arm]) - 1
    share, place = generator.random(), 0
    while place < last and share >= values[start + place]:
        place += 1
    return int(parameters[FIRST, arm]) + place


@kernel
def draw_mixed(parameters: Floats, values: Floats, arm: int, generator: np.random.Generator) -> float:
    """For instances whose arms follow different distributions, all of the first five kinds."""
    kind = parameters[KIND, arm]
    if kind == BETA:
        return draw_beta(parameters, values, arm, generator)
    if kind == BERNOULLI:
        return draw_bernoulli(parameters, values, arm, generator)
    if kind == UNIFORM:
        return draw_uniform(parameters, values, arm, generator)
    if kind == DATA:
        return draw_data(parameters, values, arm, generator)
    return draw_gaussian(parameters, values, arm, generator)


@kernel
def draw_any(parameters: Floats, values: Floats, arm: int, generator: np.random.Generator) -> float:
    """The same for all kinds, mixtures as well; apart, because it takes seconds more to compile."""
    if parameters[KIND, arm] == MIXTURE:
        arm = chosen_part(parameters, values, arm, generator)
    kind = parameters[KIND, arm]
    if kind == STUDENT_T:
        return draw_student_t(parameters, values, arm, generator)
    if kind == LOGNORMAL:
        return draw_lognormal(parameters, values, arm, generator)
    if kind == GAMMA:
        return draw_gamma(parameters, values, arm, generator)
    if kind == PARETO:
        return draw_pareto(parameters, values, arm, generator)
    return draw_mixed(parameters, values, arm, generator)


def draw_in_python(
    distributions: list[Distribution], parameters: Floats, values: Floats, arm: int, generator: np.random.Generator
) -> float:
    """For instances with an arm of which no kernel knows: some hundred times slower."""
    return distributions[arm].draw(generator)


# The distributions by the names that they have in instance files: the only list.
DISTRIBUTIONS: dict[str, type[Distribution]] = {
    kind.kind: kind
    for kind in (
        *(Beta, Bernoulli, Uniform, Data, Scores, Gaussian),
        *(StudentT, LogNormal, Exponential, Gamma, Lomax, Mixture),
    )
}
DRAWS: dict[type[Distribution], Draw] = {
    Beta: draw_beta,
    Bernoulli: draw_bernoulli,
    Uniform: draw_uniform,
    Data: draw_data,
    Gaussian: draw_gaussian,
    StudentT: draw_student_t,
    LogNormal: draw_lognormal,
    Exponential: draw_gamma,
    Gamma: draw_gamma,
    Lomax: draw_pareto,
    Mixture: draw_any,
}
MIXED = {Beta, Bernoulli, Uniform, Data, Gaussian}  # what `draw_mixed` knows


def score_in(parameters: Floats, values: Floats, cell: int, generator: np.random.Generator) -> float:
    """What an arm scored on an item: a cell is the arm plus the number of arms times the item."""
    return float(values[cell])


class Sampler(NamedTuple):
    """A draw kernel with the two arrays it reads: `draw(parameters, values, arm, generator)`.

    The arrays belong to the instance; do not write into them.
    """

    draw: Draw
    parameters: Floats
    values: Floats

    @property
    def in_python(self) -> bool:
        """Whether rewards are drawn in Python, by a distribution of which no kernel knows."""
        return isinstance(self.draw, functools.partial)


def column(distribution: Distribution, start: int) -> tuple[float, ...]:
    """One arm's column of `parameters`; recorded data begin at `start` of `values`."""
    match distribution:
        case Beta(a, b, low, high):
            return BETA, a, b, low, high
        case Bernoulli(p, low, high):
            return BERNOULLI, p, 0.0, low, high
        case Uniform(low, high):
            return UNIFORM, 0.0, 0.0, low, high
        case Data(values):
            return DATA, start, len(values), *distribution.support
        case Gaussian(mean, variance):
            return GAUSSIAN, mean, math.sqrt(variance), -math.inf, math.inf
        case StudentT(df, location, scale):
            return STUDENT_T, df, 0.0, location, scale
        case LogNormal(mu, sigma, location, scale):
            return LOGNORMAL, mu, sigma, location, scale
        case Exponential() | Gamma():
            return GAMMA, distribution.shape, 0.0, distribution.location, distribution.scale
        case Lomax(shape, scale, location):
            return PARETO, shape, 0.0, location, scale
        case _:  # draws by itself
            return (math.nan,) * 5


@dataclass(frozen=True)
class Arm:
    """An arm whose rewards are simulated.

    Args:
        name: Its name.
        distribution: What its rewards follow, or a function of a generator that returns them.
    """

    name: str
    distribution: Distribution

    def __post_init__(self) -> None:
        check_name("name", self.name)
        known = isinstance(self.distribution, Distribution)
        if not known and callable(self.distribution) and not isinstance(self.distribution, type):
            object.__setattr__(self, "distribution", Drawn(self.distribution))
            known = True
        names = ", ".join(kind.__name__ for kind in DISTRIBUTIONS.values())
        allowed = f"a Distribution ({names} or another), or a function of a generator"
        require(known, "distribution", allowed, self.distribution, error=InvalidInstance)


@dataclass(frozen=True)
class Instance:
    """Arms whose truth is known, to simulate searches on.

    Args:
        name: Its name.
        arms: At least two, with names of their own.
        reward_range: The range that every reward lies in; None with a noise that has none.
        noise: What a search is told of the rewards: "bounded", or, with arms of any distribution, "unknown", "gaussian"
            or "heavy:kurtosis=10", say. Truths are those of the distributions, whether the noise describes them or not.
        sigma_max: A standard deviation that no arm exceeds, if that is to be known.
        risk: The risk that its searches are about unless another is asked for; None: the usual one.
        items: How many items a test set has, with noise "items" and arms of `Scores`; None elsewhere.

    Examples:
        >>> arms = (Arm("safe", Beta(20, 20)), Arm("bold", Bernoulli(0.6)))
        >>> instance = Instance("two", arms, reward_range=(0, 1), noise="bounded")
        >>> instance.means.tolist()
        [0.5, 0.6]
        >>> instance.draw(1, np.random.default_rng(1))
        1.0
    """

    name: str
    arms: tuple[Arm, ...]
    reward_range: tuple[float, float] | None
    noise: str
    sigma_max: float | None = None
    risk: Measure | str | None = None
    items: int | None = None

    def __post_init__(self) -> None:
        check_name("name", self.name)
        check_arms(self.arms)
        object.__setattr__(self, "arms", tuple(self.arms))
        object.__setattr__(self, "noise", present_value("assumption", self.noise))
        check_scores(self.arms, self.noise, self.items)
        object.__setattr__(self, "risk", checked_risk(self.risk))
        name = checked_assumption(self.noise)
        if ASSUMPTIONS[name].ranged:
            object.__setattr__(self, "reward_range", checked_range(self.reward_range, self.arms))
            absent = self.sigma_max is None
            allowed = "left out of an instance with a reward_range"
            require(absent, "sigma_max", allowed, self.sigma_max, error=InvalidInstance)
        else:
            absent = self.reward_range is None
            allowed = f"left out of an instance with {name} noise"
            require(absent, "reward_range", allowed, self.reward_range, error=InvalidInstance)
            object.__setattr__(self, "sigma_max", checked_sigma_max(self.sigma_max, self.arms))

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(arm.name for arm in self.arms)

    @property
    def means(self) -> Floats:
        return np.array([arm.distribution.mean for arm in self.arms])

    @property
    def variances(self) -> Floats:
        return np.array([arm.distribution.variance for arm in self.arms])

    def risks(
        self,
        rho: float,
        alpha: float | None = None,
        direction: Literal["maximize", "minimize"] = "maximize",
    ) -> Floats:
        """The true scaled mean-variance of every arm: alpha (variance - rho mean), the less the better.

        Args:
            rho: What a unit of mean is worth, in variance.
            alpha: The factor; unless given, 1 / (3R + rho), where R is the length of the reward range (1 for gaussian
                noise).
            direction: "minimize" if rewards are costs; then the mean counts as a risk: alpha (variance + rho mean).
        """
        rho = checks.check_number(rho, "rho", "a finite number, at least 0", lambda value: value >= 0.0)
        if alpha is None:
            low, high = self.reward_range or (0.0, 1.0)
            alpha = 1.0 / (3.0 * (high - low) + rho)
        alpha = checks.check_number(alpha, "alpha", "a positive finite number", lambda value: value > 0.0)
        known_name(direction, ("maximize", "minimize"), "direction")
        signed_rho = rho if direction == "minimize" else -rho
        return alpha * (self.variances + signed_rho * self.means)

    def risks_by(self, measure: Any, direction: Literal["maximize", "minimize"] = "maximize") -> Floats:
        """The truth of every arm by a risk measure for rewards.

        Args:
            measure: The risk.
            direction: "minimize" if rewards are costs, which are negated first.
        """
        distributions = [arm.distribution for arm in self.arms]
        if direction == "minimize":
            distributions = [distribution.mirrored() for distribution in distributions]
        return np.array([measure.value_of(distribution) for distribution in distributions])

    def sampler(self) -> Sampler:
        """What a compiled loop needs to draw rewards from this instance."""
        return self._sampler

    def draw(self, arm_index: int, generator: np.random.Generator) -> float:
        """One reward of one arm.

        Args:
            arm_index: Its place, from 0.
            generator: A `numpy.random.Generator`.
        """
        last = len(self.arms) - 1
        arm_index = checks.whole(arm_index, "arm_index", f"from 0 to {last}", 0)
        # a kernel does not check: it would read whatever stands beside the array
        require(arm_index <= last, "arm_index", f"from 0 to {last}", arm_index)
        usable = isinstance(generator, np.random.Generator)
        require(usable, "generator", "a numpy.random.Generator", generator)
        draw, parameters, values = self._sampler
        if self.items is not None:
            arm_index += len(self.arms) * int(generator.integers(self.items))
        return float(draw(parameters, values, arm_index, generator))

    def to_dict(self) -> dict[str, Any]:
        """The form in instance files; `load_instance` reads it back."""
        described: dict[str, Any] = {"name": self.name}
        if self.reward_range is not None:
            described["reward_range"] = list(self.reward_range)
        else:
            described["noise"] = self.noise
        if self.sigma_max is not None:
            described["sigma_max"] = self.sigma_max
        if self.risk is not None:
            described["risk"] = str(self.risk)
        if self.items is not None:
            described["items"] = self.items
        described["arms"] = [{"name": arm.name, **arm.distribution.to_dict()} for arm in self.arms]
        return described

    @functools.cached_property
    def _sampler(self) -> Sampler:
        distributions = [arm.distribution for arm in self.arms]
        if self.items is not None:
            scores = [each.values for each in distributions if isinstance(each, Scores)]
            return Sampler(score_in, np.empty((0, 0)), np.array(scores).T.reshape(-1))
        mixtures = [each for each in distributions if isinstance(each, Mixture)]
        parts = [part for mixture in mixtures for part in mixture.parts]  # behind the arms, in the same order
        kinds = {type(each) for each in distributions}
        draw: Draw = draw_mixed if kinds <= MIXED else draw_any
        if len(kinds) == 1 and kinds <= DRAWS.keys():
            draw = DRAWS[next(iter(kinds))]
        if not {*kinds, *map(type, parts)} <= DRAWS.keys():
            draw = functools.partial(draw_in_python, distributions)
        columns: list[tuple[float, ...]] = []
        values: list[float] = []
        first = len(distributions)
        for each in (*distributions, *parts):
            if isinstance(each, Mixture):
                columns.append((MIXTURE, first, len(each.parts), len(values), math.nan))
                first += len(each.parts)
                values.extend(itertools.accumulate(each.weights))
                continue
            columns.append(column(each, start=len(values)))
            if isinstance(each, Data):
                values.extend(each.values)
        return Sampler(draw, np.array(columns, dtype=np.float64).T.copy(), np.array(values, dtype=np.float64))

    def __reduce__(self) -> tuple[Any, ...]:
        # what the constructor needs and no more: the cached sampler is made again where it is used
        return Instance, (self.name, self.arms, self.reward_range, self.noise, self.sigma_max, self.risk, self.items)


def check_name(what: str, name: Any) -> None:
    """Names end up in terminals, pages and stores: no control characters, no lone halves of a character."""
    sound = isinstance(name, str) and name.strip() != "" and name.isprintable()
    require(sound, what, "a non-empty printable string", name, error=InvalidInstance)


def check_scores(arms: tuple[Arm, ...], noise: Any, items: Any) -> None:
    """A test set has a score for each of its items, of every arm; what is no test set has none."""
    of_items = noise == ITEMS
    allowed = f"given with noise {ITEMS}, and without it left out"
    require((items is not None) == of_items, "items", allowed, items, error=InvalidInstance)
    count = checks.whole(items, "items", "a whole number of at least 2", 2) if of_items else None
    for place, arm in enumerate(arms):
        listed = isinstance(arm.distribution, Scores)
        allowed = "scores, with a value for each item" if of_items else "another one than scores, without items"
        require(listed == of_items, f"arms[{place}].distribution", allowed, arm.distribution, error=InvalidInstance)
        if isinstance(arm.distribution, Scores):
            given = len(arm.distribution.values)
            require(given == count, f"arms[{place}].values", f"{count} numbers, one an item", given, InvalidInstance)


def check_arms(arms: Any) -> None:
    require(isinstance(arms, (tuple, list)), "arms", "a list of arms", arms, error=InvalidInstance)
    require(len(arms) >= 2, "arms", "at least two", arms, error=InvalidInstance)
    seen: set[str] = set()
    for place, arm in enumerate(arms):
        require(isinstance(arm, Arm), f"arms[{place}]", "an Arm", arm, error=InvalidInstance)
        unused = arm.name not in seen
        require(unused, f"arms[{place}].name", "a name of its own", arm.name, error=InvalidInstance)
        seen.add(arm.name)


def checked_risk(risk: Any) -> Measure | None:
    """The measure that is meant, if any."""
    try:
        return None if risk is None else make_risk(risk)
    except (InvalidSpec, UnknownName) as error:
        parts = {"what": error.what, "allowed": error.allowed, "given": error.given, "hint": error.hint}
        raise InvalidInstance(**parts) from None


def checked_assumption(noise: Any) -> str:
    """The name of a noise, whose parameters are checked where it is searched."""
    name = noise.partition(":")[0] if isinstance(noise, str) else noise
    require(name in tuple(ASSUMPTIONS), "noise", assumption_names(), noise, error=InvalidInstance)
    return str(name)


def checked_range(reward_range: Any, arms: tuple[Arm, ...]) -> tuple[float, float]:
    """Both ends as floats, if they are in order and enclose all that the arms can return."""
    pair = isinstance(reward_range, (tuple, list)) and len(reward_range) == 2
    allowed = f"given as [low, high], or replaced by noise {assumption_names(ranged=False)}"
    require(pair, "reward_range", allowed, reward_range, error=InvalidInstance)
    low, high = (parameter(f"reward_range[{place}]", end) for place, end in enumerate(reward_range))
    allowed = "given as [low, high] with low < high"
    require(low < high, "reward_range", allowed, reward_range, error=InvalidInstance)
    for place, arm in enumerate(arms):
        support = arm.distribution.support
        inside = support is not None and low <= support[0] and support[1] <= high
        allowed = f"bounded by the reward_range, {low:g} to {high:g}"
        require(inside, f"arms[{place}].distribution", allowed, arm.distribution, error=InvalidInstance)
    return low, high


def checked_sigma_max(sigma_max: Any, arms: tuple[Arm, ...]) -> float | None:
    """The stated bound as a float, if no arm exceeds it."""
    if sigma_max is None:
        return None
    sigma_max = parameter("sigma_max", sigma_max, SMALLEST)
    largest = max(math.sqrt(arm.distribution.variance) for arm in arms)
    allowed = f"at least the largest standard deviation of an arm, {largest!r}"
    require(largest <= sigma_max, "sigma_max", allowed, sigma_max, error=InvalidInstance)
    return float(sigma_max)
