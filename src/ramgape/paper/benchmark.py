"""What `ramgape benchmark` runs: the methods of this package against each other."""

from __future__ import annotations

from dataclasses import replace

from ramgape.errors import require
from ramgape.paper import benchmark_budget, benchmark_stopping, benchmark_tasks
from ramgape.paper.report import Part, ReportPlan
from ramgape.paper.scale import FULL_BENCHMARK, QUICK_BENCHMARK
from ramgape.risks import make_risk
from ramgape.risks.table import PAPER_RISK
from ramgape.simulation import lower_bound

REPORT = ReportPlan(
    command="benchmark",
    parts={
        "stopping": Part(
            "stopping", benchmark_stopping.plan_jobs, benchmark_stopping.make_section, lower_bound.load_solver
        ),
        "budget": Part("budget", benchmark_budget.plan_jobs, benchmark_budget.make_section),
        "tasks": Part("tasks", benchmark_tasks.plan_jobs, benchmark_tasks.make_section),
    },
    full=FULL_BENCHMARK,
    quick=QUICK_BENCHMARK,
)


def with_risk(report: ReportPlan, risk: str) -> ReportPlan:
    """The report for a risk. It has another scale, so that it replaces one for another risk in the same folder."""
    wanted = str(make_risk(risk))
    if wanted == PAPER_RISK:
        return report

    def check() -> None:
        lower_bound.load_solver()
        known = lower_bound.has_lower_bound(make_risk(wanted))
        require(known, "risk", "std, variance or mean-variance for the part stopping", wanted)

    full, quick = (
        replace(scale, name=f"{scale.name}, risk {wanted}", risk=wanted) for scale in (report.full, report.quick)
    )
    parts = {**report.parts, "stopping": report.parts["stopping"]._replace(check=check)}
    return replace(report, full=full, quick=quick, parts=parts)
