"""`ramgape list`: the names that the other commands take, and what they mean."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ramgape.bounds import AUTOMATIC, BOUNDS, BOXLESS, OWN_BOUNDS
from ramgape.common.terminal import output, plain_table
from ramgape.errors import known_name, printable
from ramgape.policies import ALIASES, POLICIES
from ramgape.questions import QUESTIONS
from ramgape.registry import GROUPS, extensions
from ramgape.risks.table import RISKS, risk_notation
from ramgape.search.explained import SCHEMA_VERSION, jsonable
from ramgape.storage.urls import SCHEMES

if TYPE_CHECKING:
    from rich.table import Table

FILE_EXAMPLE = """\
{"reward_range": [0, 1], "arms": [
  {"name": "A", "distribution": "beta", "a": 2.0, "b": 3.0},
  {"name": "B", "distribution": "bernoulli", "p": 0.4},
  {"name": "C", "distribution": "uniform", "low": 0.2, "high": 0.9},
  {"name": "D", "distribution": "data", "values": [0.1, 0.4, 0.3]}]}"""

EXTENSIONS = "extensions"
# Names that no extension can have.
BUILT_IN: dict[str, Iterable[str]] = {
    "policy": ("auto", *POLICIES, *ALIASES),
    "bound": ("auto", *BOUNDS, *OWN_BOUNDS),
    "risk": RISKS,
    "question": QUESTIONS,
    "store": SCHEMES,
}

# What the instances are for, by the first name of each group.
USES = {
    "paper:1": "the paper's Experiments 1 and 2",
    "paper:exp3": "the paper's Experiment 3",
    "paper:exp4": "the paper's Experiment 4",
    "paper-gaussian:1": "the same 50 with Gaussian arms",
    "random-beta:1": "a broad field to compare methods on",
    "random-bernoulli:1": "the same with coins",
    "random-gaussian:1": "the same with Gaussian arms",
}


def show_list(
    what: Annotated[
        str,
        typer.Argument(
            metavar="WHAT", help="questions, policies, bounds, risks, instances or extensions.", show_default=False
        ),
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of a table.")] = False,
) -> None:
    """List questions, policies, bounds, risks or problems.

    Says what each means. `extensions` lists what installed packages and your programs add.

    [bold]ramgape list policies[/bold]

    [bold]ramgape list extensions[/bold]
    whatever installed packages add: policies, bounds, risks, questions, stores
    """
    asked, what = what, "questions" if what == "tasks" else what  # their older name
    describe, show = LISTS[known_name(what, LISTS, "what to list")]
    added = found_extensions(what)
    if as_json:
        told = {asked if name == what else name: value for name, value in describe().items()}
        typer.echo(json.dumps({"schema_version": SCHEMA_VERSION, **told, "extensions": added}, indent=2))
    else:
        show()
        show_extensions(added, alone=what == EXTENSIONS)


def found_extensions(what: str) -> list[dict[str, Any]]:
    """The things from outside that belong to a list."""
    kinds = BUILT_IN if what == EXTENSIONS else [kind for kind in BUILT_IN if GROUPS[kind].endswith(f".{what}")]
    return [each._asdict() for kind in kinds for each in extensions(kind, BUILT_IN[kind])]


def show_extensions(added: Sequence[dict[str, Any]], alone: bool) -> None:
    """One row for each thing from outside, below what the package itself has."""
    from rich.markup import escape

    console = output()
    if not added:
        if alone:
            console.print("No installed package adds a policy, bound, risk, question or store.")
        return
    if not alone:
        console.print("\nFrom installed packages:\n")
    rows = [
        (each["name"], each["kind"], escape(printable(each["meaning"])), each["package"] or "this process")
        for each in added
    ]
    console.print(listing_table(("extension", "is a", "meaning", "from"), rows))


def described(table: Mapping[str, Any], *attributes: str) -> list[dict[str, Any]]:
    """A row for each name of a table, with attributes of what has it; `arms=names` gives one another key."""
    keys = [(each.partition("=")[0], each.rpartition("=")[2]) for each in attributes]
    return [
        {"name": name, **{key: jsonable(getattr(each, attribute)) for key, attribute in keys}}
        for name, each in table.items()
    ]


def describe_policies() -> dict[str, Any]:
    """The sampling rules."""
    aliases = [{"name": name, "policy": rule, "meaning": meaning} for name, (rule, meaning) in ALIASES.items()]
    return {"policies": described(POLICIES, "goals", "paper_goals", "meaning"), "aliases": aliases}


def describe_bounds() -> dict[str, Any]:
    """The bounds, and what `auto` stands for."""
    automatic = [
        {"assumption": assumption, "risk": risk, "goal": goal, "bound": bound}
        for (assumption, risk, goal), bound in AUTOMATIC.items()
    ]
    bounds = described(BOUNDS, "assumptions", "risks", "goals", "narrows", "meaning")
    return {"bounds": bounds, "auto": automatic}


def describe_instances() -> dict[str, Any]:
    """The built-in instances."""
    from ramgape.problems.instances import instance_names, load_instance

    instances = {name: load_instance(name) for name in instance_names()}
    rows = described(instances, "arms=names", "noise", "reward_range", "sigma_max")
    return {"instances": [row | {"arms": len(row["arms"])} for row in rows]}


def show_policies() -> None:
    """One row per rule."""
    rows = [
        (name, policy.meaning, shown_goals(policy.goals), shown_goals(policy.paper_goals))
        for name, policy in POLICIES.items()
    ]
    rows += [(name, meaning, shown_goals(POLICIES[rule].goals), "") for name, (rule, meaning) in ALIASES.items()]
    console = output()
    console.print(listing_table(("policy", "each round it pulls", "goals", "in the paper"), rows))
    console.print(
        "\nThe goals are a fixed confidence and a fixed budget. A policy that was not made for a fixed confidence may "
        "never stop by itself; --max-trials ends it."
    )


def shown_goals(goals: tuple[str, ...]) -> str:
    """The goals of a policy, in a word."""
    return "both" if len(goals) > 1 else "".join(goals)


def show_bounds() -> None:
    """One row per bound, and one per case of `auto`."""
    rows = [
        (name, serves(bound.assumptions, bound.risks, bound.goals), bound.meaning) for name, bound in BOUNDS.items()
    ]
    console = output()
    console.print(listing_table(("bound", "serves", "meaning"), rows, leading=1))
    console.print("\nauto, which is the default, stands for:\n")
    risks: dict[tuple[str, str, str], list[str]] = {}
    for (assumption, risk, goal), bound in AUTOMATIC.items():
        risks.setdefault((assumption, goal, bound), []).append(risk)
    chosen = [
        (bound, f"{assumption} rewards, fixed {goal}", ", ".join(of)) for (assumption, goal, bound), of in risks.items()
    ]
    console.print(listing_table(("auto is", "for", "and risk"), chosen))
    console.print(
        f"\nWith policies that do not go by comparisons of two arms it is the bound without -pairwise, {BOXLESS} for a "
        "budget with those that look at no interval, evidence among them."
    )


def serves(assumptions: Iterable[str], risks: Iterable[str], goals: Iterable[str]) -> str:
    """What a bound is for, in three lines."""
    return f"{' or '.join(assumptions)} rewards\n{' or '.join(risks)}\nfixed {' or '.join(goals)}"


def describe_questions() -> dict[str, Any]:
    """What may be asked."""
    return {"questions": described(QUESTIONS, "written", "meaning")}


def show_questions() -> None:
    """One row per question, with how it is written."""
    from rich.markup import escape

    rows = [(name, f"{question.meaning}\n{escape(question.written)}") for name, question in QUESTIONS.items()]
    output().print(listing_table(("question", "looks for; how it is written"), rows, leading=1))


def show_instances() -> None:
    """One row per group of instances, and how to write one's own."""
    from ramgape.problems.environments import DISTRIBUTIONS
    from ramgape.problems.instances import load_instance

    rows = []
    for names in groups():
        instances = [load_instance(name) for name in names]
        instance, counts = instances[0], [len(each.names) for each in instances]
        name = names[0] if len(names) == 1 else f"{names[0]} ... {names[-1].split(':')[1]}"
        if instance.reward_range is None:
            rewards = f"Gaussian, sigma_max {instance.sigma_max:.4g}"
        else:
            low, high = instance.reward_range
            rewards = f"{type(instance.arms[0].distribution).__name__}, in [{low:g}, {high:g}]"
        arms = str(counts[0]) if min(counts) == max(counts) else f"{min(counts)} to {max(counts)}"
        rows.append((name, arms, rewards, USES[names[0]]))
    console = output()
    console.print(listing_table(("instance", "arms", "rewards", "for"), rows))
    console.print("\nYour own is a JSON file: ramgape simulate mine.json, where mine.json holds\n")
    console.print(FILE_EXAMPLE, markup=False)
    console.print(
        '\nor "noise", gaussian or heavy:kurtosis=10 say, in place of "reward_range", or neither (any), and then '
        f"arms of any distribution: {', '.join(DISTRIBUTIONS)}."
    )


def groups() -> list[list[str]]:
    """The names of the instances; those that are merely numbered stand together."""
    from ramgape.problems.instances import instance_names

    found: dict[str, list[str]] = {}
    for name in instance_names():
        family, key = name.split(":")
        found.setdefault(family if key.isdecimal() else name, []).append(name)
    return list(found.values())


def listing_table(headings: Sequence[str], rows: Iterable[Sequence[str]], leading: int = 0) -> Table:
    """A table whose first column is never broken; `leading` lines are left between its rows."""
    return plain_table(headings, rows, whole=headings[:1], leading=leading)


def describe_risks() -> dict[str, Any]:
    """The risk measures."""
    return {"risks": described(RISKS, "parameter", "meaning")}


def show_risks() -> None:
    """One row per measure, and what serves it."""
    rows = [(risk_notation(name), risk.meaning) for name, risk in RISKS.items()]
    console = output()
    console.print(listing_table(("risk", "meaning, for rewards X; less is better"), rows))
    console.print("\nFor costs it is that of -X. Intervals for all of them come from the bounds that auto stands for.")


LISTS: dict[str, tuple[Callable[[], dict[str, Any]], Callable[[], None]]] = {
    "questions": (describe_questions, show_questions),
    "policies": (describe_policies, show_policies),
    "bounds": (describe_bounds, show_bounds),
    "risks": (describe_risks, show_risks),
    "instances": (describe_instances, show_instances),
    EXTENSIONS: (dict, lambda: None),
}
