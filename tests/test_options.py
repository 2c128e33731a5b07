"""One table of options: every door reads it, nothing else lists them, and the page about them is what it says."""

from __future__ import annotations

import ast
import inspect
import itertools
import pickle
import re
import runpy
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any

import pytest

import ramgape
from ramgape import (
    InvalidSpec,
    Search,
    SpecificationError,
    Study,
    Trials,
    UnknownName,
    analyze,
    identify,
    lower_bound,
    plan,
    replicate,
    simulate,
)
from ramgape.cli import app
from ramgape.cli.options import takes_options
from ramgape.commands.study_files import KEYS
from ramgape.options import (
    ANALYZE,
    COUNT,
    FILE,
    GROUPS,
    IDENTIFY,
    LOWER_BOUND,
    METHOD,
    OPTIONS,
    PLAN,
    SECOND_SPELLINGS,
    SIMULATE,
    STUDY,
    Option,
    Options,
    SearchOptions,
    StudyOptions,
    TrialOptions,
    complete,
    options_at,
    options_for,
    shown_at,
    shows_options,
)
from ramgape.search.spec import make_spec

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "ramgape"
RANGE: dict[str, Any] = {"reward_range": (0, 1)}


def never(arm: object) -> float:
    raise AssertionError("a search that cannot be meant must not pull")


# --- the list stands once -------------------------------------------------------------------------------------------

MOST_NAMES = 6
NAMES = OPTIONS.keys() - GROUPS.keys() - {"seed"}  # which others have, too
# What a search is once every option is resolved, and what results say about themselves: typed, and no lists of what may
# be given. The table itself stands in options.py.
RESOLVED = {
    "search/spec.py: Spec",
    "search/outcome_spec.py: a dictionary",
    "search/outcome_spec.py: a sequence",
    "simulation/forecast.py: Plan",
    "simulation/lower_bound.py: LowerBound",
    "search/inference.py: a dictionary",
    "search/result.py: Details",
    "search/result.py: a dictionary",
    "simulation/replication.py: Replication",
}


def listings(tree: ast.AST) -> Iterator[tuple[str, list[str | None]]]:
    """Wherever names may be listed: parameters, fields, tuples, dictionaries, and keywords handed on as they are."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            yield node.name, [each.arg for each in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
        elif isinstance(node, ast.ClassDef):
            fields = [each.target for each in node.body if isinstance(each, ast.AnnAssign)]
            yield node.name, [each.id for each in fields if isinstance(each, ast.Name)]
        elif isinstance(node, ast.Tuple | ast.List | ast.Set):
            yield "a sequence", [each.value for each in node.elts if isinstance(each, ast.Constant)]
        elif isinstance(node, ast.Dict):
            yield "a dictionary", [each.value for each in node.keys if isinstance(each, ast.Constant)]
        elif isinstance(node, ast.Call):
            handed = [each for each in node.keywords if isinstance(each.value, ast.Name) and each.value.id == each.arg]
            yield "a call", [each.arg for each in handed]


def test_no_other_place_lists_the_options() -> None:
    found = {
        f"{path.relative_to(SOURCE).as_posix()}: {what}"
        for path in SOURCE.rglob("*.py")
        if path.name != "options.py"
        for what, names in listings(ast.parse(path.read_text(encoding="utf-8")))
        if len(NAMES & set(names)) > MOST_NAMES
    }
    assert found - RESOLVED == set()


@pytest.mark.parametrize(
    "text",
    [
        "def f(*, epsilon=None, delta=None, budget=None, risk=None, rho=None, alpha=None, policy='auto'): pass",
        "class Options:\n" + "".join(f"    {name}: int\n" for name in sorted(NAMES)[:7]),
        str(tuple(OPTIONS)),
        "f(" + ", ".join(f"{name}={name}" for name in OPTIONS) + ")",
        str(dict.fromkeys(OPTIONS, 1)),
    ],
)
def test_a_second_list_would_be_found(text: str) -> None:
    assert any(len(NAMES & set(names)) > MOST_NAMES for _, names in listings(ast.parse(text)))


# --- every door has the rows that name it -----------------------------------------------------------------------------

DOORS: dict[str, tuple[Callable[..., Any], ...]] = {
    IDENTIFY: (identify,),
    SIMULATE: (simulate, replicate),
    PLAN: (plan,),
    ANALYZE: (analyze,),
    STUDY: (Study.create,),
}


@pytest.mark.parametrize(
    ("door", "function"), [(door, each) for door, functions in DOORS.items() for each in functions]
)
def test_signatures_and_docstrings_show_every_keyword(door: str, function: Callable[..., Any]) -> None:
    shown = inspect.signature(function).parameters
    assert all(each.kind is not each.VAR_KEYWORD for each in shown.values())
    for name, row in shown_at(door).items():
        assert shown[name].default == row.default
        assert re.search(rf"^ *{name}: \S", function.__doc__ or "", re.MULTILINE), name
    assert "{options}" not in (function.__doc__ or "")
    assert not (OPTIONS.keys() - shown_at(door).keys() - {"seed"}) & shown.keys()


def test_identify_shows_few_keywords_and_each_option_in_one_place() -> None:
    assert len(set(inspect.signature(identify).parameters) - {"rare"}) <= 25
    places = [set(inspect.signature(each).parameters) for each in (identify, Search, Trials)]
    assert not any(one & other for one, other in itertools.combinations(places, 2))
    assert not SECOND_SPELLINGS & set().union(*places)
    assert sorted(SECOND_SPELLINGS) == ["cv", "kurtosis", "resolution", "rho", "sigma_max"]


def test_the_front_door_begins_with_what_newcomers_need() -> None:
    names = list(inspect.signature(identify).parameters)
    assert names[:5] == ["pull", "arms", "epsilon", "delta", "budget"]
    assert names.index("question") < names.index("policy") < names.index("search") < names.index("seed")


def commands() -> Iterator[tuple[str, list[str]]]:
    import typer.main

    group: Any = typer.main.get_command(app)
    study: Any = group.load("study")
    named = {"simulate": SIMULATE, "plan": PLAN, "analyze": ANALYZE, "lower-bound": LOWER_BOUND}
    for command, door in named.items():
        yield door, [each.name for each in group.load(command).params]
    yield STUDY, [each.name for each in study.load("create").params]


@pytest.mark.parametrize(("door", "names"), list(commands()))
def test_commands_have_the_options_of_their_door(door: str, names: list[str]) -> None:
    expected = {name for name, row in options_at(door).items() if row.shell}
    assert expected <= set(names)
    assert OPTIONS.keys() & set(names) - {"seed"} == expected - {"seed"}
    assert len(names) == len(set(names))


def test_study_files_have_the_keys_of_their_door() -> None:
    assert set(KEYS) == {"name", "reward", "storage", "cwd", *options_at(FILE)}


def test_every_row_is_whole() -> None:
    assert list(StudyOptions.__annotations__) == list(OPTIONS)
    for name, row in OPTIONS.items():
        assert row.help.endswith("."), name
        assert row.entries, name
        for door in row.entries:
            at = row._replace(**row.at.get(door, {}))
            assert "{" not in at.text() + at.text(shell=True), name
    assert OPTIONS["budget"].text(shell=True).endswith("in place of --delta.")
    assert OPTIONS["budget"].text().endswith("in place of `delta`.")


def test_the_reference_is_up_to_date() -> None:
    """If not: python docs/make_options.py > docs/reference/options.md."""
    assert (ROOT / "docs" / "reference" / "options.md").read_text(encoding="utf-8") == runpy.run_path(
        str(ROOT / "docs" / "make_options.py")
    )["reference"]()


def test_the_table_is_light() -> None:
    program = "import sys, ramgape.options; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert not {"numpy", "numba", "typer", "rich", "ramgape.search"} & set(loaded)


# --- what is given --------------------------------------------------------------------------------------------------


def test_groups_are_frozen_values() -> None:
    assert list(inspect.signature(Search).parameters) == list(SearchOptions.__annotations__)
    assert repr(Search(bound="hoeffding", drift="off")) == "Search(bound='hoeffding', drift='off')"
    with pytest.raises(UnknownName, match=r"^every keyword of Trials must be .*; did you mean 'retries'"):
        Trials(retris=3)
    assert list(inspect.signature(Trials).parameters) == list(TrialOptions.__annotations__)
    assert "Option(" not in f"{inspect.signature(Search)} {inspect.signature(Trials)}"  # types, not rows of the table
    search = Search(policy="egp", max_trials=500)
    assert (search.policy, search.bound, search.max_trials) == ("egp", "auto", 500)
    assert search == Search(max_trials=500, policy="egp") != Search()
    assert pickle.loads(pickle.dumps(search)) == search
    assert hash(search) == hash(Search(policy="egp", max_trials=500))
    with pytest.raises(AttributeError):
        search.policy = "auto"


def test_an_expert_writes_the_same_in_two_ways() -> None:
    names = ["a", "b"]
    given: dict[str, Any] = {"policy": "evidence", "bound": "hoeffding", "alpha": 0.5, "initial_trials": 3}
    goal: dict[str, Any] = {**RANGE, "epsilon": 0.05, "rho": 0.01}
    assert make_spec(names, **goal, **given) == make_spec(names, **goal, search=Search(**given))
    log = [("a", 0.5), ("b", 0.4)] * 10
    assert analyze(log, **RANGE, search=Search(bound="hoeffding")).result.bound == "hoeffding"
    assert simulate("paper:46", epsilon=0.05, search=Search(max_trials=100)).samples == 100
    planned = plan("paper:46", epsilon=0.05, epsilons=[], deltas=[], runs=1, search=Search(max_trials=100))
    assert planned.max_trials == 100
    trials: dict[str, Any] = {"failure": "worst", "retries": 5, "in_order": True}
    one = Study.create("one", names, **RANGE, epsilon=0.05, **trials)
    assert Study.create("one", names, **RANGE, epsilon=0.05, trials=Trials(**trials)).spec == one.spec


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {"policy": "evidence", "search": Search(policy="ra-lucb")},
            "policy must be given once, by itself or in search",
        ),
        ({"search": "evidence"}, "search must be a ramgape.Search, got 'evidence'"),
        ({"search": Search}, "search must be a ramgape.Search, got"),
        ({"trials": Search()}, "trials must be a ramgape.Trials, got"),
        ({"trials": Trials(failure="worst")}, "failure must be left out of identify: it is an option of study, file"),
        ({"search": Search(alarm="stop")}, "drift must be between 0 and 1, both excluded, or 'off', got 'stop'"),
        ({"price": -2.0}, "the price of 'a' must be a finite number above 0, got -2"),
        ({"noise": "gaussian:kurtosis=3"}, "assumption must be written gaussian[:resolution=NUMBER,sigma_max=NUMBER]"),
        ({"noise": "gaussian:1,2"}, "assumption must be written gaussian"),
        ({"noise": "bounded:1"}, "assumption must be written bounded, got 'bounded:1'"),
        (
            {"noise": "gaussian:1", "resolution": 2},
            "resolution must be given once, by itself or with the assumption, got 2",
        ),
        ({"task": "pareto:1"}, "question must be written pareto, got 'pareto:1'"),
        ({"risk": "cvar:0.1,0.2"}, "risk must be written cvar:LEVEL, got 'cvar:0.1,0.2'"),
        ({"risk": "cvar:level=0.1,level=0.2"}, "risk must be written cvar:LEVEL"),
        ({"risk": "semivariance"}, "risk must be written semivariance:TARGET"),
        ({"risk": "variance:1"}, "risk must be written variance, got 'variance:1'"),
    ],
)
def test_what_cannot_be_meant(given: dict[str, Any], message: str) -> None:
    options = {} if "noise" in given else RANGE
    with pytest.raises(InvalidSpec, match=re.escape(message)):
        identify(never, ["a", "b"], epsilon=0.05, **{**options, **given})


def test_what_a_door_does_not_take() -> None:
    with pytest.raises(InvalidSpec, match="budget must be left out of analyze: it is an option of identify, simulate"):
        analyze([], **RANGE, budget=20)
    with pytest.raises(InvalidSpec, match="timeout must be left out of study: it is an option of identify, "):
        Study.create("any", ["a", "b"], **RANGE, epsilon=0.05, timeout=3)


LOG = [("a", 0.5), ("b", 0.4)] * 10
DOORS: dict[str, Callable[..., Any]] = {
    "identify": lambda **given: identify(lambda _: 0.5, ["a", "b"], **{**RANGE, "budget": 8, **given}),
    "simulate": lambda **given: simulate("paper:46", **{"budget": 40, **given}),
    "replicate": lambda **given: replicate("paper:46", runs=1, **{"budget": 40, **given}),
    "plan": lambda **given: plan("paper:46", budgets=[], runs=1, **{"budget": 40, **given}),
    "analyze": lambda **given: analyze(LOG, **{**RANGE, **given}),
    "study": lambda **given: Study.create("any", ["a", "b"], **{**RANGE, "budget": 8, **given}),
    "lower-bound": lambda **given: lower_bound("paper:46", **given),
}


def ignored(door: str) -> list[str]:
    """The options that a door takes whatever they are: no code there reads them."""
    found = []
    for name in OPTIONS:
        try:
            DOORS[door](**{name: object()})
        except SpecificationError:
            continue
        found.append(name)
    return found


@pytest.mark.parametrize("door", DOORS)
def test_every_option_is_read_or_refused(door: str) -> None:
    assert ignored(door) == []


def test_an_option_without_a_use_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A row of the table that nobody reads: the test above would fail."""
    monkeypatch.setitem(OPTIONS, "warm", OPTIONS["alpha"])
    assert ignored("simulate") == ["warm"]


@pytest.mark.parametrize("door", ["simulate", "replicate", "plan"])
@pytest.mark.parametrize(
    "given",
    [
        {"workers": 2},
        {"retries": 9},
        {"timeout": 1.0},
        {"in_order": False},
        {"trials": Trials(retries=9)},
        {"warm": 2.0},
    ],
)
def test_a_simulation_takes_no_options_of_real_trials(door: str, given: dict[str, Any]) -> None:
    with pytest.raises(SpecificationError) as refused:
        DOORS[door](**given)
    name = "plan" if door == "plan" else "simulate"
    assert f"left out of {name}" in str(refused.value) or f"every keyword of {name}" in str(refused.value)
    assert all(option in str(refused.value) for option in shown_at(name))


@pytest.mark.parametrize(("typo", "meant"), [("epsilom", "epsilon"), ("max_pull", "max_trials"), ("polic", "policy")])
def test_a_typo_is_told_the_nearest_name(typo: str, meant: str) -> None:
    calls: tuple[Callable[..., Any], ...] = (
        lambda **given: identify(never, ["a", "b"], **RANGE, **given),
        lambda **given: simulate("paper:46", **given),
        lambda **given: replicate("paper:46", runs=1, **given),
        lambda **given: plan("paper:46", **given),
        lambda **given: Study.create("any", ["a", "b"], **RANGE, **given),
    )
    for call in calls:
        with pytest.raises(UnknownName, match=f"got '{typo}'; did you mean '{meant}'"):
            call(**{typo: 1})
    with pytest.raises(UnknownName, match=f"every keyword of analyze must be one of .* got '{typo}'") as refused:
        analyze([], **RANGE, **{typo: 1})
    assert (meant in str(refused.value)) == (meant in options_at(ANALYZE))  # nothing is suggested that it does not take


@pytest.mark.long
def test_a_type_checker_knows_the_keywords(tmp_path: Path) -> None:
    lines = [
        "import ramgape",
        'ramgape.identify(lambda arm: 0.5, ["a", "b"], epsilon=0.05, search=ramgape.Search(policy="egp"))',
        'ramgape.Study.create("x", ["a", "b"], budget=5, retries=2, trials=ramgape.Trials(retries=2))',
        'ramgape.identify(lambda arm: 0.5, ["a", "b"], epsilom=0.05)',
        'ramgape.identify(lambda arm: 0.5, ["a", "b"], policy=5)',
        'ramgape.Search(polic="egp")',
        'ramgape.simulate("paper:46", retries=3)',
    ]
    file = tmp_path / "program.py"
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    command = [
        sys.executable,
        "-m",
        "mypy",
        "--config-file",
        str(ROOT / "pyproject.toml"),
        "--no-incremental",
        str(file),
    ]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    found = sorted(
        {int(line.split(":")[1]) for line in ran.stdout.splitlines() if "program.py:" in line and "error:" in line}
    )
    assert found == [4, 5, 6, 7], ran.stdout


def test_one_form_for_names_with_parameters() -> None:
    assert make_spec(["a", "b"], noise="gaussian:resolution=0.1,sigma-max=2", epsilon=0.5) == make_spec(
        ["a", "b"], noise="gaussian", resolution=0.1, sigma_max=2, epsilon=0.5
    )
    for text in ("cvar:0.1", "cvar:level=0.1", " cvar : level = 0.1"):
        assert make_spec(["a", "b"], **RANGE, epsilon=0.05, risk=text).risk == ramgape.CVaR(level=0.1)


def test_groups_stand_for_rows_of_their_own() -> None:
    assert set(GROUPS) == {"search", "trials"}
    assert not set(SearchOptions.__annotations__) & set(TrialOptions.__annotations__)
    assert set(Options.__annotations__) < set(StudyOptions.__annotations__)


def test_a_new_option_is_one_row(monkeypatch: pytest.MonkeyPatch) -> None:
    """In Python, in the shell and in study files, with its documentation; its use is what is left to write."""
    row = Option(METHOD, COUNT, "Trials without news after which to give up; see {max_trials}.", 3)
    monkeypatch.setitem(StudyOptions.__annotations__, "patience", Annotated[int, row])
    monkeypatch.setitem(OPTIONS, "patience", row)
    given: dict[str, Any] = {}

    @takes_options(SIMULATE)
    def command(instance: str, options: dict[str, Any]) -> None:
        given.update(options)

    @shows_options(SIMULATE)
    def search(**options: Any) -> None:
        """Search.

        Args:
            {options}
        """

    command(instance="mine", **dict.fromkeys(list(inspect.signature(command).parameters)[1:]) | {"patience": "1e2"})
    assert given == {"patience": 100}
    assert inspect.signature(search).parameters["patience"].default == 3
    assert "patience: Trials without news after which to give up; see `max_trials`." in (search.__doc__ or "")
    assert complete({}, IDENTIFY)["patience"] == 3
    assert options_for({"patience": 5}, ANALYZE) == {"patience": 5}
    assert "patience" in options_at(FILE)
