"""What `ramgape benchmark` runs: the methods of this package against each other."""

from __future__ import annotations

from ramgape.paper import budget, race
from ramgape.paper.benchmark_scale import FULL, QUICK
from ramgape.paper.page import PageText
from ramgape.paper.report import Part, ReportPlan
from ramgape.planning import lower_bound

PARTS = {
    "stopping": Part("stopping", race.plan_jobs, race.make_section, needs=lower_bound.load_solver),
    "budget": Part("budget", budget.plan_jobs, budget.make_section),
}

PAGE_TEXT = PageText(
    command="benchmark",
    title="ramgape, measured",
    lead=(
        "What each bound and each sampling rule of <code>ramgape</code> costs until it can prove its answer, beside "
        "the paper's and beside what Gaussian arms would take at least; how good the answers are that a budget buys; "
        "and how often they are wrong. On instances that were not chosen by the outcome."
    ),
    quick="few instances and runs, enough to see that everything works",
    footer="Every number is in the CSV files, one line for each method on each instance.",
)

REPORT = ReportPlan(PAGE_TEXT, PARTS, FULL, QUICK, figures=9)
