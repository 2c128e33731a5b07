"""Find the options with the best trade-offs between mean reward and risk, with few noisy trials and a certificate."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ramgape.errors import (
        BudgetSpent,
        ChangedAnswer,
        DamagedStore,
        DataError,
        FailedTrial,
        FailingArm,
        InvalidData,
        InvalidInstance,
        InvalidReward,
        InvalidSpec,
        KeyReused,
        MissingExtra,
        NoAnswer,
        RamgapeError,
        RamgapeWarning,
        Retry,
        SpecificationError,
        StorageError,
        StorageUnavailable,
        StudyError,
        StudyExists,
        TrialError,
        UnknownName,
        UnknownPull,
        UnknownStudy,
        WorkerLost,
    )
    from ramgape.options import Search, Trials
    from ramgape.planning.forecast import ArmForecast, Plan, PullForecast, Quality
    from ramgape.planning.lower_bound import LowerBound, lower_bound
    from ramgape.planning.plan import plan
    from ramgape.problems.distribution import Distribution
    from ramgape.problems.environments import Arm, Bernoulli, Beta, Data, Gaussian, Instance, Uniform
    from ramgape.problems.instances import instance_names, load_instance
    from ramgape.problems.mixtures import Mixture
    from ramgape.problems.unbounded import Exponential, Gamma, LogNormal, Lomax, StudentT
    from ramgape.registry import register
    from ramgape.risks.cvar import CVaR
    from ramgape.risks.entropic import Entropic
    from ramgape.risks.evar import EVaR
    from ramgape.risks.mean_variance import MeanVariance, Variance
    from ramgape.risks.measure import Measure
    from ramgape.risks.quantile import Quantile
    from ramgape.risks.semivariance import Semivariance
    from ramgape.risks.shortfall import Shortfall
    from ramgape.risks.spectral import Spectral
    from ramgape.risks.standard_deviation import StandardDeviation
    from ramgape.search.analysis import Analysis, analyze
    from ramgape.search.curves import CurvePoint
    from ramgape.search.extension import Extension
    from ramgape.search.identification import identify
    from ramgape.search.items import Items
    from ramgape.search.outcome import Outcome
    from ramgape.search.progress import Progress
    from ramgape.search.quality import TrialQuality
    from ramgape.search.replication import Replication, replicate
    from ramgape.search.result import Alarm, ArmReport, ArmTruth, ControlDifference, Expectation, Goal, Result, Truth
    from ramgape.search.runs import Run
    from ramgape.search.simulation import simulate
    from ramgape.studies.catalog import delete_study, list_studies
    from ramgape.studies.exchange import Answer, Exchange, Pull
    from ramgape.studies.report import Failure, Report, StudySummary
    from ramgape.studies.study import Study
    from ramgape.tasks.best_mean import BestMean
    from ramgape.tasks.best_score import BestScore
    from ramgape.tasks.better_than import BetterThan
    from ramgape.tasks.least_risk import LeastRisk
    from ramgape.tasks.pareto import Pareto
    from ramgape.tasks.task import Task
    from ramgape.tasks.top import Top

__all__ = [
    "Alarm",
    "Analysis",
    "Answer",
    "Arm",
    "ArmForecast",
    "ArmReport",
    "ArmTruth",
    "Bernoulli",
    "BestMean",
    "BestScore",
    "Beta",
    "BetterThan",
    "BudgetSpent",
    "CVaR",
    "ChangedAnswer",
    "ControlDifference",
    "CurvePoint",
    "DamagedStore",
    "Data",
    "DataError",
    "Distribution",
    "EVaR",
    "Entropic",
    "Exchange",
    "Expectation",
    "Exponential",
    "Extension",
    "FailedTrial",
    "FailingArm",
    "Failure",
    "Gamma",
    "Gaussian",
    "Goal",
    "Instance",
    "InvalidData",
    "InvalidInstance",
    "InvalidReward",
    "InvalidSpec",
    "Items",
    "KeyReused",
    "LeastRisk",
    "LogNormal",
    "Lomax",
    "LowerBound",
    "MeanVariance",
    "Measure",
    "MissingExtra",
    "Mixture",
    "NoAnswer",
    "Outcome",
    "Pareto",
    "Plan",
    "Progress",
    "Pull",
    "PullForecast",
    "Quality",
    "Quantile",
    "RamgapeError",
    "RamgapeWarning",
    "Replication",
    "Report",
    "Result",
    "Retry",
    "Run",
    "Search",
    "Semivariance",
    "Shortfall",
    "SpecificationError",
    "Spectral",
    "StandardDeviation",
    "StorageError",
    "StorageUnavailable",
    "StudentT",
    "Study",
    "StudyError",
    "StudyExists",
    "StudySummary",
    "Task",
    "Top",
    "TrialError",
    "TrialQuality",
    "Trials",
    "Truth",
    "Uniform",
    "UnknownName",
    "UnknownPull",
    "UnknownStudy",
    "Variance",
    "WorkerLost",
    "__version__",
    "analyze",
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

# Where each public name lives. Loaded on first use, so that importing ramgape, and the command's help, cost nothing.
_HOMES = {
    "search.analysis": ("Analysis", "analyze"),
    "problems.distribution": ("Distribution",),
    "problems.mixtures": ("Mixture",),
    "problems.unbounded": ("Exponential", "Gamma", "LogNormal", "Lomax", "StudentT"),
    "problems.environments": ("Arm", "Bernoulli", "Beta", "Data", "Gaussian", "Instance", "Uniform"),
    "errors": (
        "BudgetSpent",
        "ChangedAnswer",
        "DamagedStore",
        "DataError",
        "FailedTrial",
        "FailingArm",
        "InvalidData",
        "InvalidInstance",
        "InvalidReward",
        "InvalidSpec",
        "KeyReused",
        "MissingExtra",
        "NoAnswer",
        "RamgapeError",
        "RamgapeWarning",
        "Retry",
        "SpecificationError",
        "StorageError",
        "StorageUnavailable",
        "StudyError",
        "StudyExists",
        "TrialError",
        "UnknownName",
        "UnknownPull",
        "UnknownStudy",
        "WorkerLost",
    ),
    "options": ("Search", "Trials"),
    "search.items": ("Items",),
    "planning.forecast": ("ArmForecast", "Plan", "PullForecast", "Quality"),
    "search.identification": ("identify",),
    "search.progress": ("Progress",),
    "problems.instances": ("instance_names", "load_instance"),
    "planning.plan": ("plan",),
    "search.curves": ("CurvePoint",),
    "search.extension": ("Extension",),
    "search.outcome": ("Outcome",),
    "search.quality": ("TrialQuality",),
    "search.result": ("Alarm", "ArmReport", "ArmTruth", "ControlDifference", "Expectation", "Goal", "Result", "Truth"),
    "registry": ("register",),
    "risks.cvar": ("CVaR",),
    "risks.entropic": ("Entropic",),
    "risks.evar": ("EVaR",),
    "risks.mean_variance": ("MeanVariance", "Variance"),
    "risks.standard_deviation": ("StandardDeviation",),
    "risks.measure": ("Measure",),
    "risks.quantile": ("Quantile",),
    "risks.semivariance": ("Semivariance",),
    "risks.shortfall": ("Shortfall",),
    "risks.spectral": ("Spectral",),
    "search.replication": ("Replication", "replicate"),
    "search.runs": ("Run",),
    "search.simulation": ("simulate",),
    "studies.study": ("Study",),
    "studies.exchange": ("Answer", "Exchange", "Pull"),
    "studies.catalog": ("delete_study", "list_studies"),
    "studies.report": ("Failure", "Report", "StudySummary"),
    "tasks.best_mean": ("BestMean",),
    "tasks.best_score": ("BestScore",),
    "tasks.better_than": ("BetterThan",),
    "tasks.least_risk": ("LeastRisk",),
    "tasks.pareto": ("Pareto",),
    "tasks.task": ("Task",),
    "tasks.top": ("Top",),
    "planning.lower_bound": ("LowerBound", "lower_bound"),
}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("ramgape")
    for module, names in _HOMES.items():
        if name in names:
            value = getattr(importlib.import_module(f"ramgape.{module}"), name)
            globals()[name] = value
            return value
    raise AttributeError(f"module 'ramgape' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
