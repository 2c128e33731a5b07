"""What `ramgape reproduce` runs: the experiments of the paper."""

from __future__ import annotations

from ramgape.paper import beyond, crosses, geometry, overall, regret, stopping, theorems
from ramgape.paper.page import PageText
from ramgape.paper.report import Part, ReportPlan
from ramgape.paper.scale import FULL, QUICK

PARTS = {
    "1": Part("experiment1", stopping.plan_one, stopping.make_section_one),
    "1-tight": Part("experiment1", stopping.plan_tight, stopping.make_section_tight),
    "2": Part("experiment2", crosses.plan_jobs, crosses.make_section),
    "3": Part("experiment3", regret.plan_three, regret.make_section_three),
    "4": Part("experiment4", regret.plan_four, regret.make_section_four),
    "gaussian": Part("gaussian", stopping.plan_gaussian, stopping.make_section_gaussian),
    "gaps": Part("gaps", geometry.plan_jobs, geometry.make_section),
    "theorems": Part("theorems", theorems.plan_jobs, theorems.make_section),
    "beyond": Part("beyond", beyond.plan_jobs, beyond.make_section),
}

PAGE_TEXT = PageText(
    command="reproduce",
    title="RAMGapE, reproduced",
    lead=(
        "Every experiment of <em>Risk-Averse Best Arm Set Identification with Fixed Budget and Fixed Confidence</em> "
        "(Nonaga, Tabata, Mizuno, Komatsuzaki; ACML 2025), run again: the paper's numbers beside ours, its figures "
        "drawn from new runs, and a verdict on each of its claims that runs can test. The last chapter is ours: the "
        "same experiments with the defaults of ramgape."
    ),
    quick="few patterns and trials, enough to see that everything works",
    footer=(
        "The paper's numbers are quoted from its tables and captions; its figures are not copied, but drawn anew from "
        "our runs."
    ),
)

REPORT = ReportPlan(PAGE_TEXT, PARTS, FULL, QUICK, figures=18, overall=overall.findings)
