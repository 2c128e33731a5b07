"""How the code is built, measured: no import cycle, small functions and files, and tests that stand by themselves."""

from __future__ import annotations

import ast
import graphlib
import io
import re
import statistics
import tokenize
from collections.abc import Iterator
from pathlib import Path

import grimp
import pytest

ROOT = Path(__file__).parents[1]


def read(folder: str) -> dict[str, str]:
    """The text of every module in a folder, by its path there."""
    top = ROOT / folder
    return {path.relative_to(top).as_posix(): path.read_text(encoding="utf-8") for path in top.rglob("*.py")}


SOURCES, TESTS, BENCHMARKS = read("src/ramgape"), read("tests"), read("benchmarks")

LONGEST_BODY = 60
MOST_PARAMETERS = 10
LONGEST_FILE = 600
MEDIAN_FILE = 120
# Lines of code (no blank ones, comments and docstrings) before options, tasks and seams had their places.
CODE_BEFORE = 19_137
# What was not there before, in files of its own, by their beginnings; it may grow.
NEW = {
    "testing/": "checks for what comes from outside",
    "registry.py": "names for what comes from outside",
    **dict.fromkeys(["core/rows.py", "search/simulator.py"], "kernels as plain Python, compiled for simulations alone"),
    "planning/pace.py": "plans within a minute without the compiler",
    "tasks/__init__.py": "tasks, from outside as well",
    "tasks/task.py": "tasks, from outside as well",
    "search/policy_state.py": "policies that are plain functions",
    **dict.fromkeys(
        ["search/progress.py", "search/watching.py", "views/progress.py", "views/surfaces.py"],
        "where a search stands and how long it will take, shown on terminals and in notebooks",
    ),
    **dict.fromkeys(["bounds/catoni.py", "bounds/truncated_mean.py"], "estimators for heavy tails by name"),
    **dict.fromkeys(["bounds/running.py", "search/estimands.py"], "rewards that drift or depend on each other"),
    **dict.fromkeys(["risks/spectral.py", "risks/evar.py"], "the tail risks that the paper's world has besides"),
    **dict.fromkeys(["policies/va_lucb.py", "bounds/va_lucb.py"], "the rival for a ceiling of the variance"),
    "search/curves.py": "regret and errors of many runs over their pulls",
    **dict.fromkeys(["search/runs.py", "search/sweep.py"], "runs as columns, in tasks for many machines, kept on disk"),
    **dict.fromkeys(["planning/comparison.py", "views/comparison.py"], "policies of one's own beside ours"),
    "cli/completion.py": "what the tab key offers",
    "search/explained.py": "every result as text, page, dict, JSON, frame and figure",
    "common/integration.py": "the truth of a risk from outside",
    "storage/protocol.py": "stores from outside",
    "studies/requests.py": "requests that are made again and change nothing twice",
    **dict.fromkeys(
        ["core/prices.py", "search/spending.py", "search/pricing.py", "search/outcome.py"], "prices and money"
    ),
    **dict.fromkeys(["studies/arrivals.py", "studies/field.py"], "arms that come and go"),
    "studies/exchange.py": "answers and pulls in one transaction",
    "studies/desk.py": "what a study asks of where it is kept, here or behind a server",
    "studies/local_desk.py": "operations of several requests in one transaction",
    **dict.fromkeys(
        ["remote/", "studies/remote_desk.py", "cli/thin.py", "cli/work_words.py", "cli/streams.py"],
        "studies on a server, from Python and from a shell that answers at once",
    ),
    **dict.fromkeys(["cli/study_worker.py", "cli/signals.py", "commands/working.py"], "a whole worker in one command"),
    **dict.fromkeys(["web/", "cli/serve.py", "cli/token.py", "common/file_lock.py"], "a server for studies"),
    "core/alarm.py": "rewards that are watched",
    "search/alarms.py": "rewards that are watched",
    "search/blocks.py": "means of consecutive rows",
    **dict.fromkeys(["search/sharing.py", "studies/sharing.py"], "arms that share rows or blocks"),
    **dict.fromkeys(
        ["search/batch.py", "search/missing.py", "search/selection.py", "search/tables.py", "search/thin.py"],
        "logged data in tables: missing values, arms left out, certificates without thin arms",
    ),
    "bounds/heavy.py": "heavy tails",
    "problems/kinds.py": "distributions with long tails, and mixtures",
    "problems/mixtures.py": "distributions with long tails, and mixtures",
    "problems/unbounded.py": "distributions with long tails, and mixtures",
    "risks/cells.py": "CVaR without a union, quantiles, and both without a range",
    "risks/quantile.py": "value at risk",
    "risks/shortfall.py": "the probability of a shortfall",
    "cli/table.py": "commands that are imported when they are called",
    "noises.py": "rewards of any kind",
    "bounds/central_limit.py": "rewards of any kind",
    "bounds/central_limit_pairwise.py": "two arms with rewards of any kind, compared at once",
    "risks/standard_deviation.py": "the standard deviation",
    "risks/root.py": "the standard deviation",
    "risks/powers.py": "how the spread of a risk grows",
    "core/rounds.py": "pulls that are decided in rounds",
    "bounds/gaussian_pairwise.py": "two arms with Gaussian rewards, compared at once",
    "core/comparisons.py": "a stop by comparisons of two arms, whatever the rewards",
    "core/bets.py": "fourth-order bets",
    "search/extension.py": "studies that go on for more",
    "studies/extending.py": "studies that go on for more",
    "engines/": "calls in threads and on an event loop, on executors, on Dask and on Ray",
    "common/extras.py": "what is not installed, for layers below the search",
    **dict.fromkeys(
        ["search/asking.py", "search/quality.py", "studies/books.py"],
        "results that count in the order of asking, and trials that others replaced",
    ),
    "search/calls.py": "several calls under way, with a rate, a timeout and retries",
    "search/trying.py": "several calls under way, of functions that may be async",
    **dict.fromkeys(["core/items.py", "bounds/items.py", "search/item", "common/exact.py"], "test sets"),
    "core/task_costs.py": "tasks under a budget",
    "paper/tasks.py": "tasks in the benchmark",
    "paper/beyond.py": "the paper's experiments with our defaults",
    "policies/sequential_halving.py": "tasks under a budget",
    "policies/successive_rejects.py": "tasks under a budget",
    **dict.fromkeys(
        ["core/scores.py", "core/highest", "core/limited.py", "core/control"],
        "doubts and proofs of the tasks for one arm",
    ),
    **dict.fromkeys(["tasks/best", "tasks/bet", "tasks/least_risk.py", "tasks/top.py"], "the tasks for one arm"),
    **dict.fromkeys(["tasks/score.py", "tasks/wording.py"], "what those tasks share"),
    "views/differences.py": "how arms compare with a control",
    **dict.fromkeys(["search/answered.py", "views/sentence.py"], "the answer in a plain sentence"),
    "views/verdicts.py": "why an arm has its verdict, and what is missing for one",
    **dict.fromkeys(
        ["commands/how_timed.py", "commands/typed.py", "commands/times.py", "commands/exports.py"],
        "commands that are timed as they are typed",
    ),
    **dict.fromkeys(["cli/timing.py", "views/timing.py"], "commands that are timed as they are typed"),
    **dict.fromkeys(["commands/placeholders.py", "commands/shell_lines.py"], "values that no shell reads as code"),
    "commands/descendants.py": "what has left the process group of its trial",
    **dict.fromkeys(
        ["views/plots/answers.py", "views/plots/control.py", "views/plots/lines.py", "common/plane.py"],
        "pictures of tasks: what an answer goes by, and arms against a control",
    ),
    **dict.fromkeys(
        ["views/fragments.py", "views/picture.py", "views/report.py", "search/history", "studies/showing.py"],
        "reports: pages for any screen, what is proved, how a search went",
    ),
    **dict.fromkeys(
        ["views/plots/plot.py", "views/plots/window.py"], "pictures that notebooks show, zoomed to what decides"
    ),
}
# What was not there before, among what was: how many lines it took. A feature may raise it; then say which.
GROWN = {
    "bounds/__init__.py, search/, core/rounds.py, core/box.py, studies/specification.py": (
        "bounds that tell about means alone, or about averages over rounds, and what they ask of a search",
        105,
    ),
    "search/remaining.py, search/inference.py, views/": (
        "forecasts that draw arms from what they may be, and what is known of single arms",
        60,
    ),
    "search/analysis.py, search/accumulator.py, views/analysis.py, options.py, cli/": (
        "logged data in tables: missing values, arms left out, certificates without thin arms",
        200,
    ),
    "views/, search/result.py, common/formatting.py": (
        "tables in which nothing is dropped without a word, and names shortened to what differs",
        75,
    ),
    "storage/": ("snapshots, and stores from outside", 112),
    "studies/": ("snapshots, what is computed outside the lock, and fewer records for an ask and a tell", 60),
    "storage/records.py, studies/": ("items, prices and remarks, stored, exported and imported", 70),
    "search/, studies/, problems/, commands/, cli/, options.py, ...": (
        "test sets: items that are asked for, scores in files and wide tables, exact answers, what is expected of them",
        320,
    ),
    "search/simulation.py, views/plots/runs.py, views/replication.py, cli/simulate.py, cli/benchmark.py": (
        "curves over pulls, what is drawn of many runs, policies and instances of one's own",
        170,
    ),
    "storage/, studies/session.py": ("requests that are made again and change nothing twice", 72),
    "studies/in_and_out.py": ("all trials as a data frame", 45),
    "cli/, common/files.py, studies/catalog.py, storage/urls.py, errors.py": ("studies on a server", 65),
    "studies/, search/, views/, cli/study_work.py, ...": ("prices, money, remarks, arms that come and go", 390),
    "problems/distribution.py, problems/distributions.py": (
        "distributions and plain functions as arms, checked at the door; cumulative shares, skewness and kurtosis",
        170,
    ),
    "problems/environments.py, problems/instance_files.py": (
        "draws of long tails and mixtures, any noise in files",
        80,
    ),
    "common/special.py": ("incomplete gamma functions", 52),
    "search/assumptions.py, search/spec.py, search/simulation.py, options.py": ("what is stated of heavy tails", 85),
    "core/kernel.py, core/entries.py": (
        "kernels from outside, a word while they are compiled, less of it for kernels alone, calls by address",
        93,
    ),
    "risks/measure.py": (
        "risks from outside, from rewards without a range as well, and what people are shown of them",
        57,
    ),
    "risks/cvar.py": ("evidence at every quantile in place of 64 nodes", 65),
    "risks/, core/table.py, __init__.py": ("risks that are written and summed in their own way", 40),
    "policies/__init__.py, bounds/__init__.py, search/spec.py, tasks/best.py": (
        "policies with bounds of their own",
        42,
    ),
    "risks/entropic.py, risks/semivariance.py, risks/means.py, risks/table.py": ("rewards without a range", 54),
    "core/inversion.py, core/learning.py": ("an end by any test, and risks that fall with the variance", 22),
    "bounds/__init__.py": ("bounds from outside, and what used to be asked by their names", 60),
    "policies/__init__.py": ("policies from outside", 16),
    "policies/psi_unif_elim.py, core/box.py, core/pending.py": ("arms of which nothing can be said", 14),
    "cli/__init__.py, cli/study.py": ("what commands say before they are imported", 67),
    "errors.py": ("a tree of errors with place, what, allowed and given", 32),
    "__init__.py": ("public names", 53),
    "views/content.py": ("what to call the answer of a task from outside", 12),
    "search/": ("rewards of any kind, alarms, tolerances in per cent, certificates that say something", 245),
    "views/": ("risks in words and units that people know, digits that tell verdicts apart, rigour, alarms", 92),
    "planning/": ("the lower bound of the standard deviation", 31),
    "views/table.py, search/truth.py, search/simulation.py, planning/": (
        "mean, std and risk of every arm in plans and replications as well; large means apart",
        110,
    ),
    "paper/, problems/random_instances.py, cli/benchmark.py": (
        "instances that nothing was tuned on, any risk, and the worst case, in the benchmark",
        150,
    ),
    "search/engine.py, core/loop.py, core/table.py, studies/pull_ids.py, ...": ("pulls that are decided in rounds", 72),
    "bounds/pairwise.py, risks/means.py, risks/measure.py, search/assembly.py, ...": (
        "comparisons that serve the standard deviation and transformed rewards",
        128,
    ),
    "policies/evidence_budget.py, core/answer.py": (
        "what arms have not shown yet, and the front of shrunken estimates",
        92,
    ),
    "core/elimination.py, policies/, cli/listing.py": ("tasks under a budget", 110),
    "paper/benchmark_scale.py, paper/figures.py, cli/benchmark.py": ("tasks in the benchmark", 65),
    "studies/, storage/, search/, views/content.py, cli/study_work.py": ("studies that go on for more", 100),
    "search/engine.py, search/identification.py, views/": (
        "what a search by comparisons waits for, rounds that are compiled by themselves",
        32,
    ),
    "cli/run.py, commands/, options.py, studies/specification.py, common/formatting.py": (
        "commands that are typed, how they are run, what they use, and what a failure counts as",
        160,
    ),
    "options.py, studies/specification.py, core/table.py, ...": ("an alarm, a kurtosis, a share, a block", 105),
    "search/, views/, bounds/, common/parsing.py, planning/, cli/listing.py": (
        "any task: what was found, who stands in the way, its truth, its text; the level of means alone",
        250,
    ),
    "planning/, views/plots/crosses.py, views/plots/style.py, ...": (
        "the lower bound of the best mean; the control and the answer so far in the plane",
        75,
    ),
    "cli/, views/plots/crosses.py, views/plots/labels.py, search/, studies/": (
        "pictures and reports of every command, arms at the border of a plane, notes on the way of a search",
        160,
    ),
    "search/analysis.py, search/tables.py, cli/, studies/, options.py, ...": (
        "blocks that arms share: declared, read from tables and files, told with trials",
        65,
    ),
    "search/, studies/": ("results that count in the order of asking, and trials that others replaced", 30),
    "cli/serve.py, web/guard.py, commands/trials.py": ("secrets kept out of logs, and daemons of trials", 30),
    "cli/csv_rows.py, cli/listing.py, common/columns.py, options.py, search/, studies/": (
        "columns by name or kind, words for true and false, extensions in lists, options that are refused, arms in "
        "errors; answers of a server that are checked",
        155,
    ),
    "risks/, tasks/pareto.py, search/engine.py, search/inference.py, search/truth.py": (
        "what a complete test set says, by exact arithmetic",
        45,
    ),
    "cli/reproduce.py, cli/listing.py": ("the numbers beyond the paper, and what auto stands for, in 80 columns", 20),
    "search/naming.py, search/first_statement.py, search/assumptions.py, views/, ...": (
        "verdicts against a control, the best average, caps that are too small, two values, unseen events",
        130,
    ),
    "web/, storage/, studies/, remote/": ("floods that are bounded, stops that end in time", 130),
    "core/, bounds/, search/, studies/specification.py, commands/, views/timing.py, views/counted_runs.py": (
        "trials that were cut off, ratios of times with intervals, failed runs that are counted, early looks",
        85,
    ),
    "studies/report.py, views/timing.py": ("what older versions certified by rules that were found wrong", 20),
}

# Compiled loops take the functions they call and the tables they work on one by one: the compiler knows no bundle of
# functions, and to unpack one at each call is what the loop is there to avoid.
MANY_PARAMETERS = {"core/learning.py: learn", "core/loop.py: advance"}

Function = ast.FunctionDef | ast.AsyncFunctionDef


def functions(sources: dict[str, str]) -> Iterator[tuple[str, Function]]:
    """Every function, nested ones and methods included, with its place."""
    for file, text in sources.items():
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, Function):
                yield f"{file}: {node.name}", node


def body_length(function: Function) -> int:
    """Lines from the first statement to the last, without the docstring."""
    body = function.body[1:] if ast.get_docstring(function) is not None else function.body
    return (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0


def parameter_count(function: Function) -> int:
    """Without self and cls; `**options: Unpack[Options]`, the generated part, counts as one."""
    arguments = function.args
    named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    if named and named[0].arg in ("self", "cls"):
        del named[0]
    return len(named) + (arguments.vararg is not None) + (arguments.kwarg is not None)


def line_counts() -> dict[str, int]:
    return {file: len(text.splitlines()) for file, text in SOURCES.items()}


# --- the package ------------------------------------------------------------------------------------------------------


def test_no_module_imports_itself_by_way_of_others() -> None:
    """Nor by an import inside a function; only what a type checker alone imports is left out."""
    graph = grimp.build_graph("ramgape", exclude_type_checking_imports=True, cache_dir=None)
    imported = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    graphlib.TopologicalSorter(imported).prepare()  # names a cycle if there is one


def test_functions_are_short() -> None:
    long = {place: body_length(function) for place, function in functions(SOURCES)}
    assert {place for place, length in long.items() if length > LONGEST_BODY} == set()


def test_signatures_are_short() -> None:
    found = {place for place, function in functions(SOURCES) if parameter_count(function) > MOST_PARAMETERS}
    assert found == MANY_PARAMETERS


def test_files_are_short() -> None:
    lengths = line_counts()
    assert {file for file, length in lengths.items() if length > LONGEST_FILE} == set()
    assert statistics.median(lengths.values()) <= MEDIAN_FILE


def code_lines(text: str) -> int:
    """Lines with code on them."""
    silent: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Module, ast.ClassDef, *Function.__args__)) and ast.get_docstring(node) is not None:
            silent.update(range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1))
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in WITHOUT_CODE:
            lines.update(range(token.start[0], token.end[0] + 1))
    return len(lines - silent)


WITHOUT_CODE = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}


def test_the_code_does_not_grow_unnoticed() -> None:
    """The same features in no more code than before; what is new is named, and how much of the old it made longer."""
    for beginning in NEW:
        assert any(file.startswith(beginning) for file in SOURCES), beginning
    counted = [code_lines(text) for file, text in SOURCES.items() if not file.startswith(tuple(NEW))]
    assert sum(counted) <= CODE_BEFORE + sum(lines for _, lines in GROWN.values())
    assert code_lines('"""Text."""\n\n# why\nx = [\n    1,\n]\n\n\ndef f():\n    """More\n    text."""\n') == 4


# --- the pages --------------------------------------------------------------------------------------------------------

PAGES = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_pages_name_files_that_exist(page: Path) -> None:
    """A module by its path, or by the end of it; a link to a file beside the page."""
    folders = ("src", "tests", "docs", "examples", "benchmarks", "tools")
    modules = [path.as_posix() for folder in folders for path in (ROOT / folder).rglob("*.py")]
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.S | re.M)  # blocks run elsewhere
    named = set(re.findall(r"\w[\w./-]*\.py\b", text))
    assert [name for name in sorted(named) if not any(path.endswith(f"/{name}") for path in modules)] == []
    linked = [link for link in re.findall(r"\]\(([^)#]+)\)", text) if "://" not in link]
    assert [link for link in linked if not (page.parent / link).exists()] == []


# --- the tests --------------------------------------------------------------------------------------------------------


def own_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """What stands in a function itself, not in those that it defines."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, (*Function.__args__, ast.Lambda, ast.ClassDef)):
            yield child
            yield from own_nodes(child)


def returns_early(function: Function) -> bool:
    return any(isinstance(node, ast.Return) for node in own_nodes(function))


def test_no_test_returns_before_it_asserts() -> None:
    """A test has nothing to return: a case that it is not about is left out where its cases are listed."""
    tests = [(place, function) for place, function in functions(TESTS) if function.name.startswith("test_")]
    assert len(tests) > 1000
    assert [place for place, function in tests if returns_early(function)] == []
    (early,) = ast.parse("def test_it(x):\n    if x:\n        return\n    assert not x").body
    (fine,) = ast.parse("def test_it(x):\n    def one():\n        return 1\n    assert one()").body
    assert isinstance(early, ast.FunctionDef)
    assert isinstance(fine, ast.FunctionDef)
    assert returns_early(early)
    assert not returns_early(fine)


def test_no_test_module_is_imported() -> None:
    """What tests share stands in modules that are no tests, also for processes that a test starts."""
    pattern = re.compile(r"tests\.test_|from tests import .*\btest_")
    assert [file for file, text in [*TESTS.items(), *BENCHMARKS.items()] if pattern.search(text)] == []
    assert pattern.search('command = [sys.executable, "-m", "tests' + '.test_endings"]')
