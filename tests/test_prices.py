"""Prices and money: rules weigh what a pull tells against what it costs, and no more is spent than there is."""

from __future__ import annotations

import io
import json
import math
import random
import statistics
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ramgape
from ramgape import InvalidReward, InvalidSpec, Outcome, Study, identify, load_instance, replicate, simulate
from ramgape.search.engine import Engine
from ramgape.simulation.simulation import simulated_spec
from ramgape.studies import session
from tests.cli_support import call, call_json, complaint

MEANS = {"A": 0.5, "B": 0.7, "C": 0.3}
PRICES = {"A": 1.0, "B": 10.0, "C": 2.5}
BOUNDED: dict[str, Any] = {"reward_range": (0, 1)}
TEN = {str(arm): 10.0 if arm % 2 else 1.0 for arm in range(1, 11)}  # of paper:46


def reward_of(arm: str, seed: int) -> float:
    return float(random.Random(seed).random() < MEANS[arm])


def price_of(arm: str, seed: int) -> float:
    """What a trial costs, which is not known before."""
    return PRICES[arm] * (0.5 + random.Random(-seed).random())


def pull(arm: str, rng: np.random.Generator) -> float:
    return float(rng.random() < MEANS[arm])


# --- what is asked for ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"price": {"A": 1, "B": 0, "C": 1}}, "the price of 'B' must be a finite number above 0, got 0"),
        ({"price": {"A": 1, "B": -2, "C": 1}}, "the price of 'B' must be a finite number above 0, got -2"),
        ({"price": {"A": 1, "B": math.inf, "C": 1}}, "the price of 'B' must be a finite number above 0, got inf"),
        ({"price": {"A": 1, "B": True, "C": 1}}, "the price of 'B' must be a finite number above 0, got True"),
        ({"price": {"A": 1, "C": 1}}, "price must be given for every arm, also for 'B', got"),
        ({"price": {**PRICES, "D": 1}}, "each arm in price must be one of A, B, C, got 'D'"),
        ({"price": -1}, "the price of 'A' must be a finite number above 0, got -1"),
        ({"price": "cheap"}, "price must be a number, one for each arm .a mapping., or 'told', got 'cheap'"),
        ({"price": [1, 2, 3]}, "price must be a number, one for each arm"),
        ({"price": PRICES, "spend": 26.9}, "spend must be at least 27, what the first 2 pulls of each arm cost, got"),
        ({"price": PRICES, "spend": 0}, "spend must be a finite number above 0, got 0"),
        ({"spend": math.nan}, "spend must be a finite number above 0, got nan"),
        ({"spend": 100, "policy": "ege-sr"}, "policy must be evidence where money is the goal"),
        ({"price": PRICES, "spend": 100, "delta": 0.1}, "epsilon must be given for a fixed confidence"),
    ],
)
def test_what_cannot_be_meant(options: dict[str, Any], words: str) -> None:
    goal = {} if "spend" in options else {"epsilon": 0.1}
    with pytest.raises((InvalidSpec, ramgape.UnknownName), match=words):
        identify(pull, list(MEANS), **BOUNDED, **goal, **options)


def test_first_pulls_may_cost_all_there_is() -> None:
    result = identify(pull, list(MEANS), **BOUNDED, price=PRICES, spend=27, seed=1)
    assert (result.samples, result.spent, result.stopped, result.goal_reached) == (6, 27.0, "spend", True)


# --- rules --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("price", [1.0, 3.7, dict.fromkeys(TEN, 0.1)])
@pytest.mark.parametrize(
    "options",
    [
        {"epsilon": 0.05},
        {"epsilon": 0.05, "policy": "ramgape", "bound": "empirical-bernstein"},
        {"epsilon": 0.05, "task": "best"},
        {"budget": 400},
        {"budget": 400, "task": "top:2"},
        # These take the compiler longer.
        pytest.param({"epsilon": 0.1, "task": "better-than:control=3"}, marks=pytest.mark.long),
        pytest.param({"budget": 300, "policy": "ra-lucb", "epsilon": 0.1}, marks=pytest.mark.long),
        pytest.param({"epsilon": 0.1, "interleave": True}, marks=pytest.mark.long),
    ],
    ids=str,
)
def test_equal_prices_change_nothing(options: dict[str, Any], price: Any) -> None:
    """To the last bit: neither what is pulled nor what is found."""
    spec = simulated_spec(load_instance("paper:46"), **options)
    one, two = Engine(spec), Engine(simulated_spec(load_instance("paper:46"), price=price, **options))
    sampler = load_instance("paper:46").sampler()
    for engine in (one, two):
        engine.advance(sampler, np.random.default_rng(5), 3_000)
    for column in one.arms.dtype.names or ():
        if column != "price":
            assert one.arms[column].tobytes() == two.arms[column].tobytes(), column


def two_coins() -> ramgape.Instance:
    """A cheap one and a dear one, with equal variances."""
    arms = tuple(ramgape.Arm(name, ramgape.Bernoulli(p)) for name, p in (("cheap", 0.46), ("dear", 0.54)))
    return ramgape.Instance("two", arms, reward_range=(0.0, 1.0), noise="bounded")


@pytest.mark.parametrize(
    "options",
    [
        pytest.param({"policy": "ramgape", "bound": "empirical-bernstein", "epsilon": 0}, marks=pytest.mark.long),
        {"policy": "evidence", "bound": "pairwise", "epsilon": 0},
        pytest.param({"budget": 5_000}, marks=pytest.mark.long),
    ],
    ids=["ramgape", "evidence", "budget"],
)
def test_a_dear_arm_is_pulled_less(options: dict[str, Any]) -> None:
    """T is in proportion to 1 / sqrt(price): 3.16 to 1 at 10 to 1, a share of 0.76 in place of a half.

    The share has a standard deviation of less than 0.05 in a run, and of less than 0.01 on average over 30: the limits
    are five of these away (seeded; a chance below 1e-6 if it were not).
    """
    price, known = {"cheap": 1.0, "dear": 10.0}, {"task": "best", **options}
    aware, blind = replicate(two_coins(), runs=30, price=price, **known), replicate(two_coins(), runs=30, **known)
    shares = [[run.pulls["cheap"] / run.samples for run in each.runs] for each in (aware, blind)]
    assert 0.70 < statistics.fmean(shares[0]) < 0.82
    assert 0.45 < statistics.fmean(shares[1]) < 0.55
    paid = [sum(price[arm] * pulls for arm, pulls in run.pulls.items()) for run in aware.runs]
    assert [run.spent for run in aware.runs] == pytest.approx(paid)


@pytest.mark.long
def test_knowing_prices_saves_money() -> None:
    """In theory a pair costs 0.79 of what it costs a rule that is blind to prices; benchmarks/prices.py has more arms.

    In 300 runs each the ratio is measured with an error of 0.026, five of which lie between 0.74, its value in 800, and
    0.92 (seeded; a chance below 1e-6 if it were not).
    """
    price, costs = {"cheap": 1.0, "dear": 10.0}, []
    options: dict[str, Any] = {"policy": "ramgape", "bound": "empirical-bernstein", "epsilon": 0, "task": "best"}
    for known in ({}, {"price": price}):
        runs = replicate(two_coins(), runs=300, **options, **known).runs
        costs.append(statistics.fmean(sum(price[arm] * pulls for arm, pulls in run.pulls.items()) for run in runs))
    assert costs[1] < 0.92 * costs[0], costs


# --- money ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"epsilon": 0.01},
        {"epsilon": 0.01, "policy": "ramgape", "bound": "empirical-bernstein"},
        pytest.param({"epsilon": 0.01, "policy": "ra-lucb"}, marks=pytest.mark.long),
        {"epsilon": 0.01, "policy": "round-robin"},
        pytest.param({"epsilon": 0.01, "interleave": True}, marks=pytest.mark.long),
        {"interleave": True},
        {"task": "best"},
        {"budget": 100},
    ],
    ids=str,
)
def test_no_more_is_spent_than_there_is(options: dict[str, Any]) -> None:
    """And as much as can be: what is left buys no pull. Both roads make the same pulls."""
    dice = random.Random(7)
    instance = load_instance("paper:46")
    for seed in range(12):
        price = {name: round(dice.choice((0.1, 0.3, 1.0, 10.0)) * dice.uniform(0.5, 2.0), 2) for name in TEN}
        spend = 2.0 * sum(price.values()) * dice.uniform(1.0, 6.0)
        engines = [Engine(simulated_spec(instance, price=price, spend=spend, **options), seed) for _ in range(2)]
        sampler, generators = instance.sampler(), [np.random.default_rng(seed) for _ in range(2)]
        while engines[0].stopped is None:
            engines[0].advance(sampler, generators[0], 1_000)
        while (arm := engines[1].ask()) is not None:
            engines[1].tell(arm, sampler.draw(sampler.parameters, sampler.values, arm, generators[1]))
        assert engines[0].arms.tobytes() == engines[1].arms.tobytes()
        assert engines[0].stopped == engines[1].stopped
        spent = engines[0].spent or 0.0
        assert spent <= spend * (1.0 + 1e-9)
        if engines[0].stopped == "spend":
            assert spend - spent < min(price.values())


def test_ten_times_a_tenth_is_one() -> None:
    """Sums are rounded, and nobody loses a pull by that."""
    for price, count in ((0.1, 10), (0.7, 1_000), (1 / 3, 300)):
        result = identify(pull, ["A", "B"], **BOUNDED, price=price, spend=price * count, seed=1)
        assert result.samples == count


def test_a_cap_in_money() -> None:
    result = identify(pull, list(MEANS), **BOUNDED, epsilon=0.001, price=PRICES, spend=20_000, seed=1)
    assert (result.stopped, result.goal_reached, result.goal.spend) == ("spend", False, 20_000.0)
    assert result.guarantee.startswith("Undecided: the money, 20000 in all, did not last until the goal.")
    enough = identify(pull, list(MEANS), **BOUNDED, epsilon=0.3, price=PRICES, spend=1e6, seed=1, task="best")
    assert (enough.stopped, enough.goal_reached) == ("confidence", True)
    assert enough.spent == sum(PRICES[arm.name] * arm.pulls for arm in enough.arms)


def test_spending_is_shown() -> None:
    result = identify(pull, list(MEANS), **BOUNDED, price=PRICES, spend=500, seed=1)
    assert result.spent == sum(arm.spent or 0.0 for arm in result.arms) <= 500.0
    assert [arm.price for arm in result.arms] == [1.0, 10.0, 2.5]
    assert f"Spent: {result.spent:g} of 500: A " in " ".join(result.explain().split())
    (header,) = [line.split() for line in str(result).splitlines() if line.split()[:1] == ["option"]]
    assert "spent" in header
    assert ramgape.Result.from_dict(json.loads(json.dumps(result.to_dict()))) == result
    assert list(result.to_frame()[["price", "spent"]].iloc[1]) == [10.0, result.arm("B").spent]
    plain = identify(pull, list(MEANS), **BOUNDED, budget=20, seed=1)
    assert plain.spent is plain.arms[0].spent is plain.arms[0].price is None
    assert "spent" not in str(plain).lower()
    assert not {"price", "spent"} & set(plain.to_frame().columns)
    assert "Spent:" in str(replicate("paper:46", runs=3, spend=300, price=TEN))
    assert simulate("paper:46", spend=300, price=TEN).spent == 300.0


# --- studies ----------------------------------------------------------------------------------------------------------


def work(study: Study, wanted: int = 3, told: bool = False, most: int = 10**9) -> None:
    """Make pulls, some at a time."""
    made = 0
    while made < most and (pulls := study.ask(wanted)):
        for each in pulls:
            price = price_of(each.arm, each.seed) if told else None
            study.tell(each, reward_of(each.arm, each.seed), price=price)
            made += 1


def test_what_is_under_way_is_paid_for(storage: str | None) -> None:
    with Study.create("money", list(MEANS), storage=storage, **BOUNDED, price=PRICES, spend=120, seed=2) as study:
        pending: list[ramgape.Pull] = []
        while True:
            pulls = study.ask(4)
            pending += pulls
            report = study.report(expect=False)
            promised = sum(PRICES[each.arm] for each in pending)
            assert (report.result.spent or 0.0) + promised <= 120.0
            if not pulls:
                break
            for _ in range(2):
                each = pending.pop(0)
                study.tell(each, reward_of(each.arm, each.seed))
        assert not study.done
        study.tell_many([(each, reward_of(each.arm, each.seed)) for each in pending])
        assert study.done
        assert study.result().stopped == "spend"
        with pytest.raises(ramgape.BudgetSpent, match=r"of the money, 120 in all, .* are left, got 10"):
            study.observe("B", 1.0)
        with pytest.raises(ramgape.BudgetSpent, match="of the money"):
            study.import_csv(io.StringIO("arm,reward\n" + "A,1\n" * 100))
        assert study.report().told == study.result().samples


def test_told_prices_steer_by_their_mean(storage: str | None) -> None:
    """And whoever opens the study anew knows the same."""
    with Study.create("told", list(MEANS), storage=storage, **BOUNDED, spend=400, task="best", seed=2) as study:
        work(study, told=True)
        result = study.result()
        assert result.stopped == "spend"
        told = {arm.name: (arm.price, arm.spent) for arm in result.arms}
        for name, (price, spent) in told.items():
            assert price == pytest.approx(PRICES[name], rel=0.5)
            assert spent == pytest.approx((price or 0.0) * result.arm(name).pulls)
        # Up to three pulls at a time, each of which may cost 1.5 times its usual price, less what was reserved.
        assert 400.0 - 1.5 < (result.spent or 0.0) < 400.0 + 3 * 0.5 * 10.0
        assert result.arm("A").pulls > 2 * result.arm("B").pulls
        if storage is not None:
            with Study.load("told", storage) as again:
                assert again.result() == result
                assert again.report() == study.report()
        else:
            study.backend.session._state = None
            assert study.result() == result


def test_told_prices_and_snapshots(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "SNAPSHOT_EVERY", 50)
    url = f"sqlite:///{tmp_path}/studies.db"
    with Study.create("told", list(MEANS), storage=url, **BOUNDED, spend=1_000, task="best", seed=2) as study:
        study.backend.session._interval = 50
        work(study, told=True, most=130)
        result = study.result()
        with Study.load("told", url) as again:
            assert again.result() == result
            assert again.backend.session._snapshot_at > 0  # it was used
            work(study, told=True, most=20)
            assert again.result() == study.result()


def test_prices_where_none_are_told() -> None:
    for options, why in (
        ({"budget": 9}, "there are none: price='told'"),
        ({"budget": 9, "price": 2}, "they are stated"),
    ):
        with Study.create("plain", list(MEANS), **BOUNDED, **options) as study:
            (first,) = study.ask()
            for attempt in (
                partial(study.tell, first, 0.5, price=1.0),
                partial(study.tell_many, [(first, Outcome(0.5, price=1.0))]),
                partial(study.observe, "A", 0.5, price=1.0),
                partial(study.import_csv, io.StringIO("arm,reward,price\nA,0.5,1\n")),
            ):
                with pytest.raises(InvalidReward, match=f"price must be absent where prices are not told .{why}"):
                    attempt()
            assert study.report().told == 0
        with pytest.raises(InvalidReward, match="price must be absent"):
            identify(lambda arm: Outcome(0.5, price=1.0), list(MEANS), **BOUNDED, **options)
    with Study.create("told", list(MEANS), **BOUNDED, budget=9, price="told") as study:
        (first,) = study.ask()
        for price in (-1.0, math.nan, math.inf, "much", True):
            with pytest.raises(InvalidReward, match="price must be a number from 0 to"):
                study.tell(first, 0.5, price=price)  # type: ignore[arg-type]
        assert study.tell(first, 0.5, price=0)  # what is free is free
        assert study.tell(first, 0.5, price=0.0)
        assert study.tell(first, 0.5)
        with pytest.raises(
            ramgape.ChangedAnswer, match=r"the price of pull .* must be 0.0, as reported before, got 2.0"
        ):
            study.tell(first, 0.5, price=2.0)
        assert study.result().spent == 0.0
        study.observe("B", 0.5)
        study.observe("B", 0.25, price=3.0)
        assert (study.result().arm("B").spent, study.result().spent) == (6.0, 6.0)  # one of them at the usual price


def test_a_study_begins_with_what_is_paid_already(url: str) -> None:
    options: dict[str, Any] = {**BOUNDED, "storage": url, "spend": 30.0}
    with pytest.raises(ramgape.BudgetSpent, match="of the money, 30 in all"):
        Study.create("data", list(MEANS), price=PRICES, data=[("B", 0.5)] * 4, **options)
    with pytest.raises(ramgape.RamgapeError):
        Study.load("data", url)  # nothing was made
    with Study.create("data", list(MEANS), price=PRICES, data=[("B", 0.5)] * 2, **options) as study:
        assert study.result().spent == 20.0
    with Study.create("told", list(MEANS), data=[{"arm": "A", "reward": 0.5, "price": 2.5}], **options) as study:
        assert study.result().spent == 2.5


def test_money_asks_for_every_price() -> None:
    """Where prices are told and limited, an answer without one would never end a search."""
    words = "price must be told with every answer, since spend limits their sum, got None"
    with pytest.raises(InvalidReward, match=words):
        identify(pull, list(MEANS), **BOUNDED, spend=5, seed=1)
    study = Study.create("told", list(MEANS), **BOUNDED, spend=5, retries=0)
    (first,) = study.ask()
    for attempt in (partial(study.tell, first, 0.5), partial(study.observe, "A", 0.5)):
        with pytest.raises(InvalidReward, match=words):
            attempt()
    with pytest.raises(InvalidReward, match=f"standard input, line 2: {words}"):
        study.import_csv(io.StringIO("arm,reward\nA,0.5\n"))
    with pytest.raises(ramgape.FailingArm, match=words):
        study.run(pull, progress=False)


def test_held_back_answers_keep_their_prices(storage: str | None) -> None:
    options: dict[str, Any] = {**BOUNDED, "budget": 20, "price": "told", "in_order": True, "policy": "round-robin"}
    with Study.create("held", ["A", "B"], storage=storage, **options) as study:
        first, second, third = study.ask(6)[:3]
        assert [each.arm for each in (first, second, third)] == ["A", "B", "A"]
        study.tell(third, 0.5, price=2.0, info={"model": "x"})
        study.tell(second, 0.75, price=4.0)
        assert study.report().held == 2
        study.tell(first, 0.25, price=1.0)
        assert study.result().arm("A").spent == 3.0
        text = io.StringIO()
        study.export_jsonl(text)
        rows = [json.loads(line) for line in text.getvalue().splitlines()]
        found = [(row["price"], row.get("info")) for row in rows]
        assert found == [(1.0, None), (4.0, None), (2.0, {"model": "x"})]
        assert study.report().info == {"model": {"x": 1}}
        assert "Info: with the last results: model x (1)" in " ".join(str(study.report()).split())


@pytest.mark.parametrize(
    "info", [1, [1], "text", {"a": math.nan}, {1: 2}, {"a": {1, 2}}, {"a": "\ud800"}, {"a": "x" * 10_000}]
)
def test_what_is_no_info(info: Any) -> None:
    with Study.create("plain", ["A", "B"], **BOUNDED, budget=9) as study:
        with pytest.raises(InvalidReward, match="info must be a mapping of what JSON has"):
            study.observe("A", 0.5, info=info)
        assert study.report().told == 0


def test_more_money(storage: str | None) -> None:
    options: dict[str, Any] = {**BOUNDED, "price": PRICES, "seed": 2}
    with (
        Study.create("money", list(MEANS), storage=storage, spend=100, **options) as study,
        Study.create("more", list(MEANS), spend=300, **options) as other,
    ):
        work(study)
        work(other, most=study.report().told)
        for wrong, words in ((99, "at least 100, the money until now"), (math.inf, "a finite number")):
            with pytest.raises(InvalidSpec, match=words):
                study.extend(spend=wrong)
        assert study.extend(spend=300)
        assert not study.done
        work(study)
        assert study.result().stopped == "spend"
        assert 290.0 < (study.result().spent or 0.0) <= 300.0
        assert "from 100 to spend (reached)" in " ".join(study.result().explain().split())
        with pytest.raises(InvalidSpec, match="given one of epsilon, budget and spend"):
            study.extend(spend=400, budget=9)
    plain = Study.create("plain", list(MEANS), **BOUNDED, epsilon=0.1)
    with pytest.raises(InvalidSpec, match="spend must be absent for a study that may spend whatever it takes"):
        plain.extend(spend=5)


def test_more_money_leaves_the_proof_as_it_is() -> None:
    """At epsilon 0 answers are fixed beforehand; that there is more money is no other question."""
    options: dict[str, Any] = {**BOUNDED, "epsilon": 0.0, "task": "pareto", "price": 1.0, "seed": 3}
    study = Study.create("money", list(MEANS), spend=200, **options)
    other = Study.create("more", list(MEANS), spend=2_000, **options)
    work(study)
    assert not study.result().goal_reached
    study.extend(spend=2_000)
    work(study)
    work(other)
    assert study.spec.search.is_extended is False
    assert study.result().front == other.result().front
    assert study.result().samples == other.result().samples


def test_outcomes_of_a_run() -> None:
    def trial(arm: str, rng: np.random.Generator) -> Outcome:
        return Outcome(pull(arm, rng), price=PRICES[arm], info={"arm": arm})

    with Study.create("run", list(MEANS), **BOUNDED, spend=100, seed=1) as study:
        result = study.run(trial, progress=False)
        assert result.spent == 100.0
        assert set(study.report().info["arm"]) == set(MEANS)
    bad = Study.create("bad", list(MEANS), **BOUNDED, spend=100, seed=1, retries=0)
    with pytest.raises(ramgape.FailingArm, match="price must be a number"):
        bad.run(lambda arm: Outcome(0.5, price=-1.0), progress=False)


# --- commands ---------------------------------------------------------------------------------------------------------


def test_commands(tmp_path: Path) -> None:
    storage = ("--storage", f"sqlite:///{tmp_path}/studies.db")
    arms = ("--arm", "A", "--arm", "B", "--reward-range", "0", "1")
    made = call_json("study", "create", "stated", *arms, "--price", "A=1,B=10", "--spend", "40", *storage)
    assert made["goal"]["spend"] == 40.0
    while pulls := call_json("study", "ask", "stated", "--count", "5", *storage)["pulls"]:
        for each in pulls:
            call_json("study", "tell", "stated", each["id"], "0.5", *storage)
    shown = call_json("study", "show", "stated", *storage)
    prices = [arm["price"] for arm in shown["details"]["arms"]]
    assert (shown["details"]["spent"], shown["settings"]["stopped"], prices) == (40.0, "spend", [1.0, 10.0])
    assert "Spent" in call("study", "show", "stated", "--explain", *storage).stdout
    assert call_json("study", "extend", "stated", "--spend", "60", *storage)["spend"] == 60.0
    call_json("study", "create", "told", *arms, "--spend", "40", *storage)
    (each,) = call_json("study", "ask", "told", *storage)["pulls"]
    more = ("--price", "0.25", "--info", '{"model_version": "3.1"}')
    assert call_json("study", "tell", "told", each["id"], "0.5", *more, *storage)["accepted"]
    call_json("study", "observe", "told", "B", "0.5", "--price", "0.5", *storage)
    shown = call_json("study", "show", "told", *storage)
    assert (shown["details"]["spent"], shown["study"]["info"]) == (0.75, {"model_version": {"3.1": 1}})
    assert "info must be a JSON object, got '{'" in complaint(
        "study", "observe", "told", "B", "1", "--info", "{", *storage
    )
    assert "price must be written NAME=NUMBER" in complaint("simulate", "paper:46", "--price", "1=2,3")
    assert "each arm in price must be one of" in complaint("simulate", "paper:46", "--price", "A=2")
    priced = ("--price", ",".join(f"{name}={price}" for name, price in TEN.items()))
    assert call_json("simulate", "paper:46", "--spend", "200", *priced)["runs"][0]["spent"] == 200.0
    assert call_json("simulate", "paper:46", "--budget", "50", "--price", "0.5")["runs"][0]["spent"] == 25.0


def test_study_files(tmp_path: Path) -> None:
    file = tmp_path / "cheap.toml"
    text = '[study]\nreward_range = [0, 1]\nspend = 30\n{}\n[arms]\nA = "echo 0.5"\nB = "echo 0.25"\n{}'
    storage = ("--storage", f"sqlite:///{tmp_path}/studies.db")
    for place, (inside, apart) in enumerate((("price = {A = 1, B = 10}", ""), ("", "[price]\nA = 1\nB = 10\n"))):
        file.write_text(f"{text.format(inside, apart)}".replace("[study]", f'[study]\nname = "s{place}"'))
        assert call_json("run", str(file), *storage)["details"]["spent"] == 30.0
    file.write_text(text.format("price = 2", "[price]\nA = 1\nB = 10\n"))
    assert "price must be given once, in [study] or as a table of its own" in complaint("run", str(file), *storage)
