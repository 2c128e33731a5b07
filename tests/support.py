"""What several test files share: engines to feed by hand, what the reference sees of them, searches, a clock."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from ramgape import Instance, Result, identify
from ramgape.core.learning import note_all, note_mean_and_risk
from ramgape.core.rows import on_tables
from ramgape.core.table import State, Table
from ramgape.policies import POLICIES as ALL_POLICIES
from ramgape.risks.table import PAPER_RISK
from ramgape.search.engine import Engine
from ramgape.search.result import updated
from ramgape.search.simulator import Simulator
from ramgape.search.spec import make_spec
from ramgape.storage import memory, sqlite
from ramgape.storage.postgres import PostgresStore
from ramgape.storage.records import Moment
from tests.reference import search as reference

POLICIES = {
    name: rule for name, rule in ALL_POLICIES.items() if not rule.of_questions
}  # those that serve the Pareto set

BOXES = ("mean_low", "mean_high", "risk_low", "risk_high")

# What each bound needs to know, and the bound's name in the reference implementation.
SETTINGS: dict[str, dict[str, Any]] = {
    "paper": {"reward_range": (0.0, 1.0), "epsilon": 0.125},
    "hoeffding": {"reward_range": (0.0, 1.0), "epsilon": 0.125},
    "gaussian-paper": {"noise": "gaussian", "sigma_max": 0.5, "epsilon": 0.125},
    "budget": {"reward_range": (0.0, 1.0), "epsilon": 0.125, "budget": 1_000_000},
}
# For bound "none", which has no reference.
UNBOUNDED: dict[str, Any] = {"reward_range": (0.0, 1.0), "budget": 1_000_000}
REFERENCE_NAMES = {
    "paper": "paper",
    "hoeffding": "hoeffding",
    "gaussian-paper": "gaussian_paper",
    "budget": "budget",
}


def make_engine(arm_count: int, bound: str, **options: Any) -> Engine:
    """A search with this bound and the paper's risk; options replace its usual setting."""
    usual = {"policy": "ramgape", **SETTINGS.get(bound, UNBOUNDED)}
    if "rho" not in options:
        usual["risk"] = PAPER_RISK
    return Engine(make_spec(range(arm_count), bound=bound, **{**usual, **options}))


def can_run(policy: str, **options: Any) -> bool:
    """Whether a policy is for the goal of these options, and they leave it its own answer if it has one."""
    goal = "budget" if options.get("budget") or options.get("bound") == "budget" else "confidence"
    own = POLICIES[policy].own_answer and options.get("returned") == "smallest-doubt"
    return goal in POLICIES[policy].goals and not own


def policies_for(goal: str) -> list[str]:
    """The policies that can run for a fixed confidence or a fixed budget."""
    return [name for name, policy in POLICIES.items() if goal in policy.goals]


# A row of the table as it might become: the arm, its mean and risk, its box.
Move = tuple[int, float, float, tuple[float, ...]]


@contextmanager
def changing(engine: Engine) -> Iterator[State]:
    """The tables of a search, to be changed whatever rewards may have led there."""
    with engine._tables() as state:
        yield state
        on_tables(note_all)(state.arms)


def compile_at_once(patch: pytest.MonkeyPatch) -> None:
    """Simulate everything that can be compiled in compiled code, from the first trial on."""
    usual = Simulator.prepare

    def prepare(loop: Simulator) -> None:
        usual(loop)
        if not loop.is_compiled:
            loop._compile()

    patch.setattr(Simulator, "prepare", prepare)


def set_row(engine: Engine, move: Move) -> None:
    """Write estimates and a box into a row, whatever rewards may have led there."""
    arm, mean, risk, sides = move
    row = engine.rows.arms[arm]
    row.average, row.risk = mean, risk
    for side, value in zip(BOXES, sides, strict=True):
        setattr(row, side, value)
    note_mean_and_risk(row)


def box_from(low: float, width: float, risk_low: float, risk_width: float, ends: int = 0) -> tuple[float, ...]:
    """A box; the bits of `ends` say which of its sides are unbounded."""
    finite = (low, low + width, risk_low, risk_low + risk_width)
    unbounded = (-math.inf, math.inf, -math.inf, math.inf)
    return tuple(unbounded[side] if ends >> side & 1 else finite[side] for side in range(4))


def prepared(rows: Sequence[Move], **options: Any) -> Engine:
    """A search whose table has these rows and has just become ready."""
    engine = make_engine(len(rows), "paper", **options)
    for row in rows:
        set_row(engine, row)
    with changing(engine) as state:
        state.arms["pulls"] = 2
    engine.rule.compare(*engine.rows.records, 0)
    return engine


def box_of(arms: Table) -> reference.Box:
    """The engine's own boxes, to the bit."""
    return reference.Box(*(arms[side].copy() for side in BOXES))


def reference_state(engine: Engine) -> reference.State:
    """What the reference implementation's policies look at, made of the engine's own numbers."""
    arms, problem = engine.arms, engine.problem[0]
    return reference.State(
        pulls=arms["pulls"].copy(),
        means=arms["average"].copy(),
        risks=arms["risk"].copy(),
        box=box_of(arms),
        epsilon=float(problem["epsilon"]),
        alpha=float(problem["alpha"]),
    )


def beta_streams(arm_count: int, length: int, seed: int) -> list[list[float]]:
    """A fixed sequence of rewards for every arm: the k-th pull of an arm always gives the same."""
    generator = np.random.default_rng(seed)
    shapes = generator.uniform(0.3, 4.0, (arm_count, 2))
    return [generator.beta(a, b, length).tolist() for a, b in shapes]


class Streams:
    """Arms that read their rewards from fixed sequences; `order` lists the pulls."""

    def __init__(self, streams: Sequence[Sequence[float]]) -> None:
        self.order: list[int] = []
        self._readers = [iter(stream) for stream in streams]

    def __call__(self, arm: int) -> float:
        self.order.append(arm)
        return next(self._readers[arm])


def play_by_hand(engine: Engine, draw: Callable[[int], float], count: int | None = None) -> None:
    """Ask and tell to the end, or for so many pulls."""
    while count is None or count > 0:
        arm = engine.ask()
        if arm is None:
            return
        engine.tell(arm, draw(arm))
        if count is not None:
            count -= 1


class Clock:
    """Time that passes when a test says so."""

    def __init__(self) -> None:
        self.now = self.start = 1_800_000_000.0

    def rule(self, patch: pytest.MonkeyPatch) -> None:
        """Have all stores go by it; a server has its own time, to which what has passed here is added."""
        patch.setattr(memory, "present", self)
        patch.setattr(sqlite, "present", self)
        begin_on = PostgresStore.begin_on

        def later(database: PostgresStore, study_id: int, write: bool) -> Any:
            row, now = begin_on(database, study_id, write)
            passed = self.now - self.start
            return row, Moment(now.time + passed, now.clock + passed)

        patch.setattr(PostgresStore, "begin_on", later)

    def __call__(self) -> Moment:
        return Moment(self.now, self.now)

    def passes(self, seconds: float) -> None:
        self.now += seconds


def by_hand(instance: Instance, seed: int, **options: Any) -> Result:
    """The road for real trials, with the instance in the user's part; not watched, because simulations are not."""
    options.setdefault("sigma_max", instance.sigma_max)
    options.setdefault("alarm", None)
    if "rho" not in options:
        options.setdefault("risk", instance.risk)

    def pull(name: str, rng: np.random.Generator) -> float:
        return instance.draw(instance.names.index(name), rng)

    return identify(
        pull, instance.names, noise=instance.noise, reward_range=instance.reward_range, seed=seed, **options
    )


def in_full(result: Result) -> str:
    """Every field to the last bit, signs of zeros included; a simulation knows the truth, and keeps no rewards."""
    arms = tuple(dataclasses.replace(arm, empirical_risk=None) for arm in result.arms)
    # Each road takes notes on its way at points of its own, which are no part of what was found.
    return repr(dataclasses.asdict(updated(result, truth=None, arms=arms, history=())))


def engine_that_saw(rewards: Any, risk: Any, **options: Any) -> Engine:
    """One arm of two has seen these rewards in [0, 1]."""
    engine = Engine(make_spec(["a", "b"], **{"reward_range": (0, 1), "epsilon": 0.0, "risk": risk, **options}))
    engine.learn_many(np.zeros(len(rewards), np.int64), np.asarray(rewards, np.float64))
    return engine
