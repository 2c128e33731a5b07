"""Real jobs, as people do them today and as we do them: `python -m benchmarks.jobs`.

A table for docs/project/jobs.md. Each job is a real set of recorded trials; a trial of an arm draws one of its
rows, and an answer is wrong if the full record says so, beyond the tolerance. Five ways to do a job:

today         what people do: as many trials of every arm as is usual, and the best average
equal         the same with the fewest trials that are wrong as rarely as ours under a budget. Nobody knows that number
              beforehand; it is the strictest thing to be compared with
budget        ours, with so many trials to spend, the fewest that are wrong as rarely as today's
equal, proved equal shares until the same proof
proved        ours, until the answer is proved (approximately so where no range of rewards is stated)

With Optuna, of the trials that ours takes under a budget the best one is taken, as its users do. Commands are timed for
real by hyperfine and by us.
"""

from __future__ import annotations

import argparse
import csv
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from ramgape.datasets import load_prompts
from ramgape.problems.environments import Instance
from ramgape.problems.instances import load_instance
from ramgape.simulation.replication import Replication, replicate
from ramgape.simulation.simulation import simulated_spec
from ramgape.simulation.truth import TrueArms

RECORDED = Path(__file__).resolve().parents[1] / "tests" / "data"
GROWTH = 1.4  # of the numbers of trials that are tried out
OPTUNA_RUNS = 20  # at most: a search of Optuna's takes seconds


@dataclass(frozen=True)
class Job:
    """A choice that somebody has to make.

    Attributes:
        name: A few words.
        question: What is asked, with the tolerance.
        arms: The recorded rewards of each.
        options: Of the search.
        usual: How many trials of every arm people make today; of a record all of it, on average.
        today: What they would call that.
        all_of_it: Whether that is the whole record, by which answers are judged.
        description: What else an instance file would have.
    """

    name: str
    question: str
    arms: Mapping[str, Sequence[float]]
    options: Mapping[str, Any]
    usual: int
    today: str
    all_of_it: bool = False
    description: Mapping[str, Any] = field(default_factory=lambda: {"noise": "any"})

    @property
    def instance(self) -> Instance:
        """The recorded rewards as arms whose truth is known."""
        kind = "scores" if "items" in self.description else "data"
        arms = [{"name": name, "distribution": kind, "values": list(values)} for name, values in self.arms.items()]
        return load_instance({"name": self.name, **self.description, "arms": arms})


def columns(text: TextIO) -> dict[str, list[str]]:
    """The columns of a table."""
    header, *rows = csv.reader(text)
    return dict(zip(header, zip(*rows, strict=True), strict=True))  # type: ignore[arg-type]


def models() -> Job:
    """Twelve classifiers of scikit-learn on the breast cancer data, each fit on a split of its own."""
    with (RECORDED / "twelve_models.csv").open(encoding="utf-8", newline="") as file:
        right = columns(file)
    arms = {name: [int(count) / 509 for count in counts] for name, counts in right.items()}
    return Job(
        "models over seeds",
        "which of 12 models is the most accurate, within .01?",
        arms,
        {"question": "best", "epsilon": 0.01},
        30,
        "30 seeds each",
    )


def test_set() -> Job:
    """Ten classifiers of scikit-learn on the same thousand handwritten digits."""
    with (RECORDED / "digits.csv").open(encoding="utf-8", newline="") as file:
        right = columns(file)
    arms = {name: [float(score) for score in scores] for name, scores in list(right.items())[1:]}
    items = len(next(iter(arms.values())))
    return Job(
        "test set",
        "which of 10 models is the best on these 1,000 items, within .02?",
        arms,
        {"question": "best", "epsilon": 0.02},
        items,
        "every item asked of every model",
        all_of_it=True,
        description={"reward_range": [0, 1], "items": items},
    )


def prompts() -> Job:
    """Eight prompts on the same 500 sentences, which come with the package."""
    data = load_prompts()
    arms = {name: [data.ask(name, item) for item in data.items] for name in data.arms}
    items = len(data.items)
    return Job(
        "prompts",
        "which of 8 prompts is the best on these 500 questions, within .05?",
        arms,
        {"question": "best", "epsilon": 0.05},
        items,
        "every question asked of every prompt",
        all_of_it=True,
        description={"reward_range": [0, 1], "items": items},
    )


JOBS: dict[str, Callable[[], Job]] = {"models": models, "test-set": test_set, "prompts": prompts}


@dataclass(frozen=True)
class Way:
    """How one way of doing a job went: trials on average, wrong answers, of how many; the time of its own work."""

    name: str
    trials: float
    wrong: int
    runs: int
    seconds: float | None = None

    def __str__(self) -> str:
        return f"{self.trials:,.0f} ({self.wrong} of {self.runs})"


def way(name: str, found: Replication) -> Way:
    """Of a replication; what hit a cap has not answered, and counts as wrong."""
    unanswered = len(found.runs) - len(found.ended)
    seconds = sum(run.seconds for run in found.runs) / len(found.runs)
    return Way(name, found.mean_samples, found.errors + unanswered, len(found.runs), seconds)


def equal(job: Job, instance: Instance, each: int, runs: int) -> Replication:
    """As many trials of every arm, and what the averages say."""
    budget = each * len(job.arms)
    return replicate(instance, runs=runs, policy="round-robin", budget=budget, **job.options)


def spent(job: Job, instance: Instance, each: int, runs: int) -> Replication:
    """Ours, with the same number of trials in all."""
    return replicate(instance, runs=runs, budget=each * len(job.arms), **job.options)


def numbers(most: int) -> Iterator[int]:
    """Trials of an arm, few to many."""
    count = 3.0
    while round(count) < most:
        yield round(count)
        count = max(count * GROWTH, count + 1.0)
    yield most


def fewest(
    doing: Callable[[Job, Instance, int, int], Replication], job: Job, instance: Instance, wrong: int, runs: int
) -> Replication:
    """The fewest trials that are wrong as rarely, up to what is usual today."""
    for each in numbers(job.usual):
        found = doing(job, instance, each, runs)
        if found.errors <= wrong:
            break
    return found


def best_of_optuna(job: Job, instance: Instance, trials: int, runs: int) -> Way:
    """What Optuna's users do: a categorical choice, and the best trial's."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    names, minimize = list(job.arms), job.options.get("direction") == "minimize"
    true, wrong, begun = TrueArms(instance, simulated_spec(instance, **job.options)), 0, time.process_time()
    for seed in range(runs):
        generator = np.random.default_rng(seed)
        study = optuna.create_study(
            direction="minimize" if minimize else "maximize", sampler=optuna.samplers.TPESampler(seed=seed)
        )
        for _ in range(trials):
            trial = study.ask()
            study.tell(trial, generator.choice(job.arms[trial.suggest_categorical("arm", names)]))
        answer = np.array([name == study.best_params["arm"] for name in names])
        wrong += not true.assess(answer, float(job.options["epsilon"])).eps_correct
    return Way("Optuna's best trial", trials, wrong, runs, (time.process_time() - begun) / runs)


def do(job: Job, runs: int) -> list[Way]:
    """A job in all ways."""
    instance, rows = job.instance, sum(map(len, job.arms.values()))
    today = Way("today", rows, 0, runs) if job.all_of_it else way("today", equal(job, instance, job.usual, runs))
    budget = way("budget", fewest(spent, job, instance, today.wrong, runs))
    ways = [
        today,
        way("equal", fewest(equal, job, instance, budget.wrong, runs)),
        budget,
        way("equal, proved", replicate(instance, runs=runs, policy="round-robin", **job.options)),
        way("proved", replicate(instance, runs=runs, **job.options)),
    ]
    if job.options["question"] == "best" and "items" not in job.description:
        ways.append(best_of_optuna(job, instance, round(budget.trials), min(runs, OPTUNA_RUNS)))
    return ways


TIMED = ("commands", "precision")  # benchmarks/commands.py


def table(done: Mapping[str, tuple[Job, list[Way]]]) -> str:
    """Markdown: trials, and in brackets the wrong answers."""
    lines = [
        "| job | today | equal shares, as rarely wrong | ours, budget | equal shares, proved | ours, proved "
        "| Optuna's best trial |",
        "|---|--:|--:|--:|--:|--:|--:|",
    ]
    for job, ways in done.values():
        cells = [str(each) for each in ways] + [""] * (6 - len(ways))
        lines.append(f"| **{job.name}**: {job.question} Today: {job.today}. | {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.jobs", description=__doc__)
    parser.add_argument("--runs", type=int, default=200, help="searches of each kind")
    parser.add_argument("--job", choices=[*JOBS, *TIMED], action="append", help="only this one; may be repeated")
    parser.add_argument("--repeats", type=int, default=20, help="calls of each tool for a set of commands")
    parser.add_argument("--reference-runs", type=int, default=500, help="runs of each command that are the truth")
    parser.add_argument("--set", action="append", help="only this set of commands; may be repeated")
    given = parser.parse_args()
    wanted = given.job or [*JOBS, *TIMED]
    done = {}
    for name in wanted:
        if name in TIMED:
            continue
        job = JOBS[name]()
        done[name] = (job, do(job, given.runs))
        print(f"{name}: {', '.join(f'{each.name} {each}' for each in done[name][1])}", file=sys.stderr)
    if done:
        print(table(done))
    if "commands" in wanted:
        from benchmarks.commands import SETS, compare

        print(compare(given.repeats, given.reference_runs, given.set or list(SETS)))
    if "precision" in wanted:
        from benchmarks.commands import precision

        print(precision(given.reference_runs))


if __name__ == "__main__":
    main()
