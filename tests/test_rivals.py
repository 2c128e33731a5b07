"""The published rivals: each against its definition in plain Python, in whole runs and single steps."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from ramgape import InvalidSpec, Result, identify, load_instance, replicate, simulate
from ramgape.core import elimination
from ramgape.core.pareto import is_epsilon_cover, pareto_front, simple_regret
from ramgape.search.engine import Engine
from ramgape.search.inference import infer
from ramgape.simulation.simulation import simulated_spec
from tests.guarantees import check_answers, runs_of
from tests.reference.rivals import (
    Eliminator,
    Explorer,
    Points,
    by_clearness,
    eliminate,
    gaps_among,
    successive_rejects,
)
from tests.support import (
    POLICIES,
    Streams,
    beta_streams,
    box_from,
    box_of,
    changing,
    make_engine,
    play_by_hand,
    policies_for,
    set_row,
)

BUDGET_RIVALS = ["ege-sr", "ege-sh"]
CONFIDENCE_RIVALS = ["psi-unif-elim", "ape"]


# --- empirical gap elimination ------------------------------------------------------------------------


@pytest.mark.parametrize("policy", BUDGET_RIVALS)
@pytest.mark.parametrize("arm_count", [2, 3, 4, 5, 8, 12, 20])
@pytest.mark.parametrize("per_arm", [2, 3, 5, 30])
def test_whole_runs_equal_the_definition(policy: str, arm_count: int, per_arm: int) -> None:
    for extra in (0, 1, arm_count - 1):
        budget = per_arm * arm_count + extra
        streams = beta_streams(arm_count, budget, 100 * arm_count + extra)
        mine, theirs = Streams(streams), Streams(streams)
        engine = make_engine(arm_count, "budget", policy=policy, budget=budget, rho=0.7)
        play_by_hand(engine, mine)
        expected = eliminate(policy, theirs, arm_count, budget, 0.7)
        assert mine.order == theirs.order
        assert len(mine.order) == budget
        assert set(np.flatnonzero(engine.answer()).tolist()) == expected
        assert not (engine.arms["accepted"] == 0).any()


@pytest.mark.parametrize("budget", [3 + 8 * 5, 10**9, 2**53])
def test_a_whole_number_of_pulls_is_not_rounded_up(budget: int) -> None:
    for arm_count in (2, 3, 6, 10, 20):
        engine = make_engine(arm_count, "budget", policy="ege-sr", budget=budget)
        targets = []
        for _ in range(arm_count - 1):
            elimination.begin_rejection(engine.rows.searches[0], engine.rows.problems[0], arm_count)
            targets.append(int(engine.search["target"][0]))
        assert targets == pytest.approx([target for target, _ in successive_rejects(arm_count, budget)], rel=2e-14)
        if budget < 2**40:
            assert targets == [target for target, _ in successive_rejects(arm_count, budget)]


@pytest.mark.parametrize("seed", range(5))
def test_gaps_and_their_order_on_tables_full_of_ties(seed: int) -> None:
    """Whole numbers of quarters: every difference is exact, and many are equal."""
    generator = np.random.default_rng(seed)
    for _ in range(60):
        arm_count = int(generator.integers(2, 10))
        engine = make_engine(arm_count, "budget", policy="ege-sr", rho=0.5)
        points = [(float(x) / 4, float(y) / 4) for x, y in generator.integers(0, 4, (arm_count, 2))]
        with changing(engine) as tables:
            tables.arms["average"], tables.arms["risk"] = np.array(points).T
        active = list(range(arm_count))
        while len(active) > 1:
            gap, front = gaps_among(points, active)
            elimination.compute_gaps(engine.rows.arms)
            assert engine.arms["gap"][active].tolist() == [gap[arm] for arm in active]
            elimination.settle_clearest(engine.rows.arms)
            arm = by_clearness(gap, front)[0]
            active.remove(arm)
            assert engine.arms["accepted"][arm] == (1 if arm in front else -1)
            assert (engine.arms["accepted"][active] == 0).all()


@pytest.mark.parametrize("policy", BUDGET_RIVALS)
def test_on_one_and_the_same_data_the_accepted_arms_are_the_front(policy: str) -> None:
    """With a budget of the initial pulls alone all phases follow at once, and none of them changes its mind."""
    for seed in range(30):
        arm_count = 2 + seed % 9
        engine = make_engine(arm_count, "budget", policy=policy, budget=2 * arm_count, rho=0.2)
        play_by_hand(engine, Streams(beta_streams(arm_count, 2, seed)))
        front = pareto_front(engine.arms["average"], engine.arms["risk"])
        assert engine.answer().tolist() == front.tolist()


@pytest.mark.parametrize("policy", BUDGET_RIVALS)
@pytest.mark.parametrize("initial_trials", [2, 7])
def test_an_answer_in_mid_run_is_never_empty_and_what_is_settled_stays(policy: str, initial_trials: int) -> None:
    for seed in range(4):
        budget = 100 + seed
        engine = make_engine(6, "budget", policy=policy, budget=budget, rho=0.7, initial_trials=initial_trials)
        draw = Streams(beta_streams(6, budget, seed))
        settled = np.zeros(6, dtype=int)
        while (arm := engine.ask()) is not None:
            engine.tell(arm, draw(arm))
            accepted = engine.arms["accepted"].copy()
            assert (accepted[settled != 0] == settled[settled != 0]).all()
            settled = accepted
            if not engine.search["ready"][0]:
                continue
            result = infer(engine)
            answer = engine.answer()
            assert answer.any()
            assert answer[accepted == 1].all()
            assert not answer[accepted == -1].any()
            alive = accepted >= 0
            front = pareto_front(engine.arms["average"][alive], engine.arms["risk"][alive])
            assert engine.arms["in_front"][alive].tolist() == front.tolist()
            for report, inside in zip(result.arms, answer, strict=True):
                assert report.verdict == ("in" if inside else "out")
                assert (report.dominated_by is None) == inside
                assert inside or report.dominated_by in result.front
        assert settled.all()


@pytest.mark.parametrize("policy", BUDGET_RIVALS)
def test_pulls_that_are_left_over_do_not_change_the_answer(policy: str) -> None:
    left_over = 0
    for budget in range(60, 90):
        engine = make_engine(7, "budget", policy=policy, budget=budget, rho=0.7)
        draw = Streams(beta_streams(7, budget, budget))
        answers = []
        while (arm := engine.ask()) is not None:
            done = not (engine.arms["accepted"] == 0).any()
            fewest = engine.arms["pulls"].min()
            assert not done or engine.arms["pulls"][arm] == fewest
            left_over += done
            engine.tell(arm, draw(arm))
            if done:
                answers.append(engine.answer().tolist())
        assert all(answer == answers[0] for answer in answers)
    assert left_over > 0


@pytest.mark.parametrize("policy", BUDGET_RIVALS)
@pytest.mark.parametrize("noise", ["bounded", "gaussian"])
def test_arms_far_apart_are_told_apart(policy: str, noise: str) -> None:
    """Means 20 standard errors apart: a wrong answer has probability below 1e-20."""

    def pull(arm: int, rng: np.random.Generator) -> float:
        return 0.1 + 0.2 * arm + 0.01 * arm * (rng.random() - 0.5)

    bounded = {"reward_range": (0, 1)} if noise == "bounded" else {"noise": "gaussian"}
    result = identify(pull, range(4), budget=40, policy=policy, rho=0.0, seed=1, **bounded)  # type: ignore[arg-type]
    assert (result.front, result.stopped, result.samples) == (("0", "1", "2", "3"), "budget", 40)
    assert result.bound == "none"
    best = identify(pull, range(4), budget=40, policy=policy, rho=1.0, seed=1, **bounded)  # type: ignore[arg-type]
    assert best.front == ("3",)


@pytest.mark.parametrize("policy", BUDGET_RIVALS)
def test_more_pulls_make_fewer_mistakes(policy: str) -> None:
    few, many = (replicate("paper:46", runs=30, seed=1, budget=budget, policy=policy) for budget in (100, 10_000))
    assert np.mean([run.regret for run in many.runs]) < 0.3 * np.mean([run.regret for run in few.runs])


# --- rules that stop ------------------------------------------------------------------------------------


def published(engine: Engine) -> tuple[Points, list[float]]:
    """Points and radii. With bound `paper` and the default alpha, the four half-widths of a box are all but equal."""
    points = list(zip(engine.arms["average"].tolist(), engine.arms["risk"].tolist(), strict=True))
    box = box_of(engine.arms)
    radius = (box.mean_high - box.mean_low) / 2
    np.testing.assert_allclose((box.risk_high - box.risk_low) / 2, radius, rtol=1e-12)
    return points, radius.tolist()


@pytest.mark.parametrize(("arm_count", "epsilon", "seed"), [(2, 0.4, 1), (3, 0.5, 2), (4, 0.5, 3), (5, 0.6, 8)])
def test_psi_unif_elim_equals_the_definition(arm_count: int, epsilon: float, seed: int) -> None:
    options: dict[str, Any] = {"epsilon": epsilon, "delta": 0.5, "rho": 3.0, "policy": "psi-unif-elim"}
    engine = make_engine(arm_count, "paper", **options)
    draw = Streams(beta_streams(arm_count, 6000, seed))
    play_by_hand(engine, draw, 2 * arm_count)
    reference = Eliminator(arm_count, epsilon)
    while True:
        reference.look(*published(engine))
        accepted, active = (set(np.flatnonzero(engine.arms["accepted"] == value).tolist()) for value in (1, 0))
        assert (accepted, active) == (reference.accepted, set(reference.active))
        if not reference.active:
            break
        first = len(draw.order)
        play_by_hand(engine, draw, len(active))
        assert sorted(draw.order[first:]) == reference.active
    assert engine.stopped == "confidence"
    assert engine.ask() is None
    assert set(np.flatnonzero(engine.answer()).tolist()) == reference.accepted


@pytest.mark.parametrize(("arm_count", "epsilon", "seed"), [(2, 0.4, 1), (3, 0.6, 2), (4, 0.7, 3)])
def test_ape_equals_the_definition(arm_count: int, epsilon: float, seed: int) -> None:
    engine = make_engine(arm_count, "paper", epsilon=epsilon, delta=0.5, rho=3.0, policy="ape")
    draw = Streams(beta_streams(arm_count, 9000, seed))
    play_by_hand(engine, draw, 2 * arm_count)
    while True:
        reference = Explorer(*published(engine), engine.arms["pulls"].tolist(), epsilon)
        assert (engine.stopped == "confidence") == reference.stops()
        arm = engine.ask()
        if arm is None:
            break
        assert arm == reference.decide()
        engine.tell(arm, draw(arm))
    assert set(np.flatnonzero(engine.answer()).tolist()) == reference.answer()
    assert len(draw.order) > 2 * arm_count


def corners(box: tuple[float, ...]) -> list[tuple[float, float]]:
    return list(itertools.product(box[:2], box[2:]))


def test_directions_of_the_conditions_on_boxes() -> None:
    """Boxes that are nothing like squares, all corners tried: certainly beaten, and perhaps beaten by epsilon."""
    generator = np.random.default_rng(0)
    epsilon = 0.25
    settled = 0
    for _ in range(400):
        boxes = [box_from(*(generator.integers(0, 5, 4) / 8).tolist()) for _ in range(3)]

        def beats(j: int, i: int, sure: bool, boxes: list[tuple[float, ...]] = boxes) -> bool:
            pairs = itertools.product(corners(boxes[j]), corners(boxes[i]))
            leads = [min(mean - other_mean, other_risk - risk) for (mean, risk), (other_mean, other_risk) in pairs]
            return min(leads) > 0.0 if sure else max(leads) >= epsilon

        engine = ready_engine(boxes, "psi-unif-elim", epsilon)
        left = [i for i in range(3) if not any(beats(j, i, sure=True) for j in range(3) if j != i)]
        sure = [i for i in left if not any(beats(j, i, sure=False) for j in left if j != i)]
        accepted = [j for j in sure if not any(beats(j, i, sure=False) for i in left if i not in sure)]
        expected = [1 if i in accepted else 0 if i in left else -1 for i in range(3)]
        assert engine.arms["accepted"].tolist() == expected

        settled += 0 not in expected
        engine = ready_engine(boxes, "ape", epsilon)
        dominated = [any(beats(j, i, sure=True) for j in range(3) if j != i) for i in range(3)]
        doubtful = [any(beats(j, i, sure=False) for j in range(3) if j != i) for i in range(3)]
        front = pareto_front(engine.arms["average"], engine.arms["risk"])
        stops = not any(doubtful[i] and (front[i] or not dominated[i]) for i in range(3))
        assert engine.rule.stop(*engine.rows.records) == stops
        if stops:
            assert engine.arms["accepted"].tolist() == [
                -1 if bad and not on else 1 for bad, on in zip(dominated, front, strict=True)
            ]
        else:
            assert doubtful[int(engine.search["leader"][0])]
    assert 50 < settled < 350


def ready_engine(boxes: list[tuple[float, ...]], policy: str, epsilon: float) -> Engine:
    """A table with these boxes, and estimates in the middle of them, that has just become ready."""
    engine = make_engine(len(boxes), "paper", policy=policy, epsilon=epsilon, rho=1.0)
    for arm, box in enumerate(boxes):
        set_row(engine, (arm, (box[0] + box[1]) / 2, (box[2] + box[3]) / 2, box))
    with changing(engine) as tables:
        tables.arms["pulls"] = 2
    engine.rule.compare(*engine.rows.records, 0)
    return engine


@pytest.mark.parametrize("policy", CONFIDENCE_RIVALS)
@pytest.mark.parametrize("epsilon", [0.0, 0.125])
def test_boxes_that_hold_lead_to_right_answers(policy: str, epsilon: float) -> None:
    """Boxes of any shape around a fixed truth, on the whole narrower but not nested: an answer is never wrong.

    The truths lie on a grid, so that differences of exactly epsilon, and of nothing, are common. No false alarm.
    """
    generator = np.random.default_rng(3)
    ended = 0
    for _ in range(60):
        count = int(generator.integers(2, 7))
        means, risks = generator.integers(0, 5, (2, count)) / 8
        engine = make_engine(count, "paper", policy=policy, epsilon=epsilon, rho=1.0)

        def place(arm: int, width: float, engine: Engine = engine, truth: tuple[Any, Any] = (means, risks)) -> None:
            left, right, below, above = (generator.integers(0, 5, 4) / 64 * width).tolist()
            mean, risk = float(truth[0][arm]), float(truth[1][arm])
            box = (mean - left, mean + right, risk - below, risk + above)
            set_row(engine, (arm, (box[0] + box[1]) / 2, (box[2] + box[3]) / 2, box))

        for arm in range(count):
            place(arm, 8.0)
        with changing(engine) as tables:
            tables.arms["pulls"] = 2
        engine.rule.compare(*engine.rows.records, 0)
        for step in range(400):
            if engine.rule.stop(*engine.rows.records):
                ended += 1
                answer = np.asarray(engine.arms["accepted"] == 1)
                assert not (engine.arms["accepted"] == 0).any()
                assert is_epsilon_cover(answer, means, risks, epsilon)
                assert simple_regret(answer, means, risks) < epsilon or epsilon == 0.0
                if epsilon == 0.0:
                    assert answer.tolist() == pareto_front(means, risks).tolist()
                break
            arm = int(engine.rule.decide(*engine.rows.records))
            place(arm, 8.0 / (1.0 + step / 8))
            engine.rows.arms[arm].pulls += 1
            engine.rule.compare(*engine.rows.records, arm)
    assert ended > 10  # where arms are level, no boxes settle epsilon 0


@pytest.mark.few(2)
@pytest.mark.parametrize("policy", CONFIDENCE_RIVALS)
@pytest.mark.parametrize(("bound", "epsilon"), [("paper", 0.12), ("empirical-bernstein", 0.02), ("gaussian", 0.03)])
def test_wrong_answers_are_rare(policy: str, bound: str, epsilon: float) -> None:
    """Delta is one half. False alarm: at most 1e-6 for each case."""
    options: dict[str, Any] = {"policy": policy, "bound": bound, "epsilon": epsilon, "delta": 0.5, "rho": 0.3}
    results = runs_of(40, 21, **options)
    check_answers(results, 0.5)
    for result in results:
        check_certificates(result)


@pytest.mark.parametrize("policy", CONFIDENCE_RIVALS)
def test_with_epsilon_0_wrong_answers_are_rare_and_every_arm_is_in_or_out(policy: str) -> None:
    """False alarm: at most 1e-6 for each case."""
    options: dict[str, Any] = {"policy": policy, "epsilon": 0.0, "delta": 0.25, "rho": 0.3}
    results = runs_of(25, 22, gap=0.02, max_trials=400_000, **options)
    check_answers(results, 0.25, least_ended=0.9)
    for result in results:
        check_certificates(result)
        if result.stopped == "confidence":
            assert {arm.certificate for arm in result.arms} <= {"in", "out"}
            assert "this is exactly the Pareto set" in result.guarantee


def check_certificates(result: Result) -> None:
    """What is said of each arm after a confident stop; in and out only where boxes or epsilon 0 prove it."""
    if result.stopped != "confidence":
        return
    assert result.front
    assert result.certified_epsilon is not None
    assert result.certified_epsilon < result.goal.epsilon or result.certified_epsilon == 0.0  # type: ignore[operator]
    for arm in result.arms:
        inside = arm.name in result.front
        assert (arm.verdict, arm.certified) == ("in" if inside else "out", True)
        assert arm.certificate in ("in" if inside else "out", "within-epsilon")
        assert arm.dominated_by is None if inside else arm.dominated_by in result.front
        if arm.certificate == "within-epsilon":
            assert arm.doubt >= 0.0


@pytest.mark.parametrize("policy", CONFIDENCE_RIVALS)
def test_boxes_that_do_not_narrow_leave_the_proof_to_the_rule(policy: str) -> None:
    """When the last boxes are wider than those that decided, the verdicts stand and only "in" and "out" are lost."""
    spec = simulated_spec(load_instance("paper:46"), policy=policy, bound="paper", epsilon=0.05, delta=0.5)
    engine = Engine(spec)
    engine.advance(load_instance("paper:46").sampler(), np.random.default_rng(1), 10**9)
    before = infer(engine)
    assert before.stopped == "confidence"
    for side, sign in (("mean_low", -1), ("mean_high", 1), ("risk_low", -1), ("risk_high", 1)):
        engine.arms[side] += 0.5 * sign
    after = infer(engine)
    assert after.front == before.front
    assert [arm.verdict for arm in after.arms] == [arm.verdict for arm in before.arms]
    assert {arm.certificate for arm in after.arms} == {"within-epsilon"}
    assert after.certified_epsilon == pytest.approx(0.05)
    check_certificates(before)
    check_certificates(after)


@pytest.mark.parametrize("policy", CONFIDENCE_RIVALS)
def test_equal_arms_stay_undecided_and_an_interruption_claims_no_more_than_boxes_prove(policy: str) -> None:
    rewards = {"one": 0.5, "two": 0.5, "worse": 0.0}
    options: dict[str, Any] = {"reward_range": (0, 1), "epsilon": 0, "rho": 1.0, "policy": policy}
    result = identify(rewards.__getitem__, list(rewards), max_trials=3_000, **options)
    assert (result.stopped, result.samples, result.front) == ("cap", 3_000, ("one", "two"))
    assert [arm.verdict for arm in result.arms][:2] == ["open"] * 2
    assert result.arm("worse").dominated_by in ("one", "two")
    assert "exactly the Pareto set" not in result.guarantee

    stop_at = 50
    stopped = identify(
        rewards.__getitem__, list(rewards), callback=lambda progress: progress.samples >= stop_at, **options
    )
    assert (stopped.stopped, stopped.samples, stopped.front) == ("callback", stop_at, ("one", "two"))


# --- what is refused --------------------------------------------------------------------------------------


@pytest.mark.parametrize("policy", [*BUDGET_RIVALS, *CONFIDENCE_RIVALS])
def test_a_rule_runs_for_its_own_goal_only(policy: str) -> None:
    (allowed,) = POLICIES[policy].goals
    goal: dict[str, dict[str, Any]] = {"budget": {"budget": 100}, "confidence": {"epsilon": 0.05, "max_trials": 100}}
    assert simulate("paper:46", policy=policy, **goal[allowed]).samples == 100
    refused = "budget" if allowed == "confidence" else "confidence"
    for search in (simulate, lambda *names, **options: replicate(*names, runs=2, **options)):
        with pytest.raises(InvalidSpec) as caught:
            search("paper:46", policy=policy, **goal[refused])
        assert str(caught.value) == (
            f"policy must be one that can run for a fixed {refused} (auto, {', '.join(policies_for(refused))}), "
            f"got '{policy}', which is for a fixed {allowed} only"
        )


def test_the_four_rivals_are_the_rules_with_an_answer_of_their_own() -> None:
    rivals = [*BUDGET_RIVALS, *CONFIDENCE_RIVALS]
    assert [name for name, policy in POLICIES.items() if policy.own_answer] == rivals
    assert [name for name, policy in POLICIES.items() if len(policy.goals) == 1] == rivals


@pytest.mark.parametrize("policy", [*BUDGET_RIVALS, *CONFIDENCE_RIVALS])
def test_the_round_of_smallest_doubt_is_not_for_rules_with_their_own_answer(policy: str) -> None:
    goal: dict[str, Any] = {"budget": 100} if policy in BUDGET_RIVALS else {"epsilon": 0.1}
    with pytest.raises(InvalidSpec, match=rf"^returned must be 'last' for policy {policy}, whose answer is the arms"):
        simulate("paper:46", policy=policy, returned="smallest-doubt", **goal)


@pytest.mark.parametrize("policy", CONFIDENCE_RIVALS)
def test_comparisons_of_pairs_are_not_for_rules_that_stop_by_boxes(policy: str) -> None:
    with pytest.raises(InvalidSpec, match=rf"^bound must be another one for policy {policy}, which stops by intervals"):
        simulate("paper:46", policy=policy, bound="pairwise", epsilon=0.1)


@pytest.mark.parametrize("policy", CONFIDENCE_RIVALS)
def test_no_intervals_are_not_for_rules_that_need_them(policy: str) -> None:
    with pytest.raises(InvalidSpec, match=r"^bound must be one that serves"):
        simulate("paper:46", policy=policy, bound="none", epsilon=0.1)


# --- both roads, wherever the run is cut ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("policy", "goal"),
    [
        *((policy, {"budget": budget}) for policy in BUDGET_RIVALS for budget in (20, 21, 57, 500)),
        *((policy, {"epsilon": 0.05, "delta": 0.5}) for policy in CONFIDENCE_RIVALS),
    ],
)
def test_the_roads_agree_at_every_cut(policy: str, goal: dict[str, Any]) -> None:
    instance = load_instance("random-beta:1")
    options: dict[str, Any] = {"policy": policy, **({"max_trials": 600} | goal)}
    arm_count = len(instance.arms)
    if "budget" in goal:
        options["budget"] = max(goal["budget"], 2 * arm_count)
    spec = simulated_spec(instance, **options)
    whole, changing = Engine(spec), Engine(spec)
    whole.advance(instance.sampler(), np.random.default_rng(4), 10**9)
    generator = np.random.default_rng(4)
    while changing.stopped is None:
        changing.advance(instance.sampler(), generator, 3)
        for _ in range(2):
            if (arm := changing.ask()) is not None:
                changing.tell(arm, instance.draw(arm, generator))
    assert changing.arms.tobytes() == whole.arms.tobytes()
    assert changing.search.tobytes() == whole.search.tobytes()
