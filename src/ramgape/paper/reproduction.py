"""What `ramgape reproduce` runs: the experiments of the paper, and the claims that only several of them can judge."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from ramgape.paper import beyond, exact, geometry, regret, stopping, theorems
from ramgape.paper.report import Part, ReportPlan
from ramgape.paper.scale import FULL, QUICK
from ramgape.paper.section import Finding, Section, finding

BUDGETS = ("3", "4")
SETTINGS = {
    "1": "comparable",
    "3": "equals the best",
    "4": "equals the best",
}  # a word of the decisive claim, by section


def overall(sections: Mapping[str, Section]) -> list[Finding]:
    """The paper's overall assessment."""
    return list(overall_findings(sections))


def overall_findings(sections: Mapping[str, Section]) -> Iterator[Finding]:
    """The same, one by one; nothing is said of experiments that were not run."""
    if all(name in sections for name in SETTINGS):
        decisive = {
            name: next(each for each in sections[name].findings if word in each.claim)
            for name, word in SETTINGS.items()
        }
        holds = sections["1"].summary["epsilon_0.1"]["holds"]
        holds = holds and all(decisive[name].verdict == "confirmed" for name in BUDGETS)
        told = " ".join(f"Experiment {name}: {each.evidence}" for name, each in decisive.items())
        yield finding("both_settings", holds, told=told)
    if all(name in sections for name in BUDGETS):
        yield finding("stable", None)
        yield finding("spreads_its_pulls", None, three=agreement(sections["3"]), four=agreement(sections["4"]))
    if sections:
        yield finding("practice", None)


def agreement(section: Section) -> float:
    """Spearman's correlation over the rules: of the share of pulls of Pareto arms, and of how small the regret is."""
    shares, regrets = section.summary["pulling_ratio"], section.summary["final_regret"]
    large = ranks([shares[rule]["mean"] for rule in regrets])
    small = ranks([-regrets[rule]["mean"] for rule in regrets])
    return float((large * small).mean() / (large.std() * small.std()))


def ranks(values: Sequence[float]) -> NDArray[np.float64]:
    """The place of each value in the order, around zero; equal values share their places."""
    column = np.array(values, dtype=np.float64)
    below, above = (column[:, None] > column).sum(axis=1), (column[:, None] < column).sum(axis=1)
    return np.asarray((below - above) / 2.0)


REPORT = ReportPlan(
    command="reproduce",
    parts={
        "1": Part("experiment1", stopping.plan_one, stopping.make_section_one),
        "1-tight": Part("experiment1", stopping.plan_tight, stopping.make_section_tight),
        "2": Part("experiment2", exact.plan_jobs, exact.make_section),
        "3": Part("experiment3", regret.plan_three, regret.make_section_three),
        "4": Part("experiment4", regret.plan_four, regret.make_section_four),
        "gaussian": Part("gaussian", stopping.plan_gaussian, stopping.make_section_gaussian),
        "gaps": Part("gaps", geometry.plan_jobs, geometry.make_section),
        "theorems": Part("theorems", theorems.plan_jobs, theorems.make_section),
        "beyond": Part("beyond", beyond.plan_jobs, beyond.make_section),
    },
    full=FULL,
    quick=QUICK,
    overall=overall,
)
