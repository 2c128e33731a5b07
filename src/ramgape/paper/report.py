"""A report of several parts: run the jobs that are missing, then write a section for each part.

`reproduction` and `benchmark` each define one: their parts, how much is run, and the text around the sections.
"""

from __future__ import annotations

import csv
import io
import json
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, as_completed
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

from ramgape.common.checks import check_seed
from ramgape.engines.pieces import Makers, Piece, engine_for, made
from ramgape.errors import InvalidSpec, known_name
from ramgape.paper import figures
from ramgape.paper.cache import ResultCache, unique
from ramgape.paper.jobs import Job, Outcome, run_job
from ramgape.paper.page import PageText, render_page
from ramgape.paper.section import DataFile, Drawing, Finding, Section
from ramgape.search.explained import versions
from ramgape.search.kept import write_whole

SCHEMA_VERSION = 2  # of summary.json: raised when a key changes its meaning or goes
WRITTEN = re.compile(r"data/[\w.-]+\.csv|figures/[\w.-]+\.(png|svg)")  # what a report may call its own, and remove
COST_OF_FIGURE = 4e6  # in pulls, for the time left

# Called with what is done and what there is to do, in pulls, and with words.
OnProgress = Callable[[float, float, str], object]


def no_needs() -> None:
    """What most parts need beyond what is installed anyway."""


class Part(NamedTuple):
    """What to run and how to write it up; `key` is its place in the summary.

    Both functions take the report's scale and the seed; `make_section` also takes the outcome of each job, by its key
    in the plan. `needs` complains if something is missing, before anything is computed.
    """

    key: str
    plan: Callable[[Any, int], Mapping[Any, Job]]
    make_section: Callable[[Any, int, Any], Section]
    needs: Callable[[], object] = no_needs


def no_findings(sections: Mapping[str, Section]) -> list[Finding]:
    """For reports whose sections say it all."""
    return []


@dataclass(frozen=True)
class ReportPlan:
    """The parts in the order of the report, how much each scale runs (it has a `name`), and the text around them."""

    page_text: PageText
    parts: Mapping[str, Part]
    full: Any
    quick: Any
    figures: int  # about how many, for the time left
    overall: Callable[[Mapping[str, Section]], list[Finding]] = no_findings

    def check_parts(self, parts: Sequence[str]) -> list[str]:
        """The parts that are meant, in the order of the report."""
        for part in parts:
            known_name(part, ["all", *self.parts], "part")
        wanted = [name for name in self.parts if name in parts or "all" in parts]
        for name in wanted:
            self.parts[name].needs()
        return wanted


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
        report: What there is to run.
        parts: The names of parts, or "all". Parts that the folder already has, with the same seed and scale, stay.
        out: The folder; outcomes that it already has are not computed again.
        seed: Of the first run; the others count on from it.
        quick: Whether the small scale is enough.
        executor: Makers the jobs are run, as for `replicate`; in this process if there is none.
        progress: Called with what is done and what there is to do, in pulls, and with words.

    Returns:
        What `summary.json` has.
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
    counter = ProgressCounter(progress, sum(job.cost for job in todo) + COST_OF_FIGURE * report.figures)
    for job, outcome in computed(todo, executor):
        cache.save(job, outcome)
        counter.add(job.cost, "simulating")

    sections = {}
    for name in names:
        outcomes = {key: cached(cache, job) for key, job in plans[name].items()}
        sections[name] = report.parts[name].make_section(scale, seed, outcomes)
    drawings = [drawing for section in sections.values() for drawing in section.drawings]
    for _ in drawn(drawings, out / "figures", executor):
        counter.add(COST_OF_FIGURE * report.figures / len(drawings), "drawing")
    for data_file in (data_file for section in sections.values() for data_file in section.data_files):
        write_whole(out / "data" / f"{data_file.name}.csv", as_csv(data_file))
    # What an earlier report with another seed or scale showed would only mislead beside this one.
    for stale in set(before["files"]) - set(files := product_names(sections)):
        (out / stale).unlink(missing_ok=True)
    settings = {"scale": scale.name, "seed": seed, "parts": names, "files": files}
    simulated = sum(cached(cache, job)["seconds"] for job in jobs)
    return write_report(report, sections, settings, (begun, simulated), out)


def write_report(
    report: ReportPlan,
    sections: Mapping[str, Section],
    settings: Mapping[str, Any],
    times: tuple[float, float],
    out: Path,
) -> dict[str, Any]:
    """Write `report.html` and `summary.json`; `times` are when this run began and how long its jobs took."""
    general = report.overall(sections)
    findings = [*(finding for section in sections.values() for finding in section.findings), *general]
    summary = {
        "schema_version": SCHEMA_VERSION,
        "versions": versions(),
        **settings,
        **merged(report, sections),
        "findings": [asdict(finding) for finding in findings],
        "seconds": {"this_run": time.perf_counter() - times[0], "simulations": times[1]},
    }
    every = len(sections) == len(report.parts)
    html = render_page(report.page_text, list(sections.values()), general, summary, out / "figures", every)
    write_whole(out / "report.html", html)
    write_whole(out / "summary.json", json.dumps(summary, indent=2, allow_nan=False, ensure_ascii=False))
    return summary


def open_cache(out: Path) -> ResultCache:
    """The folder of outcomes, or an error that says why there can be none."""
    return ResultCache(out / "runs")


def read_summary(path: Path) -> dict[str, Any]:
    """The summary of an earlier report in this folder, or nothing: the file may be anybody's, and may list anything."""
    try:
        before = json.loads(path.read_text(encoding="utf-8"))
        files = [name for name in map(str, before["files"]) if WRITTEN.fullmatch(name)]
        return {**before, "files": files, "parts": list(before["parts"])}
    except (OSError, ValueError, KeyError, TypeError):
        return {"files": [], "parts": []}


def product_names(sections: Mapping[str, Section]) -> list[str]:
    """The files with data and figures, in the folder of the report."""
    data_files = [f"data/{data_file.name}.csv" for section in sections.values() for data_file in section.data_files]
    drawings = [drawing.name for section in sections.values() for drawing in section.drawings]
    return sorted([*data_files, *(f"figures/{name}.{ending}" for name in drawings for ending in ("png", "svg"))])


def computed(jobs: Sequence[Job], executor: Makers) -> Iterator[tuple[Job, Outcome]]:
    """Jobs with their outcomes, as they are finished; the longest are begun first, so that none is left at the end."""
    ordered = sorted(jobs, key=lambda job: -job.cost)
    with engine_for(executor) as engine:
        if engine is None:
            for job in ordered:
                yield job, run_job(job)
            return
        left = iter([Piece(run_job, (job,)) for job in ordered])
        for piece, outcome in made(engine, lambda: next(left, None)):
            yield piece.arguments[0], outcome


def cached(cache: ResultCache, job: Job) -> Outcome:
    """An outcome that has just been seen on disk."""
    outcome = cache.load(job)
    if outcome is None:
        hint = f"; a file vanished from {str(cache.folder)!r}"
        raise InvalidSpec(what="out", allowed="left alone while it is being written", hint=hint)
    return outcome


def drawn(drawings: Sequence[Drawing], folder: Path, executor: Makers) -> Iterator[Drawing]:
    """Draw and save; yields each figure when its files are there."""
    folder.mkdir(parents=True, exist_ok=True)
    if not isinstance(executor, Executor):  # the folder of a machine elsewhere is not ours
        for drawing in drawings:
            draw_figure(drawing, folder)
            yield drawing
        return
    futures = {executor.submit(draw_figure, drawing, folder): drawing for drawing in drawings}
    for future in as_completed(futures):
        future.result()
        yield futures[future]


def draw_figure(drawing: Drawing, folder: Path) -> None:
    """One figure, as bitmap and as vectors."""
    figures.write(getattr(figures, drawing.function)(*drawing.arguments), folder, drawing.name)


def as_csv(data_file: DataFile) -> str:
    """Numbers in full precision, so that what is read is what was computed."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(data_file.header)
    writer.writerows(data_file.rows)
    return text.getvalue()


def merged(report: ReportPlan, sections: Mapping[str, Section]) -> dict[str, Any]:
    """The sections' summaries; several may share a key, such as the two that speak of Experiment 1."""
    summaries: dict[str, Any] = {}
    for name, section in sections.items():
        summaries.setdefault(report.parts[name].key, {}).update(section.summary)
    return summaries


class ProgressCounter:
    """Counts what is done, and passes it on."""

    def __init__(self, progress: OnProgress | None, total: float) -> None:
        self.progress, self.total, self.done = progress, total, 0.0

    def add(self, cost: float, words: str) -> None:
        self.done += cost
        if self.progress is not None:
            self.progress(min(self.done, self.total), self.total, words)
