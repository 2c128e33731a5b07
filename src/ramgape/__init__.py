"""Find the options with the best trade-offs between mean reward and risk, with few noisy trials and a certificate.

Errors are in `ramgape.errors`, risks in `ramgape.risks`, questions in `ramgape.questions`, arms and distributions whose
truth is known in `ramgape.problems`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ramgape.common.lazy import importing, modules_of

if TYPE_CHECKING:
    from ramgape.data.analysis import analyze
    from ramgape.data.reading import Analysis
    from ramgape.errors import RamgapeError, RamgapeWarning, Retry
    from ramgape.options import Search, Trials
    from ramgape.problems.environments import Arm, Instance
    from ramgape.problems.instances import instance_names, load_instance
    from ramgape.questions.question import Question
    from ramgape.registry import register
    from ramgape.risks.measure import Measure
    from ramgape.search.items import Items
    from ramgape.search.outcome import Outcome
    from ramgape.search.result import ArmReport, Goal, Result
    from ramgape.simulation.forecast import Plan
    from ramgape.simulation.lower_bound import LowerBound, lower_bound
    from ramgape.simulation.plan import plan
    from ramgape.simulation.replication import Replication, replicate
    from ramgape.simulation.simulation import simulate
    from ramgape.studies.catalog import delete_study, list_studies
    from ramgape.studies.exchange import Answer, Exchange, Pull
    from ramgape.studies.report import Failure, Report, StudySummary
    from ramgape.studies.study import Study
    from ramgape.trials.identification import identify
    from ramgape.trials.progress import Progress
    from ramgape.trials.requirement import check

__all__ = [
    "Analysis",
    "Answer",
    "Arm",
    "ArmReport",
    "Exchange",
    "Failure",
    "Goal",
    "Instance",
    "Items",
    "LowerBound",
    "Measure",
    "Outcome",
    "Plan",
    "Progress",
    "Pull",
    "Question",
    "RamgapeError",
    "RamgapeWarning",
    "Replication",
    "Report",
    "Result",
    "Retry",
    "Search",
    "Study",
    "StudySummary",
    "Trials",
    "__version__",
    "analyze",
    "check",
    "delete_study",
    "identify",
    "instance_names",
    "list_studies",
    "load_instance",
    "lower_bound",
    "plan",
    "register",
    "replicate",
    "simulate",
]

# The module of every name that the top level gives, also of those that are in a package of their own. Loaded on first
# use, so that importing ramgape, and the command's help, cost nothing.
_MODULES = modules_of(
    {
        "data.analysis": "analyze",
        "data.reading": "Analysis",
        "errors": "BudgetSpent ChangedAnswer DamagedStore DataError FailedTrial FailingArm InvalidData InvalidInstance "
        "InvalidReward InvalidSpec KeyReused MissingExtra NoAnswer RamgapeError RamgapeWarning RequirementError "
        "RequirementRefuted RequirementUndecided Retry "
        "SpecificationError StorageError StorageUnavailable StudyError StudyExists TrialError UnknownName UnknownPull "
        "UnknownStudy WorkerLost",
        "options": "Search Trials",
        "problems": "Bernoulli Beta Data Distribution Exponential Gamma Gaussian LogNormal Lomax Mixture StudentT "
        "Uniform",
        "problems.environments": "Arm Instance",
        "problems.instances": "instance_names load_instance",
        "questions": "BestMean BestScore BetterThan LeastRisk Pareto Question Top",
        "registry": "register",
        "risks": "CVaR EVaR Entropic MeanVariance Measure Quantile Semivariance Shortfall Spectral StandardDeviation "
        "Variance",
        "search.extension": "Extension",
        "search.items": "Items",
        "search.objectives": "Constraint Objective",
        "search.outcome": "Outcome",
        "search.quality": "Alarm TrialQuality",
        "search.result": "ArmReport ArmTruth ControlDifference Expectation Goal Result Truth",
        "simulation.curves": "CurvePoint",
        "simulation.forecast": "ArmForecast Plan PullForecast Quality",
        "simulation.lower_bound": "LowerBound lower_bound",
        "simulation.plan": "plan",
        "simulation.replication": "Replication replicate",
        "simulation.runs": "Run",
        "simulation.simulation": "simulate",
        "studies.catalog": "delete_study list_studies",
        "studies.exchange": "Answer Exchange Pull",
        "studies.report": "Failure Report StudySummary",
        "studies.study": "Study",
        "trials.identification": "identify",
        "trials.progress": "Progress",
        "trials.requirement": "check",
    }
)
_load = importing(__name__, _MODULES)


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("ramgape")
    return _load("Question") if name == "Task" else _load(name)


def __dir__() -> list[str]:
    return __all__
