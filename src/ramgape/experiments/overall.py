"""Claims that only several experiments together can answer, and those that no experiment can."""

from __future__ import annotations

from collections.abc import Mapping

from ramgape.experiments.chapter import Chapter, Finding, judged

SETTINGS = {"1": "comparable", "3": "equals the best", "4": "equals the best"}  # the finding that tells, by chapter


def findings(chapters: Mapping[str, Chapter]) -> list[Finding]:
    """The paper's overall assessment."""
    told = []
    if all(name in chapters for name in SETTINGS):
        decisive = {
            name: next(finding for finding in chapters[name].findings if word in finding.claim)
            for name, word in SETTINGS.items()
        }
        told.append(
            Finding(
                "RAMGapE unifies both settings, and is the best of the compared rules or equally good in both.",
                judged(
                    chapters["1"].summary["epsilon_0.1"]["holds"]
                    and all(decisive[name].verdict == "confirmed" for name in ("3", "4"))
                ),
                " ".join(f"Experiment {name}: {finding.evidence}" for name, finding in decisive.items()),
                "Section 4, results",
            )
        )
    if chapters:
        told += [
            Finding(
                "RAMGapE performs stably in both settings and balances exploration and exploitation.",
                "not checkable",
                "The paper does not say what would count as unstable. In pure exploration nothing is exploited; what "
                "can be counted, regret and shares of pulls, stands in the chapters on Experiments 3 and 4.",
                "Section 4, overall assessment",
            ),
            Finding(
                "The way RAMGapE spreads its pulls is what reduces its regret.",
                "not checkable",
                "A cause is claimed where two things are seen together. Across the rules a larger share of Pareto arms "
                "does not go with a smaller regret.",
                "Section 4, results",
            ),
            Finding(
                "RAMGapE suits risk-averse decisions in practice, such as medical trials or portfolios.",
                "not checkable",
                "All experiments use Beta and Gaussian rewards; no data from practice were used.",
                "Sections 4 and 5",
            ),
        ]
    return told
