"""Find the options with the best trade-offs between mean reward and risk, with few noisy trials and a certificate."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ramgape.data.analysis import analyze
    from ramgape.data.reading import Analysis
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
    from ramgape.problems.distribution import Distribution
    from ramgape.problems.environments import Arm, Bernoulli, Beta, Data, Gaussian, Instance, Uniform
    from ramgape.problems.instances import instance_names, load_instance
    from ramgape.problems.mixtures import Mixture
    from ramgape.problems.unbounded import Exponential, Gamma, LogNormal, Lomax, StudentT
    from ramgape.questions.best import BestMean, BestScore, LeastRisk, Top
    from ramgape.questions.better_than import BetterThan
    from ramgape.questions.pareto import Pareto
    from ramgape.questions.question import Question
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
    from ramgape.search.extension import Extension
    from ramgape.search.items import Items
    from ramgape.search.outcome import Outcome
    from ramgape.search.quality import TrialQuality
    from ramgape.search.result import Alarm, ArmReport, ArmTruth, ControlDifference, Expectation, Goal, Result, Truth
    from ramgape.simulation.curves import CurvePoint
    from ramgape.simulation.forecast import ArmForecast, Plan, PullForecast, Quality
    from ramgape.simulation.lower_bound import LowerBound, lower_bound
    from ramgape.simulation.plan import plan
    from ramgape.simulation.replication import Replication, replicate
    from ramgape.simulation.runs import Run
    from ramgape.simulation.simulation import simulate
    from ramgape.studies.catalog import delete_study, list_studies
    from ramgape.studies.exchange import Answer, Exchange, Pull
    from ramgape.studies.report import Failure, Report, StudySummary
    from ramgape.studies.study import Study
    from ramgape.trials.identification import identify
    from ramgape.trials.progress import Progress

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
    "Question",
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
    "data.analysis": ("analyze",),
    "data.reading": ("Analysis",),
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
    "simulation.forecast": ("ArmForecast", "Plan", "PullForecast", "Quality"),
    "trials.identification": ("identify",),
    "trials.progress": ("Progress",),
    "problems.instances": ("instance_names", "load_instance"),
    "simulation.plan": ("plan",),
    "simulation.curves": ("CurvePoint",),
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
    "simulation.replication": ("Replication", "replicate"),
    "simulation.runs": ("Run",),
    "simulation.simulation": ("simulate",),
    "studies.study": ("Study",),
    "studies.exchange": ("Answer", "Exchange", "Pull"),
    "studies.catalog": ("delete_study", "list_studies"),
    "studies.report": ("Failure", "Report", "StudySummary"),
    "questions.best": ("BestMean", "BestScore", "LeastRisk", "Top"),
    "questions.better_than": ("BetterThan",),
    "questions.pareto": ("Pareto",),
    "questions.question": ("Question",),
    "simulation.lower_bound": ("LowerBound", "lower_bound"),
}

_OLD_NAMES = {"Task": "Question"}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("ramgape")
    name = _OLD_NAMES.get(name, name)
    for module, names in _HOMES.items():
        if name in names:
            value = getattr(importlib.import_module(f"ramgape.{module}"), name)
            globals()[name] = value
            return value
    raise AttributeError(f"module 'ramgape' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
