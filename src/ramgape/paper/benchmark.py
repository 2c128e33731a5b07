"""What `ramgape benchmark` runs: the methods of this package against each other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ramgape.errors import require
from ramgape.options import PAPER_RISK
from ramgape.paper import budget, race, tasks
from ramgape.paper.benchmark_scale import FULL, QUICK
from ramgape.paper.page import PageText
from ramgape.paper.report import Part, ReportPlan
from ramgape.planning import lower_bound
from ramgape.risks import make_risk

PARTS = {
    "stopping": Part("stopping", race.plan_jobs, race.make_section, needs=lower_bound.load_solver),
    "budget": Part("budget", budget.plan_jobs, budget.make_section),
    "tasks": Part("tasks", tasks.plan_jobs, tasks.make_section),
}

PAGE_TEXT = PageText(
    command="benchmark",
    title="ramgape, measured",
    lead=(
        "What each bound and each sampling rule of <code>ramgape</code> costs until it can prove its answer, beside "
        "the paper's and beside what Gaussian arms would take at least; how good the answers are that a budget buys; "
        "what it costs to ask for one arm rather than for the Pareto set; and how often answers are wrong. On "
        "instances that were not chosen by the outcome."
    ),
    quick="few instances and runs, enough to see that everything works",
    footer="Every number is in the CSV files, one line for each method on each instance.",
)

REPORT = ReportPlan(PAGE_TEXT, PARTS, FULL, QUICK, figures=16)


def with_risk(report: ReportPlan, risk: str) -> ReportPlan:
    """The same for a risk; a report in the same folder, for another one, is then one of another scale."""
    wanted = str(make_risk(risk))
    if wanted == PAPER_RISK:
        return report
    scales = [replace(scale, name=f"{scale.name}, risk {wanted}", risk=wanted) for scale in (report.full, report.quick)]
    return replace(report, full=scales[0], quick=scales[1], parts=parts_for(report.parts, wanted))


def parts_for(parts: Mapping[str, Part], risk: str) -> dict[str, Part]:
    """The parts, the first of which complains where no reference is known."""

    def needs() -> None:
        lower_bound.load_solver()
        known = lower_bound.has_lower_bound(make_risk(risk))
        require(known, "risk", "std, variance or mean-variance for the part stopping", risk)

    return {**parts, "stopping": parts["stopping"]._replace(needs=needs)}
