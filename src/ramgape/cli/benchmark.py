"""`ramgape benchmark`: what each bound and sampling rule costs, and what a budget buys, beside the paper's."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ramgape.cli.completion import completer, instances
from ramgape.cli.options import CLUSTER, RunPlace, Text, gathers, option, processes_or_cluster
from ramgape.cli.reports import JOBS, JSON, OUT, SEED, run_report, show_report, titled_table, verdict_table
from ramgape.cli.streams import tell
from ramgape.common.checks import check_seed, whole
from ramgape.common.parsing import parse_number
from ramgape.common.terminal import output, watching_work
from ramgape.errors import InvalidSpec
from ramgape.options import DEFAULT_EPSILON
from ramgape.risks.table import PAPER_RISK

if TYPE_CHECKING:
    from rich.console import RenderableType

    from ramgape.paper.report import ReportPlan
    from ramgape.simulation.comparison import PolicyComparison

FOLDER, OWN = "ramgape-benchmark", "Your own"
POLICY = "A policy by its name, or MODULE:FUNCTION; several times for several. Our usual one is always beside them."
TOLERANCE = f"Tolerance. Default: {DEFAULT_EPSILON}, or none under a --budget."
OWN_INSTANCE = "A built-in instance or a JSON file; several times for several. Default: paper:46."
PARTS = "all, stopping, budget or tasks."
QUICK = "Fewer instances and runs: a minute instead of half an hour."
RISK = "What risk is, such as std; the part stopping knows the reference for std, variance and mean-variance."


def own_race(
    policy: Annotated[list[str] | None, option(OWN, "POLICY", POLICY, complete=completer("policy"))] = None,
    instance: Annotated[list[str] | None, option(OWN, "INSTANCE", OWN_INSTANCE, complete=instances)] = None,
    runs: Annotated[str, option(OWN, "COUNT", "Runs of each policy on each instance.")] = "100",
    epsilon: Annotated[Text, option(OWN, "NUMBER", TOLERANCE)] = None,
    budget: Annotated[Text, option(OWN, "PULLS", "Give the best answer after this many pulls.")] = None,
) -> dict[str, Any] | None:
    """What is to be compared in place of the reports, if anything is."""
    if not policy and not instance:
        given = [name for name, value in (("--epsilon", epsilon), ("--budget", budget)) if value is not None]
        if given or runs != "100":
            given = given or ["--runs"]
            raise InvalidSpec(
                what=" and ".join(given), verb="go", allowed="with --policy or --instance", given="neither"
            )
        return None
    goal = {
        "epsilon": epsilon and parse_number(epsilon, "epsilon"),
        "budget": budget and parse_number(budget, "budget"),
    }
    return {
        "policies": list(dict.fromkeys(["auto", *(policy or ("round-robin",))])),
        "instances": instance or ["paper:46"],
        "runs": whole(parse_number(runs, "runs"), "runs", "a whole number of at least 1", 1),
        **{name: value for name, value in goal.items() if value is not None},
    }


@gathers("own", own_race)
def benchmark(
    own: dict[str, Any] | None,
    parts: Annotated[list[str] | None, typer.Argument(metavar="PART", help=PARTS, show_default="all")] = None,
    out: Annotated[Path | None, typer.Option(metavar="FOLDER", help=OUT, show_default=FOLDER)] = None,
    seed: Annotated[str, typer.Option(metavar="SEED", help=SEED)] = "0",
    jobs: Annotated[str, typer.Option(metavar="COUNT", help=JOBS)] = "0",
    cluster: Annotated[Text, typer.Option(metavar="URL", help=CLUSTER)] = None,
    risk: Annotated[Text, typer.Option(metavar="RISK", help=RISK, show_default=PAPER_RISK)] = None,
    quick: Annotated[bool, typer.Option("--quick", help=QUICK)] = False,
    as_json: Annotated[bool, typer.Option("--json", help=JSON)] = False,
) -> None:
    """Compare all methods on many problems.

    Writes raw data (CSV), figures (PNG, SVG), summary.json and report.html.

    [bold]ramgape benchmark[/bold]
    everything

    [bold]ramgape benchmark stopping[/bold]
    samples to stop, by bound and tolerance, compared with a reference, and wrong answers (needs scipy)

    [bold]ramgape benchmark budget[/bold]
    simple regret and wrong sets after 500 to 40,000 pulls, for every policy meant for a budget

    [bold]ramgape benchmark tasks[/bold]
    what one arm costs beside the Pareto set: the best mean, perhaps with a ceiling of the risk, and with a budget

    [bold]ramgape benchmark stopping --risk std --out benchmark-std[/bold]
    the same for the standard deviation in place of the paper's risk

    Interrupted and started again, it goes on where it was.

    [bold]ramgape benchmark --policy mypackage.rules:my_rule --instance mine.json[/bold]
    your own rule beside ours on your own instance; with --out FOLDER also as a page
    """
    place = processes_or_cluster(jobs, cluster, "0")
    if own is not None:
        if parts or quick:
            given = "a part" if parts else "--quick"
            raise InvalidSpec(
                what="--policy and --instance", verb="go", allowed="without parts and --quick", given=given
            )
        show_own(compare_own(own, seed, place, risk), out, as_json)
        return
    out = Path(FOLDER) if out is None else out
    summary = run_report(partial(load_benchmark, risk or PAPER_RISK), parts, out, seed, place, quick)
    show_report(summary, benchmark_tables(summary), out, as_json)


def compare_own(own: dict[str, Any], seed: str, place: RunPlace, risk: str | None) -> PolicyComparison:
    """The user's policies beside ours, on the user's instances."""
    first = check_seed(parse_number(seed, "seed"))
    with watching_work() as show:
        from ramgape.simulation.comparison import compare_policies, load_policy

        policies = [load_policy(each) for each in own.pop("policies")]
        total = len(policies) * len(own["instances"]) * own["runs"]

        def hear(finished: int) -> None:
            if show is not None:
                show(finished, total, "comparing")

        own |= {"policies": policies, "progress": False} | ({} if risk is None else {"risk": risk})
        with place.workers(own["runs"]) as executor:
            return compare_policies(seed=first, executor=executor, callback=hear, **own)


def show_own(comparison: PolicyComparison, out: Path | None, as_json: bool) -> None:
    """The table, or JSON; and a page, if it is wanted."""
    if as_json:
        typer.echo(comparison.to_json())
    else:
        output().print(comparison)
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        comparison.save_html(out / "comparison.html")
        (out / "comparison.json").write_text(comparison.to_json(), encoding="utf-8")
        tell("written", str(out / "comparison.html"), "bold")


def load_benchmark(risk: str) -> ReportPlan:
    """The benchmark, for a risk."""
    from ramgape.paper import benchmark

    return benchmark.with_risk(benchmark.REPORT, risk)


def benchmark_tables(summary: dict[str, Any]) -> list[RenderableType]:
    """Averages, errors, regrets, and the verdicts."""
    shown: list[RenderableType] = []
    if "stopping" in summary:
        groups = dict.fromkeys(row["group"] for row in summary["stopping"]["averages"])
        shown += [average_table(summary["stopping"], group) for group in groups]
        shown.append(error_table(summary["stopping"]))
    if "budget" in summary:
        shown += [regret_table(summary["budget"]), ratio_table(summary["budget"])]
    if "tasks" in summary:
        shown.append(question_table(summary["tasks"]))
    shown.append(verdict_table(summary, "What the runs say"))
    return shown


def average_table(stopping: dict[str, Any], group: str) -> RenderableType:
    """Each method at each tolerance, over a group of instances."""
    title = f"Samples to stop: geometric means over {group} instances (how many)"
    table = titled_table(title, "epsilon", "method", "/ reference", "/ rival's", "at worst", words="method")

    def shown(value: float | None, count: int) -> str:
        return "" if value is None else f"{value:,.2f} ({count})"

    for row in stopping["averages"]:
        if row["group"] == group:
            table.add_row(
                f"{row['epsilon']:g}",
                row["method"],
                shown(row["over_least"], row["least_count"]),
                shown(row["over_rival"], row["rival_count"]),
                at_worst(row["worst"]),
            )
    return table


def question_table(tasks: dict[str, Any]) -> RenderableType:
    """One question beside another, over all instances."""
    table = titled_table("Pulls of one search / of another", "epsilon", "which", "average", "largest", words="which")
    for row in tasks["averages"]:
        table.add_row(f"{row['epsilon']:g}", row["compared"], f"{row['average']:.2f}", f"{row['largest']:.2f}")
    return table


def at_worst(worst: dict[str, Any] | None) -> str:
    """The largest ratio with its standard error."""
    same = worst is None or worst["ratio"] == 1.0
    return "" if same or worst is None else f"{worst['ratio']:.2f} ± {worst['standard_error']:.2f}"


def error_table(stopping: dict[str, Any]) -> RenderableType:
    """Each method, over everything."""
    columns = ("method", "ended runs", "wrong", "95 % interval", "undecided")
    table = titled_table(f"Wrong answers; delta = {stopping['delta']:g}", *columns, words="method")
    for row in stopping["errors"]:
        if row["epsilon"] is None:
            low, high = row["interval"] or (0.0, 1.0)
            interval = f"{low:.5f} to {high:.5f}"
            table.add_row(row["method"], f"{row['ended']:,}", str(row["wrong"]), interval, str(row["undecided"]))
    return table


def regret_table(budget: dict[str, Any]) -> RenderableType:
    """Each rule under each budget, over the first group, which is the whole field."""
    group, names = next(iter(budget["groups"].items()))
    budgets = dict.fromkeys(row["budget"] for row in budget["averages"] if row["group"] == group)
    title = f"Mean regret x 1000, and wrong sets: {len(names)} {group}"
    table = titled_table(title, "policy", *(f"n = {each:,}" for each in budgets), words="policy")
    rules: dict[str, list[str]] = {}
    for row in budget["averages"]:
        if row["group"] == group:
            rules.setdefault(row["policy"], []).append(f"{1000.0 * row['regret']:.3g}  {row['wrong_share']:.1%}")
    for policy, cells in rules.items():
        table.add_row(policy, *cells)
    return table


def ratio_table(budget: dict[str, Any]) -> RenderableType:
    """Our rule beside the best of the others, in each group of instances."""
    budgets = dict.fromkeys(row["budget"] for row in budget["against_best_rival"])
    title = "Mean regret of evidence, divided by that of its best rival"
    table = titled_table(title, "instances", *(f"n = {each:,}" for each in budgets), words="instances")
    rows: dict[str, list[str]] = {}
    for row in budget["against_best_rival"]:
        ratio = "" if row["ratio"] is None else f"{row['ratio']:.2f}"
        rows.setdefault(row["group"], []).append(f"{ratio}\n{row['rival']}")
    for group, cells in rows.items():
        table.add_row(group, *cells)
    return table
