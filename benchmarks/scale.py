"""One study and up to ten thousand workers, whose trials take minutes: `python -m benchmarks.scale`.

Simulated by events: the clock is a number, and nobody sleeps. State and engine are those of every study; only workers
and times are made up. A trial takes a lognormal time, with a median between 1.5 and 6 minutes that each arm has for
itself. A worker tells its reward and asks for its next trial in one exchange, and the study serves one exchange after
the other, so many a second (`--rate`; docs/project/scale.md has what was measured).

How long a search takes is mostly luck, the same luck for everybody who draws the same rewards: so a search by many
workers is compared with one of the same seed by a single worker, where the n-th reward of each arm is the same.

Printed for each number of workers:

    trials/h    told in an hour of the simulated clock, and as a share of what workers who never wait would tell
    answers     how many came between the decision for a trial and its own answer: how old a decision is
    extra       trials told until the study stops, over those of searches that are told every reward at once
    in vain     trials under way when the study stops, or told and not counted by then, over the trials that count
    CPU         of ledger and engine for one trial, here
"""

from __future__ import annotations

import argparse
import heapq
import json
import math
import statistics
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.trials import RISK
from ramgape.problems.environments import Instance
from ramgape.problems.instances import load_instance
from ramgape.storage.records import Changes, Moment, PullRow, StudyRow
from ramgape.studies.entries import Told
from ramgape.studies.exchange import PullId
from ramgape.studies.specification import make_study_spec
from ramgape.studies.state import StudyState

MEDIANS, SIGMA = (90.0, 360.0), 0.7  # seconds of the fastest arm and of the slowest; the spread of each one's logarithm
LEASE = 1e9  # seconds: nobody dies here
ENOUGH = 50  # trials for each worker, from which on the promise is meant
PROMISED = {8: 1.10, 64: 1.30}


class Case(NamedTuple):
    """A search, by how many workers, and how often."""

    instance: str
    epsilon: float
    workers: int
    runs: int


# Searches of some thousand trials, of tens of thousands, and of some hundred thousand; how often; how many workers.
SEARCHES = [
    ("paper:46", 0.03, 40, (8, 64)),
    ("random-beta:101", 0.03, 30, (8, 64)),
    ("random-bernoulli:102", 0.04, 40, (8, 64)),
    ("random-beta:104", 0.03, 16, (8, 64)),
    ("random-beta:112", 0.01, 8, (64, 512)),
    ("random-beta:124", 0.005, 2, (1_000, 10_000)),
    ("random-beta:115", 0.004, 2, (10_000,)),
]


def cases(quick: bool) -> list[Case]:
    """What is simulated."""
    searches = [("paper:46", 0.05, 2, (2, 64))] if quick else SEARCHES
    return [Case(name, epsilon, count, runs) for name, epsilon, runs, workers in searches for count in workers]


@dataclass(frozen=True, slots=True)
class Course:
    """How a study went: trials told, trials in vain, hours, the age of decisions in answers, seconds of CPU a trial."""

    told: int
    in_vain: int
    hours: float
    busy: float
    answers: float
    cpu: float


class Crew:
    """Workers of one study, and the clock."""

    def __init__(self, instance: Instance, workers: int, seed: int, rate: float, options: dict[str, Any]) -> None:
        known: Any = {"reward_range": instance.reward_range, "noise": instance.noise, "seed": seed, **options}
        spec = make_study_spec(instance.names, known)
        self.ledger = StudyState(spec, StudyRow(1, "scale", f"{seed:032x}", spec.to_text(), 0.0))
        self.workers, self.cost = workers, 1.0 / rate
        self._generator, self._sampler = np.random.default_rng(seed), instance.sampler()
        self._rewards = [np.random.default_rng([seed, arm]) for arm in range(len(instance.names))]
        middle = np.geomspace(*MEDIANS, len(instance.names))
        self._medians = self._generator.permutation(middle)
        # When a trial ends, whose it is, how long it took, how much was told when it was decided, and which it is.
        self._ends: list[tuple[float, int, float, int, PullRow]] = []
        self._idle: list[int] = []  # workers that got nothing, since results that wait may be all it takes
        self._free = 0.0  # when the study has served everybody so far
        self._worked = 0.0

    def run(self) -> Course:
        """Until the study has its answer."""
        begun, ages = time.process_time(), []
        for worker in range(self.workers):
            self._ask(worker, 0.0)
        while self._ends and not self.ledger.done:
            clock, worker, took, told, pull = heapq.heappop(self._ends)
            self._worked += took
            sampler = self._sampler
            reward = float(sampler.draw(sampler.parameters, sampler.values, pull.arm, self._rewards[pull.arm]))
            ages.append(self.ledger.told - told)
            answer = Told(PullId(pull.token, pull.number, pull.attempt), reward)
            self.ledger.tell([answer], Moment(clock, clock), lambda number: None)
            waiting, self._idle = [worker, *self._idle], []
            for each in waiting:
                self._ask(each, clock)
        ledger, hours = self.ledger, float(self._free) / 3600.0
        busy = float(self._worked / (self.workers * self._free))
        cpu = (time.process_time() - begun) / ledger.told
        in_vain = len(ledger.open) + ledger.late
        return Course(ledger.told - ledger.late, in_vain, hours, busy, statistics.fmean(ages), cpu)

    def _ask(self, worker: int, clock: float) -> None:
        """A worker's turn at the study comes; what it asks for begins when it has been served."""
        self._free = max(self._free, clock) + self.cost
        pulls = self.ledger.ask(1, str(worker), LEASE, frozenset(), Moment(clock, clock))
        if not pulls:
            self._idle.append(worker)
        for pull in pulls:
            takes = self._medians[pull.arm] * math.exp(SIGMA * self._generator.standard_normal())
            heapq.heappush(self._ends, (self._free + takes, worker, takes, self.ledger.told, pull))
        self.ledger.changes = Changes()  # which a store would have written


def course(case: Case, seed: int, rate: float) -> Course:
    """One study of a case."""
    options = {"epsilon": case.epsilon, "risk": RISK}
    return Crew(load_instance(case.instance), case.workers, seed, rate, options).run()


@dataclass(frozen=True, slots=True)
class Line:
    """A case, and what came of it."""

    instance: str
    workers: int
    runs: int
    alone: float  # trials of a search that is told every reward at once
    told: float
    extra: float  # over that
    error: float  # of the ratio, a standard error
    per_hour: float
    busy: float
    answers: float
    in_vain: float
    cpu: float

    @property
    def each(self) -> float:
        """Trials for each worker."""
        return self.alone / self.workers

    @property
    def kept(self) -> bool | None:
        """Whether no more trials are made in addition than is promised; None where nothing is."""
        promised = PROMISED.get(self.workers) if self.each >= ENOUGH else None
        return None if promised is None else self.extra <= promised


def line_of(case: Case, courses: Sequence[Course], alone: Sequence[Course]) -> Line:
    """What several studies of a case come to, beside those of the same seeds by one worker."""
    counts, single = [each.told for each in courses], [each.told for each in alone]
    ratio = sum(counts) / sum(single)
    beside = [count - ratio * least for count, least in zip(counts, single, strict=True)]
    error = statistics.stdev(beside) / math.sqrt(len(beside)) / statistics.fmean(single)
    return Line(
        instance=f"{case.instance}, epsilon {case.epsilon:g}",
        workers=case.workers,
        runs=case.runs,
        alone=statistics.fmean(single),
        told=statistics.fmean(counts),
        extra=ratio,
        error=error,
        per_hour=sum(counts) / sum(each.hours for each in courses),
        busy=statistics.fmean(each.busy for each in courses),
        answers=statistics.fmean(each.answers for each in courses),
        in_vain=sum(each.in_vain for each in courses) / sum(counts),
        cpu=statistics.fmean(each.cpu for each in courses),
    )


HEADS = (
    "instance",
    "runs",
    "workers",
    "told at once",
    "each",
    "extra",
    "answers",
    "trials/h",
    "busy",
    "in vain",
    "CPU",
    "promise",
)


def cells(line: Line) -> list[str]:
    """A line of the table."""
    return [
        line.instance,
        f"{line.runs}",
        f"{line.workers:,}",
        f"{line.alone:,.0f}",
        f"{line.each:,.0f}",
        f"{line.extra:.3f} ± {line.error:.3f}",
        f"{line.answers:,.0f}",
        f"{line.per_hour:,.0f}",
        f"{line.busy:.1%}",
        f"{line.in_vain:.1%}",
        f"{1e6 * line.cpu:,.0f} us",
        {None: "", True: "kept", False: "BROKEN"}[line.kept],
    ]


def read_lines(file: Path) -> list[Line]:
    """What an earlier run has written."""
    return [Line(**line) for line in json.loads(file.read_text(encoding="utf-8"))]


def draw(lines: Sequence[Line], file: Path) -> None:
    """Throughput, the age of decisions, and extra trials over the number of workers."""
    from ramgape.views.plots import style

    colours = [colour for name, colour in style.PALETTE.items() if name not in ("black", "yellow")]
    names = list(dict.fromkeys(line.instance for line in lines))
    with style.applied():
        figure = style.new_figure(title="One study and its workers (simulated clock, real ledger and engine)")
        figure.set_size_inches(7.0, 8.0)
        panels = figure.subplots(3, 1, sharex=True, height_ratios=(2, 2, 3))
        for place, (name, colour) in enumerate(zip(names, [*colours, style.BROWN, style.GREY], strict=False)):
            mine = [line for line in lines if line.instance == name]
            x = [line.workers * 1.06 ** (place - len(names) / 2) for line in mine]  # beside each other
            look: dict[str, Any] = {"color": colour, "marker": "o", "markersize": 4.0}
            panels[0].plot(x, [line.per_hour for line in mine], **look)
            panels[1].plot(x, [line.answers for line in mine], **look)
            extra = [100.0 * (line.extra - 1.0) for line in mine]
            error = [200.0 * line.error for line in mine]
            label = f"{name} ({mine[0].alone:,.0f} trials)"
            panels[2].errorbar(x, extra, error, capsize=2.0, label=label, **look)
        panels[0].set_ylabel("Trials an hour")
        panels[1].set_ylabel("Answers between decision\nand own answer")
        panels[2].set_ylabel("Extra trials, %\n(2 standard errors)")
        panels[2].set_xlabel("Workers")
        panels[2].axhline(0.0, color=style.GREY, linewidth=0.8)
        wanted = [100.0 * (ratio - 1.0) for ratio in PROMISED.values()]
        panels[2].plot([*PROMISED], wanted, "v", color="black", label=f"at most, with {ENOUGH} trials for each worker")
        panels[2].set_xscale("log")
        panels[2].xaxis.set_major_formatter("{x:,.0f}")
        for axes in panels[:2]:
            axes.set_yscale("log")
            axes.yaxis.set_major_formatter("{x:,.0f}")
        figure.legend(loc="outside lower center", ncols=2, fontsize=7.0)
        figure.savefig(file, dpi=600 / 7.0)


def main() -> None:
    """Simulate and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a few short searches, to see that it runs")
    parser.add_argument("--rate", type=float, default=500.0, help="exchanges a second that the study serves")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--json", type=Path, default=Path("build/scale.json"), help="where the numbers go")
    given = parser.parse_args()
    print(f"| {' | '.join(HEADS)} |\n|---|{'--:|' * (len(HEADS) - 2)}---|")
    lines, known = [], {}
    with ProcessPoolExecutor(given.jobs) as executor:

        def courses(case: Case) -> list[Course]:
            return list(executor.map(course, [case] * case.runs, range(case.runs), [given.rate] * case.runs))

        for case in cases(given.quick):
            alone = case._replace(workers=1)
            if alone not in known:
                known[alone] = courses(alone)
            lines.append(line_of(case, courses(case), known[alone]))
            print(f"| {' | '.join(cells(lines[-1]))} |", flush=True)
    given.json.parent.mkdir(parents=True, exist_ok=True)
    given.json.write_text(json.dumps([asdict(line) for line in lines], indent=2) + "\n", encoding="utf-8")
    print(f"\nwritten: {given.json}; python docs/make_images.py scale draws it")


if __name__ == "__main__":
    main()
