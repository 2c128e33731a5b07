"""One suite for every sampling rule: what all of them promise, and that each equals its reference pull by pull."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ramgape.core.table import ARM
from ramgape.search.engine import Engine
from tests.reference import search as reference
from tests.support import (
    POLICIES,
    REFERENCE_NAMES,
    SETTINGS,
    Move,
    Streams,
    beta_streams,
    box_from,
    box_of,
    can_run,
    changing,
    make_engine,
    play_by_hand,
    policies_for,
    prepared,
    reference_state,
    set_row,
)

every_case = pytest.mark.parametrize(
    ("policy", "bound"), [(policy, bound) for policy in POLICIES for bound in SETTINGS if can_run(policy, bound=bound)]
)
every_reference = pytest.mark.parametrize("policy", list(reference.POLICIES))
every_bound = pytest.mark.parametrize("bound", list(SETTINGS))

PAIRS = ("ra-lucb", "hvi-pareto")
CIRCLES = ("round-robin", "de-round-robin", "lie-round-robin", "ege-sr", "ege-sh", "psi-unif-elim")
# What `decide` may bring up to date in the table: the cache of doubts. All else belongs to `learn` and `compare`.
CACHE = {"doubt", "rival", "second", "exact", "error"}


def coins(arm_count: int, seed: int) -> Any:
    """Arms that give 0 or 1, several with the same probability: ties everywhere."""
    generator = np.random.default_rng(seed)
    chances = generator.choice([0.25, 0.5, 0.75], arm_count)
    return lambda arm: float(generator.random() < chances[arm])


def decide(engine: Engine) -> int:
    return int(engine.rule.decide(*engine.rows.records))


def test_the_list_of_policies_and_the_references_are_the_same() -> None:
    """But for the rivals, which have theirs in tests/reference/rivals.py, and `evidence`: tests/test_evidence.py."""
    rivals = {name for name, policy in POLICIES.items() if policy.own_answer}
    assert set(POLICIES) - {"evidence"} - rivals == set(reference.POLICIES)


# --- what every rule promises ---------------------------------------------------------------------


@every_case
@pytest.mark.parametrize(("arm_count", "initial_trials"), [(2, 2), (3, 5), (7, 2)])
def test_first_every_arm_in_order_then_any_legal_arm(
    policy: str, bound: str, arm_count: int, initial_trials: int
) -> None:
    engine = make_engine(arm_count, bound, policy=policy, initial_trials=initial_trials, epsilon=0.0)
    draw = coins(arm_count, 1)
    order = []
    for _ in range(300):
        arm = engine.ask()
        assert arm is not None
        assert arm in range(arm_count)
        order.append(arm)
        engine.tell(arm, draw(arm))
    first = initial_trials * arm_count
    assert order[:first] == [pull % arm_count for pull in range(first)]
    assert engine.arms["pulls"].tolist() == np.bincount(order, minlength=arm_count).tolist()


@every_case
def test_a_decision_depends_on_the_table_alone_and_changes_only_its_own_notes(policy: str, bound: str) -> None:
    engine = make_engine(5, bound, policy=policy, epsilon=0.0)
    draw = coins(5, 2)
    for pull in range(120):
        if pull < 10:
            engine.tell(pull % 5, draw(pull % 5))
            continue
        arms, search, problem = engine.arms.copy(), engine.search.copy(), engine.problem.copy()
        state = reference_state(engine)
        arm = decide(engine)
        after, notes = engine.arms.copy(), engine.search.copy()

        for column in set(ARM.names or ()) - CACHE:
            assert after[column].tobytes() == arms[column].tobytes(), column
        if (policy, bound) != ("evidence", "budget"):  # whose doubts are others: tests/test_evidence.py
            exact = after["exact"] == 1
            assert after["doubt"][exact].tolist() == state.doubt[exact].tolist()
        assert engine.problem.tobytes() == problem.tobytes()
        expected = search.copy()
        for note in {"queued"} if policy in PAIRS else {"turn"} if policy in CIRCLES else set():
            expected[note] = notes[note]
        assert notes.tobytes() == expected.tobytes()

        with changing(engine) as tables:
            tables.arms[:], tables.search[:] = arms, search
        assert decide(engine) == arm
        assert engine.arms.tobytes() == after.tobytes()
        assert engine.search.tobytes() == notes.tobytes()
        engine.tell(arm, draw(arm))


@pytest.mark.parametrize("policy", policies_for("budget"))
@pytest.mark.parametrize("arm_count", [2, 3, 6])
@pytest.mark.parametrize("more", [0, 1, 2, 3, 40, 41])
def test_a_budget_is_spent_to_the_last_pull_and_no_further(policy: str, arm_count: int, more: int) -> None:
    budget = 2 * arm_count + more
    engine = make_engine(arm_count, "budget", policy=policy, budget=budget)
    draw = Streams(beta_streams(arm_count, budget, 3))
    play_by_hand(engine, draw)
    assert len(draw.order) == engine.samples == budget == engine.arms["pulls"].sum()
    assert engine.stopped == "budget"
    assert engine.ask() is None


@pytest.mark.parametrize("policy", policies_for("confidence"))
def test_a_cap_ends_a_search_without_a_claim(policy: str) -> None:
    for cap in (20, 21, 22, 23):
        engine = make_engine(4, "paper", policy=policy, epsilon=0.0, max_trials=cap)
        draw = Streams(beta_streams(4, cap, 4))
        play_by_hand(engine, draw)
        assert (len(draw.order), engine.stopped) == (cap, "cap")


@pytest.mark.parametrize("policy", PAIRS)
def test_a_pair_is_pulled_to_its_end_before_the_search_may_stop(policy: str) -> None:
    for epsilon in np.linspace(0.1, 0.5, 15).tolist():
        engine = make_engine(2, "hoeffding", policy=policy, epsilon=epsilon, rho=1.0)
        draw = Streams([[0.75] * 9999, [0.25] * 9999])
        play_by_hand(engine, draw)
        assert engine.stopped == "confidence"
        assert draw.order == [0, 1, 0, 1] + draw.order[4:6] * (engine.samples // 2 - 2)
        assert engine.search["queued"][0] == -1


# --- relabelling ----------------------------------------------------------------------------------


# Boxes cut off at what is possible have ends in common, and ties go by place: there, more pulls come first.
INITIAL_PULLS = {"paper": 2, "hoeffding": 1000, "gaussian-paper": 2, "budget": 2}


def relabelled(
    policy: str, bound: str, names: list[int], *, count: int = 600, circle: int = 0
) -> tuple[list[int], Engine]:
    """A search in which arm `place` is the arm called `names[place]`; the pulls after the initial ones, by name.

    Each arm has its own fixed rewards, without ties.
    """
    first = INITIAL_PULLS[bound]
    streams = beta_streams(len(names), first + count, 5)
    engine = make_engine(len(names), bound, policy=policy, epsilon=0.05, rho=4.0, initial_trials=first)
    engine.rows.searches[0].turn = circle
    draw = Streams([streams[name] for name in names])
    play_by_hand(engine, draw, first * len(names) + count)
    return [names[place] for place in draw.order[first * len(names) :]], engine


def check_relabelled(first: Engine, second: Engine, names: list[int]) -> None:
    """The same numbers for the same arm, wherever it stands."""
    assert second.samples == first.samples
    assert second.stopped == first.stopped
    assert second.doubt == first.doubt
    for column in ("pulls", "average", "variance", "risk", *("mean_low", "mean_high", "risk_low", "risk_high")):
        assert second.arms[column].tobytes() == first.arms[column][names].tobytes(), column
    assert second.arms["in_front"].tolist() == first.arms["in_front"][names].tolist()
    assert second.arms["accepted"].tolist() == first.arms["accepted"][names].tolist()
    if first.search["leader"][0] >= 0:  # not every rule has one
        assert names[second.search["leader"][0]] == first.search["leader"][0]


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("policy", "bound"),
    [
        (name, bound)
        for name in POLICIES
        for bound in SETTINGS
        # Evidence under a budget explores the first of the least pulled arms, so labels matter.
        if name not in CIRCLES and can_run(name, bound=bound) and (name, bound) != ("evidence", "budget")
    ],
)
def test_relabelling_arms_relabels_pulls_and_answer(policy: str, bound: str) -> None:
    plain, first = relabelled(policy, bound, list(range(6)))
    for seed in range(3):
        names = np.random.default_rng(seed).permutation(6).tolist()
        order, second = relabelled(policy, bound, names)
        assert order == plain
        check_relabelled(first, second, names)


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("policy", "bound"), [(name, bound) for name in CIRCLES for bound in SETTINGS if can_run(name, bound=bound)]
)
def test_turning_a_circle_turns_its_pulls_and_answer(policy: str, bound: str) -> None:
    """A rule that walks round the arms knows their order, so a relabelling must keep it: a rotation does.

    The walk then starts where the first arm now stands.
    """
    plain, first = relabelled(policy, bound, list(range(6)))
    for turn in range(1, 6):
        names = np.roll(np.arange(6), turn).tolist()
        order, second = relabelled(policy, bound, names, circle=turn)
        assert order == plain
        check_relabelled(first, second, names)


@every_bound
def test_whole_rounds_give_the_same_answer_in_any_order(bound: str) -> None:
    """Plain Round-Robin skips nobody: after whole rounds all orders have seen the same rewards.

    The variants that skip do not have this property, since whom they skip depends on where they stand.
    """
    _, first = relabelled("round-robin", bound, list(range(6)), count=300)
    for seed in range(3):
        names = np.random.default_rng(seed).permutation(6).tolist()
        _, second = relabelled("round-robin", bound, names, count=300)
        check_relabelled(first, second, names)


# --- each rule equals its slow reference implementation ---------------------------------------------------------------


@every_reference
@every_bound
@pytest.mark.parametrize("arm_count", [2, 5])
def test_every_decision_equals_the_reference_on_the_same_numbers(policy: str, bound: str, arm_count: int) -> None:
    """Rewards of 0 and 1 make ties the rule; all of them must be broken alike."""
    engine = make_engine(arm_count, bound, policy=policy, epsilon=0.0, rho=0.5)
    draw = coins(arm_count, 6)
    chooser = reference.POLICIES[policy]()
    round_: list[int] = []
    for _ in range(300):
        arm = engine.ask()
        assert arm is not None
        if engine.search["ready"][0]:
            if not round_:
                state = reference_state(engine)
                if policy == "hvi-pareto" and bound == "gaussian-paper":
                    round_ = unbounded_pair(state)
                else:
                    round_ = list(chooser.decide(state))
            assert arm == round_.pop(0)
        engine.tell(arm, draw(arm))


@pytest.mark.few(3)
@every_reference
@pytest.mark.parametrize("wild", [False, True], ids=["small steps", "anywhere"])
def test_decisions_on_tables_full_of_ties(policy: str, wild: bool) -> None:
    """A table walks on a small grid; now and then the rule is asked what it would do, from any place of its circle.

    What it looks up is then partly out of date, and must be found anew.
    """
    generator = np.random.default_rng(wild)
    for arm_count in (2, 4, 7, 12):
        values = generator.integers(0, 5, (arm_count, 6))

        def row(arm: int, values: Any = values) -> Move:
            mean, risk, low, width, risk_low, risk_width = (values[arm] / 4).tolist()
            return arm, mean, risk, box_from(low, width, risk_low, risk_width)

        engine = prepared([row(arm) for arm in range(arm_count)], policy=policy, epsilon=0.25, rho=1.0)
        for move in range(200):
            arm = int(generator.integers(arm_count))
            columns = range(6) if wild else [int(generator.integers(6))]
            for column in columns:
                values[arm, column] = generator.integers(0, 5)
            set_row(engine, row(arm))
            engine.rule.compare(*engine.rows.records, arm)
            if move % 5:
                continue
            with changing(engine) as tables:
                tables.arms["pulls"] = generator.integers(2, 5, arm_count)
            arms, search = engine.arms.copy(), engine.search.copy()
            chooser = reference.POLICIES[policy]()
            if isinstance(chooser, reference.RoundRobin):
                chooser.position = int(generator.integers(arm_count))
                engine.rows.searches[0].turn = chooser.position
            expected = [arm for _ in range(3) for arm in chooser.decide(reference_state(engine))]
            assert [decide(engine) for _ in expected] == expected
            with changing(engine) as tables:
                tables.arms[:], tables.search[:] = arms, search


def unbounded_pair(state: reference.State) -> list[int]:
    """HVI-Pareto where rewards have no worst point: the worst estimates are the reference."""
    volume = (state.means - state.means.min()) * (state.risks.max() - state.risks)
    pair = [int(np.where(state.front, volume, np.inf).argmin())]
    return pair if state.front.all() else [*pair, int(np.where(state.front, -np.inf, volume).argmax())]


def check_whole_run(policy: str, bound: str, arm_count: int, seed: int, **options: Any) -> reference.Result:
    """The engine and its reference, each with its own estimates and boxes, pull the same arms in the same order.

    Both sum about an arm's first reward (the reference does so when given sigma_max, which no bound here reads), so
    estimates agree to the bit; boxes differ by rounding, which cannot decide between rewards without ties.
    """
    limit = options.get("budget") or options["max_trials"]
    streams = beta_streams(arm_count, limit, seed)
    engine = make_engine(arm_count, bound, policy=policy, **options)
    mine, theirs = Streams(streams), Streams(streams)
    play_by_hand(engine, mine)
    rho = options.pop("rho")
    result = reference.run(
        policy, REFERENCE_NAMES[bound], theirs, arm_count, rho=rho, delta=engine.spec.delta, sigma_max=1.0, **options
    )
    assert mine.order == theirs.order
    assert engine.stopped == result.stopped
    assert engine.samples == result.samples
    assert engine.arms["pulls"].tolist() == result.pulls.tolist()
    assert engine.arms["in_front"].tolist() == result.front.tolist()
    assert engine.arms["average"].tolist() == result.means.tolist()
    np.testing.assert_allclose(engine.arms["risk"], result.risks, rtol=1e-13, atol=1e-15)
    np.testing.assert_allclose(box_of(engine.arms), result.boxes, rtol=1e-12, atol=1e-13)
    assert engine.doubt == pytest.approx(result.V.max(), rel=1e-12)
    assert bool(engine.search["misses"][0]) == bool(result.missed.any())
    return result


@pytest.mark.few(3)
@every_reference
@pytest.mark.parametrize(
    ("bound", "arm_count", "epsilon", "seed"),
    [("paper", 3, 0.5, 11), ("hoeffding", 5, 0.25, 12), ("hoeffding", 4, 0.04, 13)],
)
def test_whole_runs_under_confidence(policy: str, bound: str, arm_count: int, epsilon: float, seed: int) -> None:
    result = check_whole_run(policy, bound, arm_count, seed, epsilon=epsilon, rho=0.05, max_trials=2400)
    if "confidence" in POLICIES[policy].paper_goals and epsilon > 0.1:
        assert result.stopped == "confidence"


@pytest.mark.few(3)
@every_reference
@pytest.mark.parametrize(
    ("arm_count", "budget", "exploration"), [(2, 501, "theorem"), (4, 1000, "sharp"), (6, 1003, 0.02)]
)
def test_whole_runs_under_a_budget(policy: str, arm_count: int, budget: int, exploration: str | float) -> None:
    check_whole_run(policy, "budget", arm_count, 14, epsilon=0.1, rho=0.05, budget=budget, exploration=exploration)
