"""Claims that only several experiments together can answer, and those that no experiment can."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from ramgape.paper.section import Finding, Section, judged

BUDGETS = ("3", "4")
SETTINGS = {"1": "comparable", "3": "equals the best", "4": "equals the best"}  # the finding that tells, by section


def findings(sections: Mapping[str, Section]) -> list[Finding]:
    """The paper's overall assessment."""
    told = []
    if all(name in sections for name in SETTINGS):
        decisive = {
            name: next(finding for finding in sections[name].findings if word in finding.claim)
            for name, word in SETTINGS.items()
        }
        told.append(
            Finding(
                "RAMGapE unifies both settings, and is the best of the compared rules or equally good in both.",
                judged(
                    sections["1"].summary["epsilon_0.1"]["holds"]
                    and all(decisive[name].verdict == "confirmed" for name in BUDGETS)
                ),
                " ".join(f"Experiment {name}: {finding.evidence}" for name, finding in decisive.items()),
                "Section 4, results",
            )
        )
    if all(name in sections for name in BUDGETS):
        told += [
            Finding(
                "RAMGapE performs stably in both settings and balances exploration and exploitation.",
                "not checkable",
                "The paper does not say what would count as unstable. In pure exploration nothing is exploited; what "
                "can be counted, regret and shares of pulls, stands in the sections on Experiments 3 and 4.",
                "Section 4, overall assessment",
            ),
            Finding(
                "The way RAMGapE spreads its pulls is what reduces its regret.",
                "not checkable",
                "A cause is claimed where two things are seen together. Across the rules, the rank correlation between "
                "the share of pulls of Pareto arms and a small regret is "
                + " and ".join(f"{agreement(sections[name]):.2f} in Experiment {name}" for name in BUDGETS)
                + "; it would be 1 if a larger share always went with a smaller regret.",
                "Section 4, results",
            ),
        ]
    if sections:
        told.append(
            Finding(
                "RAMGapE suits risk-averse decisions in practice, such as medical trials or portfolios.",
                "not checkable",
                "All experiments use Beta and Gaussian rewards; no data from practice were used.",
                "Sections 4 and 5",
            )
        )
    return told


def agreement(section: Section) -> float:
    """Spearman's correlation over the rules: of the share of pulls of Pareto arms, and of how small the regret is."""
    shares, regrets = section.summary["pulling_ratio"], section.summary["final_regret"]
    large = ranks([shares[rule]["mean"] for rule in regrets])
    small = ranks([-regrets[rule]["mean"] for rule in regrets])
    return float((large * small).mean() / (large.std() * small.std()))


def ranks(values: Sequence[float]) -> NDArray[np.float64]:
    """Where each value stands in the order, around zero; equal values share their places."""
    below = np.array([sum(other < value for other in values) for value in values], dtype=np.float64)
    above = np.array([sum(other > value for other in values) for value in values], dtype=np.float64)
    return (below - above) / 2.0
