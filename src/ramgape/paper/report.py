"""A report of several parts: run the jobs whose outcomes are not on disk, then write a section for each part.

`reproduction` and `benchmark` define one report each: its parts, how much is run, and the text around the sections.
"""

from __future__ import annotations

import base64
import csv
import io
import json
import re
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, as_completed
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

from ramgape.common.checks import check_seed
from ramgape.errors import InvalidSpec, MissingExtra, known_name
from ramgape.paper import figures
from ramgape.paper.drawing import write
from ramgape.paper.jobs import Job, Outcome, run_job
from ramgape.paper.section import Drawing, Finding, Section, texts
from ramgape.paper.tables import DataFile
from ramgape.search.explained import versions
from ramgape.simulation.kept import KeptFiles, digest, identity, write_whole
from ramgape.trials.pieces import Makers, Piece, engine_for, made

SCHEMA_VERSION = 2  # of summary.json: raised when a key changes its meaning or is removed
WRITTEN = re.compile(r"data/[\w.-]+\.csv|figures/[\w.-]+\.(png|svg)")  # files that a report may replace and remove
COST_OF_FIGURES = 7e7  # in pulls, for the estimate of the time left
WORTH_COMPILING = 1e5  # pulls that take longer in plain Python than compiling a rule
MARKS = {"confirmed": "✓", "refuted": "✗", "not checkable": "?"}

# Called with the work done and the work there is, in pulls, and with a word for the current step.
OnProgress = Callable[[float, float, str], object]


class Part(NamedTuple):
    """What to run and how to write it up.

    `plan` takes the report's scale and the seed; `make_section` also takes the outcome of each job, by its key in the
    plan. `check` raises if something that the part needs is missing, before anything is computed.
    """

    key: str  # of its numbers in the summary
    plan: Callable[[Any, int], Mapping[Any, Job]]
    make_section: Callable[[Any, int, Any], Section]
    check: Callable[[], object] = lambda: None


@dataclass(frozen=True)
class ReportPlan:
    """The parts in their order, and how much each scale runs; a scale has a `name`."""

    command: str  # of `ramgape`; the texts around the sections have the same name
    parts: Mapping[str, Part]
    full: Any
    quick: Any
    overall: Callable[[Mapping[str, Section]], list[Finding]] = lambda sections: []

    def check_parts(self, parts: Sequence[str]) -> list[str]:
        """The wanted parts, in the order of the report."""
        for part in parts:
            known_name(part, ["all", *self.parts], "part")
        wanted = [name for name in self.parts if name in parts or "all" in parts]
        for name in wanted:
            self.parts[name].check()
        return wanted


class ResultCache:
    """The outcomes of jobs in a folder, so that an interrupted report continues where it stopped."""

    def __init__(self, folder: Path) -> None:
        self._files = KeptFiles.open(folder, "out")
        self._seen: dict[str, Outcome] = {}

    def load(self, job: Job) -> Outcome | None:
        """The outcome of a job, or None if it is missing, incomplete, or of other code."""
        name, named = self._place(job)
        outcome = self._seen.get(name) or self._files.load(name, named)
        if outcome is not None:
            self._seen[name] = outcome
        return outcome

    def save(self, job: Job, outcome: Outcome) -> None:
        """Keep an outcome."""
        name, named = self._place(job)
        self._files.save(name, named, outcome)
        # As JSON returns it: the first report must show what a later one would.
        self._seen[name] = json.loads(json.dumps(outcome))

    def __getitem__(self, job: Job) -> Outcome:
        """An outcome that was there a moment ago."""
        outcome = self.load(job)
        if outcome is None:
            hint = f"; a file vanished from {str(self._files.folder)!r}"
            raise InvalidSpec(what="out", allowed="left alone while it is being written", hint=hint)
        return outcome

    def _place(self, job: Job) -> tuple[str, dict[str, Any]]:
        named = identity(kind=job.kind, arguments=job.arguments)
        return f"{job.kind}-{digest(named)}", named


def open_cache(out: Path) -> ResultCache:
    """The folder of outcomes, or an error that says why there can be none."""
    return ResultCache(out / "runs")


def unique(jobs: Iterable[Job]) -> list[Job]:
    """Each job once, although several sections may want it."""
    return list({json.dumps([job.kind, job.arguments], sort_keys=True): job for job in jobs}.values())


def publish(
    report: ReportPlan,
    parts: Sequence[str],
    out: Path,
    *,
    seed: int = 0,
    quick: bool = False,
    executor: Makers = None,
    progress: OnProgress | None = None,
) -> dict[str, Any]:
    """Run parts of a report into a folder. The numbers do not depend on the executor.

    Args:
        report: What to run.
        parts: The names of parts, or "all". Parts that the folder already has, with the same seed and scale, stay.
        out: The folder; outcomes that are already in it are not computed again.
        seed: Of the first run; the others count on from it.
        quick: Whether to run the small scale.
        executor: Where jobs are run, as for `replicate`. Default: this process.
        progress: See `OnProgress`.

    Returns:
        The content of `summary.json`.
    """
    begun = time.perf_counter()
    wanted, seed = report.check_parts(parts), check_seed(seed)
    scale = report.quick if quick else report.full
    cache = open_cache(out)
    plans = {name: part.plan(scale, seed) for name, part in report.parts.items()}
    before = read_summary(out / "summary.json")
    same = (before.get("scale"), before.get("seed")) == (scale.name, seed)
    earlier = [name for name in report.parts if same and name in before["parts"]]
    kept = [name for name in earlier if all(cache.load(job) is not None for job in plans[name].values())]
    names = [name for name in report.parts if name in wanted or name in kept]
    jobs = unique(job for name in names for job in plans[name].values())

    todo = [job for job in jobs if cache.load(job) is None]
    done, total = 0.0, sum(job.cost for job in todo) + COST_OF_FIGURES

    def advance(cost: float, word: str) -> None:
        nonlocal done
        done += cost
        if progress is not None:
            progress(min(done, total), total, word)

    for job, outcome in computed(todo, executor):
        cache.save(job, outcome)
        advance(job.cost, "simulating")
    sections = {
        name: report.parts[name].make_section(scale, seed, {key: cache[job] for key, job in plans[name].items()})
        for name in names
    }
    drawings = [drawing for section in sections.values() for drawing in section.drawings]
    for _ in drawn(drawings, out / "figures", executor):
        advance(COST_OF_FIGURES / len(drawings), "drawing")
    for data_file in (data_file for section in sections.values() for data_file in section.data_files):
        write_whole(out / "data" / f"{data_file.name}.csv", as_csv(data_file))
    # Files of an earlier report with another seed or scale would mislead next to this one.
    for stale in set(before["files"]) - set(files := product_names(sections)):
        (out / stale).unlink(missing_ok=True)

    general = report.overall(sections)
    numbers: dict[str, Any] = {}  # parts may share a key, such as the two on Experiment 1
    for name, section in sections.items():
        numbers.setdefault(report.parts[name].key, {}).update(section.summary)
    findings = [*(finding for section in sections.values() for finding in section.findings), *general]
    summary = {
        "schema_version": SCHEMA_VERSION,
        "versions": versions(),
        "scale": scale.name,
        "seed": seed,
        "parts": names,
        "files": files,
        **numbers,
        "findings": [asdict(finding) for finding in findings],
        "seconds": {
            "this_run": time.perf_counter() - begun,
            "simulations": sum(cache[job]["seconds"] for job in jobs),
        },
    }
    write_whole(out / "report.html", render_page(report, list(sections.values()), general, summary, out / "figures"))
    write_whole(out / "summary.json", json.dumps(summary, indent=2, allow_nan=False, ensure_ascii=False))
    return summary


def read_summary(path: Path) -> dict[str, Any]:
    """The summary of an earlier report in this folder, or an empty one: the file may have any content."""
    try:
        before = json.loads(path.read_text(encoding="utf-8"))
        files = [name for name in map(str, before["files"]) if WRITTEN.fullmatch(name)]
        return {**before, "files": files, "parts": list(before["parts"])}
    except (OSError, ValueError, KeyError, TypeError):
        return {"files": [], "parts": []}


def product_names(sections: Mapping[str, Section]) -> list[str]:
    """The files with data and figures, relative to the folder of the report."""
    data_files = [f"data/{data_file.name}.csv" for section in sections.values() for data_file in section.data_files]
    drawings = [drawing.name for section in sections.values() for drawing in section.drawings]
    return sorted([*data_files, *(f"figures/{name}.{ending}" for name in drawings for ending in ("png", "svg"))])


def rule_of(job: Job) -> tuple[Any, ...]:
    """What decides which functions a job needs, nearly: those of one kind are compiled once."""
    return tuple(job.arguments.get(name) for name in ("policy", "bound", "risk", "task"))


def computed(jobs: Sequence[Job], executor: Makers) -> Iterator[tuple[Job, Outcome]]:
    """Jobs with their outcomes, as they finish. The longest start first, so that none is left at the end."""
    ordered = sorted(jobs, key=lambda job: -job.cost)
    work: defaultdict[tuple[Any, ...], float] = defaultdict(float)
    for job in jobs:
        work[rule_of(job)] += job.cost
    pieces = [(job, work[rule_of(job)] >= WORTH_COMPILING) for job in ordered]
    with engine_for(executor) as engine:
        if engine is None:
            yield from ((job, run_job(job, compile_first)) for job, compile_first in pieces)
            return
        left = iter([Piece(run_job, piece) for piece in pieces])
        for piece, outcome in made(engine, lambda: next(left, None)):
            yield piece.arguments[0], outcome


def drawn(drawings: Sequence[Drawing], folder: Path, executor: Makers) -> Iterator[list[Path]]:
    """Draw and save; yields when the files of a figure are there."""
    folder.mkdir(parents=True, exist_ok=True)
    if not isinstance(executor, Executor):  # a cluster has no access to our folder
        yield from (draw_figure(drawing, folder) for drawing in drawings)
        return
    futures = [executor.submit(draw_figure, drawing, folder) for drawing in drawings]
    yield from (future.result() for future in as_completed(futures))


def draw_figure(drawing: Drawing, folder: Path) -> list[Path]:
    """Write one figure, as bitmap and as vectors."""
    return write(getattr(figures, drawing.function)(*drawing.arguments), folder, drawing.name)


def as_csv(data_file: DataFile) -> str:
    """Numbers in full precision, so that a reader gets what was computed."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    lines = data_file.lines
    writer.writerow(lines[0])
    writer.writerows(line.values() for line in lines)
    return text.getvalue()


def render_page(
    report: ReportPlan,
    sections: Sequence[Section],
    general: Sequence[Finding],
    summary: Mapping[str, Any],
    figures: Path,
) -> str:
    """The report as one HTML page that needs no other file; `general` are findings that belong to no section."""
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
    except ImportError:
        allowed = 'installed for the report: pip install "ramgape[plot]"'
        raise MissingExtra(what="jinja2", allowed=allowed) from None
    loader = PackageLoader("ramgape.paper", ".")
    options: dict[str, Any] = {"autoescape": True, "trim_blocks": True, "lstrip_blocks": True}
    verdicts = Counter(finding["verdict"] for finding in summary["findings"])

    def picture(name: str) -> str:
        svg = (figures / f"{name}.svg").read_bytes()
        return "data:image/svg+xml;base64," + base64.b64encode(svg).decode("ascii")

    template = Environment(loader=loader, undefined=StrictUndefined, **options).get_template("report.html.jinja")
    return template.render(
        command=report.command,
        page=texts()["pages"][report.command],
        every=len(sections) == len(report.parts),
        sections=sections,
        general=general,
        summary=summary,
        verdicts={verdict: verdicts[verdict] for verdict in MARKS},
        marks=MARKS,
        picture=picture,
    )
