"""Studies: ask, tell, fail, leases, workers, and what survives; in memory, on SQLite and on PostgreSQL."""

from __future__ import annotations

import dataclasses
import io
import json
import math
import pickle
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ramgape
from ramgape import Study, identify
from ramgape.search.engine import CROWD
from ramgape.search.result import updated
from ramgape.studies import report
from ramgape.studies.exchange import DEFAULT_LEASE
from tests.stores import HERE
from tests.support import POLICIES, Clock, can_run

ARMS = ["steady", "wild", "poor"]
SHAPES = {"steady": (40.0, 40.0), "wild": (0.4, 0.2), "poor": (1.0, 3.0)}
OPTIONS: dict[str, Any] = {"reward_range": (0, 1), "epsilon": 0.05}

in_a_database = pytest.mark.parametrize("storage", ["sqlite", "postgresql", "http"], indirect=True)


def reward_of(arm: str, seed: int) -> float:
    return float(np.random.default_rng(seed).beta(*SHAPES[arm]))


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """For leases."""
    found = Clock()
    found.rule(monkeypatch)
    return found


@pytest.fixture
def create(storage: str | None) -> Iterator[Callable[..., Study]]:
    made: list[Study] = []

    def make(name: str = "models", arms: Any = ARMS, **options: Any) -> Study:
        if "budget" not in options:
            options = OPTIONS | options
        options = {"seed": 1} | options
        study = Study.create(name, arms, storage=storage, **({"reward_range": (0, 1)} | options))
        made.append(study)
        return study

    yield make
    for study in made:
        study.close()


def others(study: Study, storage: str | None) -> Study:
    """The same study as another process would see it."""
    return study if storage is None else Study.load(study.name, storage)


def finish(study: Study, seed_of: Callable[[Any], int] = lambda pull: pull.seed) -> None:
    while not study.done:
        for pull in study.ask():
            study.tell(pull, reward_of(pull.arm, seed_of(pull)))


# --- ask and tell ------------------------------------------------------------------------------------------------


def test_a_whole_study(create: Callable[..., Study], storage: str | None) -> None:
    study = create()
    (first,) = study.ask(1)
    assert first.arm == "steady"
    study.tell(first, reward_of(first.arm, first.seed))
    finish(study)
    assert study.ask(5) == []
    result = study.result()
    assert result.front == ("steady", "wild")
    assert result.goal_reached
    assert result.stopped == "confidence"
    assert result.expected is None
    again = others(study, storage)
    assert again.done
    assert again.result() == result
    report = again.report()
    assert (report.told, report.pending, report.failed, report.done) == (result.samples, 0, 0, True)


ROADS: list[tuple[str, dict[str, Any]]] = [
    *((policy, goal) for goal in ({"budget": 60}, {"epsilon": 0.08}) for policy in POLICIES if can_run(policy, **goal)),
    *((policy, {"epsilon": 0.08, "bound": "pairwise", "rho": 0.01}) for policy in ("ramgape", "evidence", "ra-lucb")),
]


@pytest.mark.parametrize(("policy", "goal"), ROADS, ids=str)
def test_the_roads_agree_also_through_a_store(policy: str, goal: dict[str, Any], tmp_path: Path) -> None:
    """Ask and tell on a study that is opened anew after every few pulls is what `identify` does in one go."""
    options = {"reward_range": (0, 1), "max_trials": 150, "policy": policy, **goal}
    made: list[str] = []

    def pull(arm: str) -> float:
        made.append(arm)
        return reward_of(arm, len(made))

    expected = identify(pull, ARMS, **options)
    storage = f"sqlite:///{tmp_path / 'studies.db'}"
    study = Study.create("road", ARMS, storage=storage, **options)
    asked: list[str] = []
    while not study.done:
        (each,) = study.ask()
        asked.append(each.arm)
        study.tell(each, reward_of(each.arm, len(asked)))
        if len(asked) % 11 == 0:
            study.close()
            study = Study.load("road", storage)
    assert asked == made
    study.close()
    for found in (study.result(), Study.load("road", storage).result()):
        assert updated(found, seed=None) == expected


def test_several_under_way_go_to_several_arms(create: Callable[..., Study]) -> None:
    """Unless an arm has had many pulls for each: a few more tell hardly less there than one by one."""
    had: Counter[str] = Counter()
    study = create(arms=["a", "b", "c", "d"], epsilon=0.01, in_order=False)
    generator = np.random.default_rng(1)
    for _ in range(60):
        pulls = study.ask(16)
        for arm, count in Counter(pull.arm for pull in pulls).items():
            # Half of them, and every other one of the rest: there the rule has its way.
            assert count <= 0.75 * 16 or CROWD * (count - 1) <= had[arm]
        had.update(pull.arm for pull in pulls)
        generator.shuffle(pulls)  # type: ignore[arg-type]
        study.tell_many([(pull, generator.beta(2, 2)) for pull in pulls])
    assert study.report().told == 960


def test_a_budget_is_never_exceeded(create: Callable[..., Study], storage: str | None) -> None:
    study = create(budget=20)
    first, second = study.ask(15), others(study, storage).ask(15)
    assert len(first) + len(second) == 20
    assert study.ask(3) == []
    assert not study.done
    with pytest.raises(
        ramgape.BudgetSpent, match=r"budget of 20 trials has room for 0 more \(0 completed, 20 in progress"
    ):
        study.observe("poor", 0.5)
    study.tell_many([(pull, 0.5) for pull in first + second])
    assert study.done
    assert study.report().told == 20
    with pytest.raises(ramgape.BudgetSpent, match="room for 0"):
        study.observe("poor", 0.5)
    assert study.result().samples == 20


def test_late_answers_are_recorded_and_change_nothing(create: Callable[..., Study], storage: str | None) -> None:
    study = create(in_order=False)
    late = study.ask(3)
    while not study.done:
        for pull in study.ask(1):
            study.tell(pull, reward_of(pull.arm, pull.seed))
    result = study.result()
    assert study.tell(late[0], 0.5).accepted
    study.observe("poor", 1.0)
    report = others(study, storage).report()
    assert report.late == 2
    assert report.told == result.samples + 2
    assert study.done
    assert report.result == study.result() == result


def test_the_first_answer_wins(create: Callable[..., Study], storage: str | None, clock: Clock) -> None:
    study, other = (made := create()), others(made, storage)
    (slow,) = study.ask(lease=10)
    assert [pull.id for pull in other.ask(2)] != [slow.id]
    clock.passes(11)
    (again,) = other.ask()
    assert again.id == f"{slow.id}.2"
    assert again.arm == slow.arm
    assert again.seed != slow.seed
    assert other.tell(again, 0.25).accepted
    answer = study.tell(slow, 0.75)
    assert not answer.accepted
    assert not answer
    assert study.tell(again, 0.25).accepted  # the same again, after a lost reply
    with pytest.raises(ramgape.ChangedAnswer, match=rf"pull {again.id} must be 0.25, as reported before, got 0.5"):
        study.tell(again, 0.5)
    assert not study.fail(slow, "too late").accepted
    report = study.report()
    assert (report.told, report.held, report.pending, report.failed) == (0, 1, 2, 0)  # the two others come first


def test_an_old_attempt_may_still_be_first(create: Callable[..., Study], clock: Clock) -> None:
    study = create()
    (slow,) = study.ask(lease=10)
    clock.passes(10)
    (again,) = study.ask(lease=10)
    assert study.tell(slow, 0.75).accepted
    assert not study.tell(again, 0.25).accepted
    assert study.report().told == 1


def test_a_worker_gets_its_own_back(create: Callable[..., Study], storage: str | None, clock: Clock) -> None:
    study = create()
    mine = study.ask(2, worker="node 1")
    restarted = others(study, storage)
    assert restarted.ask(2, worker="node 1") == mine
    assert restarted.ask(1, worker="node 1") == mine[:1]
    more = restarted.ask(3, worker="node 1")
    assert more[:2] == mine
    assert len(more) == 3
    anonymous = study.ask(2)
    assert not {pull.id for pull in anonymous} & {pull.id for pull in more}
    study.tell(mine[0], 0.5)
    assert restarted.ask(2, worker="node 1") == more[1:]
    clock.passes(DEFAULT_LEASE + 1)
    assert [pull.id for pull in restarted.ask(2, worker="node 1")] == [pull.id for pull in more[1:]]
    assert [pull.id for pull in study.ask(2, worker="node 2")] == [f"{pull.id}.2" for pull in anonymous]


def test_leases_can_be_renewed_and_given_back(create: Callable[..., Study], clock: Clock) -> None:
    study = create()
    first, second = study.ask(2, lease=10)
    clock.passes(8)
    assert study.renew([first, second], lease=10) == [True, True]
    clock.passes(8)
    (third,) = study.ask(lease=None)
    assert "." not in third.id
    assert study.give_back(second)
    (again,) = study.ask()
    assert again.id == f"{second.id}.2"
    assert study.renew([first, second], lease=10) == [True, False]
    assert not study.give_back(second)
    clock.passes(1e9)
    assert {pull.id for pull in study.ask(2)} == {f"{first.id}.2", f"{second.id}.3"}
    assert study.report().failed == 0


# --- failures ----------------------------------------------------------------------------------------------------


def test_failures_are_counted_and_tried_again(create: Callable[..., Study], storage: str | None) -> None:
    study = create(retries=2)
    (pull,) = study.ask()
    seeds = {pull.seed}
    for attempt in (2, 3):
        assert study.fail(pull, f"attempt {attempt - 1} \0 crashed").accepted
        assert study.fail(pull, "told twice").accepted
        (pull,) = others(study, storage).ask()
        assert pull.id.endswith(f".{attempt}")
        seeds.add(pull.seed)
    assert len(seeds) == 3
    assert study.fail(pull, "out of memory").accepted
    report = others(study, storage).report()
    assert (report.told, report.pending, report.failed, report.given_up) == (0, 0, 3, 1)
    assert report.arms_failed == {"steady": 3, "wild": 0, "poor": 0}
    assert [failure.reason for failure in report.failures] == [
        "attempt 1 \\0 crashed",
        "attempt 2 \\0 crashed",
        "out of memory",
    ]
    with pytest.raises(ramgape.FailingArm, match=r"'steady' has failed 3 times in a row .*out of memory"):
        study.ask()
    assert study.retry() == 1
    (pull,) = study.ask()
    assert pull.arm == "steady"
    assert study.tell(pull, 0.5)
    assert study.report().told == 1
    assert study.report().result.arms[0].mean == 0.5


def test_what_was_given_up_may_still_be_answered(create: Callable[..., Study]) -> None:
    study = create(budget=6, retries=0)
    pulls = study.ask(6)
    study.fail(pulls[0])
    assert study.tell(pulls[0], 0.5).accepted  # it was not so bad after all
    study.fail(pulls[1])
    study.tell_many([(pull, 0.5) for pull in pulls[2:]])
    assert study.report().told == 5
    study.observe("wild", 0.25)  # takes its place
    assert study.done
    assert not study.tell(pulls[1], 0.5).accepted
    assert study.report().told == 6


def test_a_failure_as_the_worst_reward(create: Callable[..., Study], storage: str | None) -> None:
    for direction, worst in (("maximize", -1.0), ("minimize", 3.0)):
        study = create(f"{direction}d", reward_range=(-1, 3), direction=direction, failure="worst", epsilon=0.2)
        (pull,) = study.ask()
        assert study.fail(pull, "timeout").accepted
        report = others(study, storage).report()
        assert (report.told, report.pending, report.failed) == (1, 0, 1)
        assert report.result.arms[0].mean == worst
    with pytest.raises(ramgape.InvalidSpec, match="failure must be 'retry' for rewards without a range"):
        Study.create("x", ARMS, noise="gaussian", epsilon=1, failure="worst")


# --- bad input ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("reward", [math.nan, math.inf, -math.inf, 1.0000001, -1e-9, None, "0.5", 1j, [0.5], b"1"])
def test_what_is_no_reward(create: Callable[..., Study], reward: Any) -> None:
    study = create()
    (pull,) = study.ask()
    for attempt in (
        lambda: study.tell(pull, reward),
        lambda: study.tell_many([(pull, 0.5), (pull, reward)]),
        lambda: study.observe("poor", reward),
    ):
        with pytest.raises(ramgape.InvalidReward, match=r"reward must be a number from 0 to 1, got .* for arm '\w+'$"):
            attempt()
    assert study.report().told == 0
    assert study.tell(pull, 0.5)


def test_pulls_that_are_none(create: Callable[..., Study]) -> None:
    study, other = create(), create("other")
    (pull,), (foreign,) = study.ask(), other.ask()
    key = pull.id.split("-")[0]
    for wrong in (f"{key}-1", f"{key}-99", f"{pull.id}.2", f"{key}-{10**15}"):
        with pytest.raises(ramgape.UnknownPull, match=r"pull must be one that study 'models' has handed out, got"):
            study.tell(wrong, 0.5)
        with pytest.raises(ramgape.UnknownPull, match="handed out"):
            study.fail(wrong)
    with pytest.raises(ramgape.UnknownPull, match=rf"has handed out, got '{foreign.id}'; is it of another study"):
        study.tell(foreign, 0.5)
    for wrong in ("", "17", 17, None, f"{key}-", f"{key}-01", f"{key}-1.0", f"{key}-1 ", f"{key}-¹", f"{key}-{10**17}"):
        with pytest.raises(ramgape.UnknownPull, match="pull must be one that `ask` has given"):
            study.tell(wrong, 0.5)  # type: ignore[arg-type]
    with pytest.raises(ramgape.UnknownName, match="arm must be one of steady, wild, poor, got 'wilt'; did you mean"):
        study.observe("wilt", 0.5)
    with pytest.raises(ramgape.ChangedAnswer):
        study.tell_many([(pull, 0.5), (pull, 0.6)])
    assert study.report().told == 0
    assert [bool(answer) for answer in study.tell_many([(pull, 0.5), (pull, 0.5)])] == [True, True]
    assert study.report().told == 1
    assert study.tell_many([]) == []


def test_names(create: Callable[..., Study], storage: str | None) -> None:
    nasty = ["it's", 'a "b"', "c/d\\e", "🙂\N{ZERO WIDTH JOINER}🙂", "x" * 10_000, "a;drop table--", "%s {seed}", " "]
    for name in [*nasty[:4], "n" * 200, "a;drop table--", "%s"]:
        study = create(name, arms=nasty)
        (pull,) = study.ask()
        study.tell(pull, 0.5)
        again = others(study, storage)
        assert again.name == name
        assert again.arms == tuple(nasty)
        assert again.report().told == 1
        study.observe(nasty[4], 0.25)
        assert json.loads(study.report().to_json())["arms"][4]["objectives"]["mean(reward)"]["estimate"] == 0.25
    for wrong in ("", " ", "n" * 201, "n" * 10_000, "a\nb", "a\0b", "\ud800", 7, None):
        with pytest.raises(ramgape.InvalidSpec, match="name must be text of 1 to 200 characters") as caught:
            create(wrong)
        assert len(str(caught.value)) < 250
    with pytest.raises(ramgape.InvalidSpec, match="worker must be text"):
        study.ask(worker="")
    with pytest.raises(ramgape.InvalidSpec, match="arms must be names that are text"):
        create("halves", arms=["a", "\udc80"])
    for wrong in (0, -1, math.nan, math.inf, "10"):
        with pytest.raises(ramgape.InvalidSpec, match="lease must be a number of seconds above 0"):
            study.ask(lease=wrong)  # type: ignore[arg-type]
    for wrong in (0, -1, 1.5, "2", None):
        with pytest.raises(ramgape.InvalidSpec, match="count must be a whole number from 1 to 100,000"):
            study.ask(wrong)  # type: ignore[arg-type]


@in_a_database
def test_creating_again(create: Callable[..., Study], storage: str) -> None:
    study = create()
    study.ask(2)
    with pytest.raises(ramgape.StudyExists, match=r"name must be that of no other study in .*, got 'models'; load it"):
        create()
    assert create(exist_ok=True).report().pending == 2
    with pytest.raises(
        ramgape.StudyExists,
        match=r"epsilon is 0.05 in the store, 0.04 here; direction is 'maximize' in the store",
    ):
        create(exist_ok=True, epsilon=0.04, direction="minimize")
    with pytest.raises(ramgape.StudyExists, match=r"arms is \['steady', .*\] in the store, \['a', 'b'\] here"):
        create(exist_ok=True, arms=["a", "b"])
    with pytest.raises(ramgape.StudyExists, match=r"risk is std in the store, cvar:0.1 here"):
        create(exist_ok=True, risk="cvar:0.1")
    with pytest.raises(ramgape.StudyExists, match="retries is 3 in the store, 1 here"):
        create(exist_ok=True, retries=1)
    with pytest.raises(ramgape.UnknownStudy, match=r"\('models'\), got 'model'; did you mean 'models'\?"):
        Study.load("model", storage)
    create("another", budget=9)
    found = ramgape.list_studies(storage)
    assert [(each.name, each.told, each.pending, each.done) for each in found] == [
        ("another", 0, 0, False),
        ("models", 0, 2, False),
    ]
    assert json.dumps([each.to_dict() for each in found])
    ramgape.delete_study("models", storage)
    with pytest.raises(ramgape.UnknownStudy, match="models"):
        ramgape.delete_study("models", storage)
    with pytest.raises(
        ramgape.UnknownStudy, match=r"the study must still be in .*, got one that was deleted meanwhile"
    ):
        study.ask()
    assert [each.name for each in ramgape.list_studies(storage)] == ["another"]


@pytest.mark.parametrize(
    "options",
    [
        {"risk": ramgape.CVaR(level=1 / 3), "epsilon": (0.1, 0.1), "delta": 1e-3, "initial_trials": 3},
        {"noise": "gaussian", "reward_range": None, "epsilon": 1 / 3, "bound": "gaussian-paper", "sigma_max": 2.5},
        {"noise": "gaussian", "reward_range": None, "epsilon": 1 / 3, "risk": "cvar:0.1", "resolution": 0.01},
        {"budget": 100, "policy": "ramgape", "exploration": "sharp", "returned": "smallest-doubt", "rho": 0.1},
        {"direction": "minimize", "risk": "entropic:0.7", "reward_range": (-1e-3, 100), "epsilon": 10},
    ],
    ids=str,
)
def test_a_specification_survives(create: Callable[..., Study], storage: str | None, options: dict[str, Any]) -> None:
    study = create(**options)
    assert others(study, storage).spec == study.spec
    assert type(study.spec).from_text(study.spec.to_text()) == study.spec


# --- in and out --------------------------------------------------------------------------------------------------


def test_warm_start(create: Callable[..., Study]) -> None:
    study = create("pairs", data=[("poor", 0.1), ("wild", 1), ("poor", np.float32(0.5))])
    assert [arm.pulls for arm in study.result().arms] == [0, 1, 2]
    rows = [{"arm": "steady", "reward": 0.5, "more": None}] * 3
    assert create("mappings", data=iter(rows)).result().samples == 3
    assert create(
        "enough", data=[("wild", 0.9), ("poor", 0.1), ("poor", 0.9), ("wild", 0.9)] * 1000, arms=["wild", "poor"]
    ).done
    for wrong, message in (
        ([("poor", 0.1), ("pour", 0.1)], r"data\[1\]: arm must be one of"),
        ([("poor", 2.0)], r"data\[0\]: reward must be a number from 0 to 1, got 2.0 for arm 'poor'"),
        ([("poor",)], r"data\[0\]: a row of data must be a pair"),
        ([{"arm": "poor"}], r"data\[0\]: a row of data"),
        ([7], r"data\[0\]: a row"),
    ):
        with pytest.raises(ramgape.RamgapeError, match=message):
            create("wrong", data=wrong)
    assert create("wrong").result().samples == 0  # nothing was made


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_export_and_import_lose_nothing(
    create: Callable[..., Study], storage: str | None, tmp_path: Path, form: str
) -> None:
    arms = ["plain", 'quo"te, comma', "new\nline", "🙂"]
    study = create("first", arms=arms, failure="worst", reward_range=(-1e100, 1e100), epsilon=1e90)
    values = [0.1, 5e-324, -0.0, 1e100, 1 / 3, -1e-17]
    for place, value in enumerate(values):
        (pull,) = study.ask(worker=None if place % 2 else "node, 1")
        study.tell(pull, value)
    study.fail(study.ask()[0], "broken")
    study.observe("🙂", 2.5)
    out, back = tmp_path / f"out.{form}", tmp_path / f"back.{form}"
    assert getattr(study, f"export_{form}")(out) == 8
    second = create("second", arms=arms, reward_range=(-1e100, 1e100), epsilon=1e90)
    assert getattr(second, f"import_{form}")(out) == 8
    assert getattr(second, f"export_{form}")(back) == 8
    assert out.read_bytes() == back.read_bytes()
    assert others(second, storage).result().arms == study.result().arms


def test_import_takes_all_or_nothing(create: Callable[..., Study], tmp_path: Path) -> None:
    study, path = create(), tmp_path / "data.csv"
    for text, message in (
        ("", "must begin with a header, got an empty file"),
        ("arm,score,cost\npoor,1,2\n", "reward_column must name the column .* 2 numeric columns \\(score, cost\\)"),
        ("arm,reward\npoor,0.5\npoor,x\n", "line 3: reward must be a number, got 'x' for arm 'poor'$"),
        ("arm,reward\npoor,0.5\npoor,nan\n", "line 3: reward must be a number from 0 to 1, got nan for arm 'poor'$"),
        ("arm,reward\npoor,0.5\npoor\n", "line 3 must have 2 cells, got 1"),
        ("arm,reward\npoor,0.5\nrich,0.5\n", "line 3: arm must be one of"),
        ('arm,reward\n"poor,0.5\n', "must be CSV"),
        ("arm,reward,told_at\npoor,0.5,yesterday\n", "told_at must be a time"),
    ):
        path.write_text(text)
        with pytest.raises(ramgape.RamgapeError, match=message):
            study.import_csv(path)
        assert study.report().told == 0
    path.write_bytes(b"arm,reward\npoor,\xff\n")
    with pytest.raises(ramgape.InvalidSpec, match="must be text in UTF-8, got byte 0xff"):
        study.import_csv(path)
    for text, message in (('{"arm": "poor"}\n', "reward_column must name"), ("[1]\n", "line 1 must be a JSON object")):
        path.write_text(text)
        with pytest.raises(ramgape.InvalidSpec, match=message):
            study.import_jsonl(path)
    for column in ("arm", "reward", "worker", "told_at"):
        path.write_text(f"arm,reward,worker,told_at,{column}\npoor,0.5,me,,0.5\n")
        with pytest.raises(ramgape.InvalidData, match=f"a column must be the name of one column of .*, got '{column}'"):
            study.import_csv(path)
    path.write_text("\ufeffModel,Score\r\npoor,0.5\r\nwild,1\r\n")
    assert study.import_csv(path, arm_column="Model", reward_column="Score") == 2
    assert study.report().told == 2
    with pytest.raises(FileNotFoundError):
        study.import_csv(tmp_path / "missing.csv")


WRONG_TYPES: dict[str, tuple[object, ...]] = {
    "worker": ({"a": 1}, ["a"], 10**23, 5, 0, 0.5, True, False, "a\0b", "\ud800", "line\nbreak", " ", "x" * 201),
    "pull": ({"a": 1}, ["a"], 10**23, 5, 0, 0.5, True, False, "a\0b", "\ud800", "line\nbreak", " ", "x" * 201),
    "arm": ({"a": 1}, ["poor"], None, True, 10**23, "po\0or"),
    "failed": ({"a": 1}, [], [True], 10**23, 2, 0.5, "yes", "\0"),
    "told_at": (0, False, [], {"a": 1}, 10**23, "\0", "yesterday", "0001-01-01T00:00:00+14:00",
                "9999-12-31T23:59:59.999999+00:00", "9999-12-31T23:00:00-14:00"),
    "reward": ({"a": 1}, ["0.5"], None, 10**23, "\0"),
}  # fmt: skip


def test_types_in_files_are_checked_before_a_store_sees_them(create: Callable[..., Study]) -> None:
    study, good = create(), {"arm": "poor", "reward": 0.5}
    for key, values in WRONG_TYPES.items():
        for value in values:
            lines = "".join(json.dumps(row) + "\n" for row in (good, good | {key: value}))
            with pytest.raises(ramgape.RamgapeError, match=f"line 2: {key} must be "):
                study.import_jsonl(io.StringIO(lines))
    assert study.report().told == 0
    for key, value in (("worker", ""), ("pull", None), ("failed", 1.0), ("told_at", ""), ("reward", 1)):
        study.import_jsonl(io.StringIO(json.dumps(good | {key: value}) + "\n"))
    assert study.report().told == 5


def test_a_key_that_stands_there_twice_is_refused(create: Callable[..., Study]) -> None:
    with pytest.raises(ramgape.InvalidSpec, match="line 1 must be a JSON object"):
        create().import_jsonl(io.StringIO('{"arm": "poor", "reward": 0.5, "reward": 1}\n'))


@pytest.mark.parametrize("given", [5, None, True, "x", [5], ["x"], [("x",)], np.array(1.0)], ids=str)
def test_what_are_no_pulls_and_no_answers(create: Callable[..., Study], given: Any) -> None:
    study = create()
    before = study.report().to_dict()
    for call in (study.tell_many, study.renew, study.exchange):
        with pytest.raises((ramgape.InvalidSpec, ramgape.UnknownPull)):
            call(given)
    with pytest.raises(ramgape.InvalidSpec, match="data"):
        create("other", data=5 if given is None else given)
    assert study.report().to_dict() == before


def test_what_is_no_path_is_refused(create: Callable[..., Study]) -> None:
    study = create()
    for given in (5, None, True, [], b"rows.csv", "a\0b"):
        for call in (study.import_csv, study.import_jsonl, study.export_csv, study.export_jsonl):
            with pytest.raises(ramgape.InvalidSpec, match=r"^path must be "):
                call(given)  # type: ignore[arg-type]


def test_a_result_ends_for_a_reason_that_there_is(create: Callable[..., Study]) -> None:
    study = create()
    assert study.result("interrupted").stopped == "interrupted"
    for ended in ("nope", "", None, []):
        with pytest.raises(ramgape.UnknownName, match=r"^ended must be one of confidence, budget, spend, cap"):
            study.result(ended)  # type: ignore[arg-type]


# --- running -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("workers", [1, 4])
def test_run(create: Callable[..., Study], workers: int) -> None:
    study = create()
    seen: list[ramgape.Progress] = []

    def pull(arm: str, rng: np.random.Generator) -> float:
        return rng.beta(*SHAPES[arm])

    result = study.run(pull, workers=workers, callback=seen.append)
    assert result.front == ("steady", "wild")
    assert study.done
    assert seen[-1].samples == result.samples
    assert study.report().pending == 0
    assert study.run(pull).samples == result.samples  # nothing left to do


def test_a_run_goes_on_after_an_interrupt(create: Callable[..., Study], storage: str | None) -> None:
    study = create()
    calls = 0

    def pull(arm: str) -> float:
        nonlocal calls
        calls += 1
        if calls == 10:
            raise KeyboardInterrupt
        return 0.5

    result = study.run(pull)
    assert result.stopped == "interrupted"
    assert result.samples == 9
    assert study.report().pending == 1
    again = others(study, storage).run(lambda arm: {"steady": 0.5, "wild": 0.7, "poor": 0.1}[arm])
    assert again.goal_reached
    report = study.report()
    assert (report.pending, report.failed) == (0, 0)


def test_a_callback_ends_a_run(create: Callable[..., Study]) -> None:
    result = create().run(lambda arm: 0.5, callback=lambda progress: progress.samples == 8)
    assert (result.stopped, result.samples) == ("callback", 8)


def test_exceptions_and_bad_rewards_are_failed_trials(create: Callable[..., Study]) -> None:
    study = create(retries=1, epsilon=0.3)
    calls: Counter[str] = Counter()

    def pull(arm: str) -> float:
        calls[arm] += 1
        if arm == "poor":
            return math.nan if calls[arm] % 2 else 7.0
        if arm == "wild" and calls[arm] == 1:
            raise ValueError("no luck")
        return 0.5

    with pytest.raises(
        ramgape.FailingArm, match=r"'poor' has failed 2 times .* InvalidReward: reward must be"
    ) as caught:
        study.run(pull)
    report = study.report()
    assert report.failed == 3
    assert report.arms_failed == {"steady": 0, "wild": 1, "poor": 2}
    assert report.pending == 0
    assert caught.value.partial_result.samples == report.told > 0
    assert study.retry() == 1
    assert study.run({"steady": 0.5, "wild": 0.9, "poor": 0.1}.__getitem__).goal_reached


def test_executors_and_slots(create: Callable[..., Study]) -> None:
    study = create(budget=40)
    at_once, most, lock = 0, 0, threading.Lock()
    gate = threading.Barrier(3, timeout=30)

    def pull(arm: str) -> float:
        nonlocal at_once, most
        with lock:
            at_once += 1
            most = max(most, at_once)
        if at_once == 3 and most == 3:
            gate.reset()
        with lock:
            at_once -= 1
        return 0.5

    with ThreadPoolExecutor(8) as pool:
        assert study.run(pull, workers=pool, slots=3).samples == 40
    assert most <= 3
    for wrong in (0, 1.5, "2", None):
        with pytest.raises(ramgape.InvalidSpec, match="workers must be a whole number of at least 1, or an Executor"):
            study.run(pull, workers=wrong)  # type: ignore[arg-type]
    with pytest.raises(ramgape.InvalidSpec, match="slots must be absent without an executor"):
        study.run(pull, slots=2)


def test_only_free_places_are_asked_for(create: Callable[..., Study], monkeypatch: pytest.MonkeyPatch) -> None:
    """Every pull is handed out once, however many are under way; also if somebody has a pull back to give."""
    study, made = create(budget=300), Counter[str]()
    (left,) = study.ask(1, "this one")
    usual = Study.exchange

    def counted(self: Study, *given: Any, **asked: Any) -> ramgape.Exchange:
        exchanged = usual(self, *given, **asked)
        if self is study:  # which a server in this process has open, too
            made.update(pull.id for pull in exchanged.pulls)
        return exchanged

    monkeypatch.setattr(Study, "exchange", counted)
    with ThreadPoolExecutor(1) as pool:
        assert study.run(lambda arm: 0.5, workers=pool, slots=100, worker="this one").samples == 300
    assert set(made.values()) == {1}
    assert made[left.id] == 1
    assert len(made) == 300


def test_what_a_worker_knows_it_has_is_not_given_to_it_again(create: Callable[..., Study], clock: Clock) -> None:
    """Not even when its lease has run out; others get it then."""
    study = create(budget=40)
    first, second = study.ask(2, "this one", 60.0)
    (third,) = study.exchange(known=[first], worker="this one", lease=60.0).pulls
    assert third == second
    clock.passes(100.0)
    given = list(study.exchange(count=2, known=[first, second], worker="this one", lease=60.0).pulls)
    assert len({pull.id.partition(".")[0] for pull in (first, second, *given)}) == 4
    assert [pull.id for pull in study.ask(2, "another")] == [f"{first.id}.2", f"{second.id}.2"]


@pytest.mark.parametrize("in_order", [False, True])
def test_answers_in_the_order_of_the_questions(create: Callable[..., Study], tmp_path: Path, in_order: bool) -> None:
    """The first trial is the last to end: in order, all others wait for it."""
    study = create(budget=12, policy="round-robin", in_order=in_order)
    begun: Counter[str] = Counter()
    others_told = threading.Event()
    lock = threading.Lock()

    def pull(arm: str) -> float:
        with lock:
            begun[arm] += 1
            mine, count = begun[arm], sum(begun.values())
        if in_order and count == 12:
            others_told.set()
        if arm == "steady" and mine == 1:
            assert others_told.wait(300)
        return mine / 100

    def watch(progress: ramgape.Progress) -> None:
        if not in_order and progress.samples >= 11:
            others_told.set()

    study.run(pull, workers=3, callback=watch)
    path = tmp_path / "rows.csv"
    study.export_csv(path)
    told = [line.split(",")[1] for line in path.read_text().splitlines() if line.startswith("steady")]
    assert "0.01" in told
    assert (told == sorted(told)) == in_order
    assert study.report().failed == 0


# --- what is reported --------------------------------------------------------------------------------------------


@pytest.mark.forecasts
def test_the_expected_number_of_pulls(create: Callable[..., Study]) -> None:
    """It is within a factor of three of what it then takes, in the middle of a seeded study."""
    study = create(epsilon=0.03)
    assert study.result().expected is None
    while study.report().told < 100 and not study.done:
        pulls = study.ask(50)
        study.tell_many([(pull, reward_of(pull.arm, pull.seed)) for pull in pulls])
    result = study.result()
    assert result.stopped == "open"
    assert not result.goal_reached
    assert "So far" in result.guarantee
    expected = result.expected
    assert expected is not None
    assert not expected.at_least
    before = study.report().told
    finish(study)
    taken = study.result().samples - before
    assert taken / 3 < expected.pulls < taken * 3
    budget = create("budget", budget=50)
    budget.observe("poor", 0.5)
    assert budget.result().expected == ramgape.Expectation(49)
    hard = create("hard", arms=["a", "b"], epsilon=0.0, data=[("a", 0.0), ("a", 1.0), ("b", 0.0), ("b", 1.0)] * 3)
    found = hard.result().expected
    assert found is not None
    assert found.at_least


def test_a_report_for_machines(create: Callable[..., Study]) -> None:
    study = create()
    study.ask(2)
    study.observe("poor", 0.5)
    found = json.loads(study.report().to_json())
    assert {"told", "pending", "failed", "done", "answer", "study", "arms"} <= found.keys()
    assert (found["told"], found["pending"], found["failed"], found["done"]) == (1, 2, 0, False)
    wanted = {"name", "verdict", "beaten_by", "trials", "objectives"}
    assert all(wanted <= arm.keys() for arm in found["arms"])
    assert all(each.keys() == {"mean(reward)", "std(reward)"} for each in (arm["objectives"] for arm in found["arms"]))
    assert found["study"]["doubt"] is None
    assert found["study"]["arms_pending"] == {"steady": 1, "wild": 1, "poor": 0}


def test_pickling(create: Callable[..., Study], storage: str | None) -> None:
    study = create()
    if storage is None:
        with pytest.raises(TypeError, match="a study in memory cannot be sent"):
            pickle.dumps(study)
    else:
        study.ask()
        assert pickle.loads(pickle.dumps(study)).report().pending == 1
    assert "models" in repr(study)


# --- exchange ----------------------------------------------------------------------------------------------------


@HERE
def test_an_exchange_is_one_transaction(create: Callable[..., Study], monkeypatch: pytest.MonkeyPatch) -> None:
    study = create(budget=40)
    commits = 0
    commit = study.backend.session.store.commit

    def counted() -> None:
        nonlocal commits
        commits += 1
        commit()

    monkeypatch.setattr(study.backend.session.store, "commit", counted)
    pulls = study.exchange().pulls
    numbers = []
    while pulls:
        numbers += [int(pull.id.split("-")[1]) for pull in pulls]
        exchanged = study.exchange([(pull, 0.5) for pull in pulls])
        assert all(exchanged.answers)
        pulls = exchanged.pulls
    assert exchanged.done
    assert study.done
    assert numbers == list(range(40))
    assert commits == 41


@HERE
def test_run_makes_one_transaction_a_trial(create: Callable[..., Study], monkeypatch: pytest.MonkeyPatch) -> None:
    study = create(budget=20)
    begun = []
    begin = study.backend.session.store.begin
    monkeypatch.setattr(study.backend.session.store, "begin", lambda *how: (begun.append(how[1]), begin(*how))[1])
    assert study.run(lambda arm: 0.5, progress=False).samples == 20
    assert begun.count(True) == 21


def test_an_exchange_is_what_the_single_calls_are(create: Callable[..., Study]) -> None:
    one, other = create("one", seed=1), create("other", seed=1)
    first, second = one.ask(4), other.ask(4)
    assert [pull.arm for pull in first] == [pull.arm for pull in second]
    exchanged = one.exchange(
        [(first[0], 0.25), (first[1].id, 0.5)], failed=[(first[2], "no luck")], given_back=[first[3]], count=3
    )
    answers = [other.tell(second[0], 0.25), other.tell(second[1], 0.5), other.fail(second[2], "no luck")]
    answers.append(other.give_back(second[3].id))
    pulls = other.ask(3)
    assert exchanged.answers == tuple(answers)
    assert [(pull.arm, pull.seed) for pull in exchanged.pulls] == [(pull.arm, pull.seed) for pull in pulls]
    assert [pull.id.partition("-")[2] for pull in exchanged.pulls[:2]] == ["2.2", "3.2"]
    own = {"name": "", "created_at": "", "failures": ()}
    assert dataclasses.replace(one.report(), **own).to_json() == dataclasses.replace(other.report(), **own).to_json()
    assert one.exchange(count=0) == ramgape.Exchange((), (), False)


def test_an_exchange_is_taken_in_as_a_whole_or_not_at_all(create: Callable[..., Study]) -> None:
    study = create()
    pulls = study.ask(3)
    before = study.report().to_json()
    stranger = f"{'0' * 20}-0"
    refused: list[tuple[type[Exception], Any, dict[str, Any]]] = [
        (ramgape.UnknownPull, [(pulls[0], 0.5), (stranger, 0.5)], {}),
        (ramgape.UnknownPull, [(pulls[0], 0.5)], {"failed": [(pulls[1], ""), (stranger, "")]}),
        (ramgape.UnknownPull, [(pulls[0], 0.5)], {"failed": [(pulls[1], "")], "given_back": [pulls[2], stranger]}),
        (ramgape.ChangedAnswer, [(pulls[0], 0.5), (pulls[0], 0.25)], {}),
        (ramgape.InvalidReward, [(pulls[0], 0.5), (pulls[1], 2.0)], {}),
        (ramgape.InvalidSpec, [(pulls[0], 0.5)], {"failed": [(pulls[1], None)]}),
        (ramgape.InvalidSpec, [(pulls[0], 0.5)], {"count": -1}),
        (ramgape.InvalidSpec, [(pulls[0], 0.5)], {"lease": 0}),
        (ramgape.InvalidSpec, 3, {}),
        (ramgape.InvalidSpec, [pulls[0].id], {}),
        (ramgape.InvalidSpec, [], {"failed": pulls[0].id}),
    ]
    for error, answers, more in refused:
        with pytest.raises(error):
            study.exchange(answers, **more)
        assert study.report().to_json() == before


@pytest.mark.parametrize("failure", ["retry", "worst"])
def test_one_pull_in_an_exchange_twice(create: Callable[..., Study], failure: str) -> None:
    """The first word counts, as it would in calls one after the other."""
    study = create(failure=failure)
    told, lost = study.ask(2)
    exchanged = study.exchange(
        [(told, 0.5), (told, 0.5)],
        failed=[(told, "late"), (lost, "bad"), (lost, "again")],
        given_back=[told, lost],
        count=0,
    )
    assert [answer.accepted for answer in exchanged.answers] == [
        True,
        True,
        False,
        True,
        True,
        False,
        failure == "retry",
    ]
    report = study.report()
    assert (report.told, report.failed) == (2 if failure == "worst" else 1, 1)


def test_no_answer_is_refused_for_what_is_asked_next(create: Callable[..., Study]) -> None:
    study = create(arms=["a", "b"], retries=0, policy="round-robin", budget=20)
    first, second = study.ask(2)
    exchanged = study.exchange([(second, 0.5)], failed=[(first, "broken")])
    assert [answer.accepted for answer in exchanged.answers] == [True, True]
    assert exchanged.pulls == ()
    assert (study.report().told, study.report().given_up) == (1, 1)
    with pytest.raises(ramgape.FailingArm, match="the last time: broken"):
        study.exchange()


# --- looking at it, while others work ------------------------------------------------------------------------------


@pytest.mark.parametrize("look", ["result", "report"])
def test_nobody_waits_for_who_looks(
    create: Callable[..., Study], storage: str | None, monkeypatch: pytest.MonkeyPatch, look: str
) -> None:
    """Neither in the store nor at the lock of this process: what is shown is inferred from a copy."""
    study = create(data=[(arm, reward) for arm in ARMS for reward in (0.25, 0.5, 0.75)])
    others = [study] if storage is None else [study, Study.load(study.name, storage)]
    begun, over = threading.Event(), threading.Event()
    infer = report.infer

    def slow(*arguments: Any, **named: Any) -> Any:
        begun.set()
        assert over.wait(300)
        return infer(*arguments, **named)

    monkeypatch.setattr(report, "infer", slow)
    with ThreadPoolExecutor(1) as pool:
        seen = pool.submit(getattr(study, look))
        try:
            assert begun.wait(300)
            for other in others:
                assert other.tell(other.ask()[0], 0.5)
        finally:
            over.set()
        found = seen.result(300)
    assert (found if look == "result" else found.result).samples == 9
    assert study.result(expect=False).samples == 9 + len(others)


@HERE
@pytest.mark.forecasts
def test_what_was_inferred_is_kept_until_something_changes(
    create: Callable[..., Study], monkeypatch: pytest.MonkeyPatch
) -> None:
    study = create(data=[(arm, reward) for arm in ARMS for reward in (0.25, 0.5, 0.75)])
    calls: list[str] = []
    for name in ("infer", "expect_pulls"):
        work = getattr(report, name)
        monkeypatch.setattr(report, name, lambda *given, name=name, work=work: (calls.append(name), work(*given))[1])
    assert study.result(expect=False).expected is None
    assert study.report(expect=False).result == study.result(expect=False)
    assert calls == ["infer"]
    first = study.report()
    assert first.result.expected is not None
    assert study.result() == first.result
    assert calls == ["infer", "expect_pulls"]
    study.observe("poor", 0.5)
    assert study.result().samples == 10
    assert calls == ["infer", "expect_pulls"] * 2
