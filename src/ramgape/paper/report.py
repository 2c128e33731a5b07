"""A report of several parts: run what is missing, then tell everything that is there.

`reproduction` and `benchmark` are books; they differ in their parts, in how much is run, and in their words.
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
from ramgape.errors import InvalidSpec, known_name
from ramgape.paper import figures
from ramgape.paper.cache import Store, unique, write_whole
from ramgape.paper.jobs import Cell, Outcome, compute
from ramgape.paper.page import Cover, page
from ramgape.paper.section import Chapter, Drawing, Finding, Sheet
from ramgape.search.explained import versions

SCHEMA_VERSION = 1  # of summary.json: raised when a key changes its meaning or goes
WRITTEN = re.compile(r"data/[\w.-]+\.csv|figures/[\w.-]+\.(png|svg)")  # what a report may call its own, and remove
COST_OF_FIGURE = 4e6  # in pulls, for the time left

# Called with what is done and what there is to do, in pulls, and with words.
Progress = Callable[[float, float, str], object]


def nothing() -> None:
    """What most parts need beyond what is installed anyway."""


class Part(NamedTuple):
    """What to run, and how to tell it; `key` is its place in the summary.

    Both functions take the book's scale; `needs` complains if something is missing, before anything is computed.
    """

    key: str
    plan: Callable[[Any, int], Mapping[Any, Cell]]
    tell: Callable[[Any, int, Any], Chapter]
    needs: Callable[[], object] = nothing


def no_findings(chapters: Mapping[str, Chapter]) -> list[Finding]:
    """For books whose chapters say it all."""
    return []


@dataclass(frozen=True)
class Book:
    """The parts in the order of the report, how much each scale runs (it has a `name`), and the words around them."""

    cover: Cover
    parts: Mapping[str, Part]
    full: Any
    quick: Any
    figures: int  # about how many, for the time left
    overall: Callable[[Mapping[str, Chapter]], list[Finding]] = no_findings

    def check_parts(self, parts: Sequence[str]) -> list[str]:
        """The parts that are meant, in the order of the report."""
        for part in parts:
            known_name(part, ["all", *self.parts], "part")
        wanted = [name for name in self.parts if name in parts or "all" in parts]
        for name in wanted:
            self.parts[name].needs()
        return wanted


def publish(
    book: Book,
    parts: Sequence[str],
    out: Path,
    *,
    seed: int = 0,
    quick: bool = False,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Run parts of a book ("all", or their names) into a folder; returns what its `summary.json` has.

    Outcomes that the folder already has are not computed again, and parts that it already tells of stay in the report.
    The numbers do not depend on the executor.
    """
    begun = time.perf_counter()
    wanted, seed = book.check_parts(parts), check_seed(seed)
    scale = book.quick if quick else book.full
    store = open_store(out)
    plans = {name: part.plan(scale, seed) for name, part in book.parts.items()}
    before = read_summary(out / "summary.json")
    same = (before.get("scale"), before.get("seed")) == (scale.name, seed)
    earlier = [name for name in book.parts if same and name in before["parts"]]
    kept = [name for name in earlier if all(store.load(cell) is not None for cell in plans[name].values())]
    names = [name for name in book.parts if name in wanted or name in kept]
    cells = unique(cell for name in names for cell in plans[name].values())

    todo = [cell for cell in cells if store.load(cell) is None]
    gauge = Gauge(progress, sum(cell.cost for cell in todo) + COST_OF_FIGURE * book.figures)
    for cell, outcome in computed(todo, executor):
        store.save(cell, outcome)
        gauge.add(cell.cost, "simulating")

    chapters = {name: tell(book.parts[name], plans[name], scale, seed, store) for name in names}
    drawings = [drawing for chapter in chapters.values() for drawing in chapter.drawings]
    for _ in drawn(drawings, out / "figures", executor):
        gauge.add(COST_OF_FIGURE * book.figures / len(drawings), "drawing")
    for sheet in (sheet for chapter in chapters.values() for sheet in chapter.sheets):
        write_whole(out / "data" / f"{sheet.name}.csv", as_csv(sheet))
    # What an earlier report with another seed or scale showed would only mislead beside this one.
    for stale in set(before["files"]) - set(files := written(chapters)):
        (out / stale).unlink(missing_ok=True)
    general = book.overall(chapters)
    findings = [*(finding for chapter in chapters.values() for finding in chapter.findings), *general]
    summary = {
        "schema_version": SCHEMA_VERSION,
        "versions": versions(),
        "scale": scale.name,
        "seed": seed,
        "parts": names,
        "files": files,
        **merged(book, chapters),
        "findings": [asdict(finding) for finding in findings],
        "seconds": {
            "this_run": time.perf_counter() - begun,
            "simulations": sum(stored(store, cell)["seconds"] for cell in cells),
        },
    }
    every = len(names) == len(book.parts)
    html = page(book.cover, list(chapters.values()), general, summary, out / "figures", every)
    write_whole(out / "report.html", html)
    write_whole(out / "summary.json", json.dumps(summary, indent=2, allow_nan=False, ensure_ascii=False))
    return summary


def open_store(out: Path) -> Store:
    """The folder of outcomes, or an error that says why there can be none."""
    try:
        return Store(out / "runs")
    except OSError as error:
        reason = f": {error.strerror or error}"
        given = repr(str(out))
        raise InvalidSpec(what="out", allowed="a folder that can be written", given=given, hint=reason) from None


def read_summary(path: Path) -> dict[str, Any]:
    """What an earlier report in this folder told, or nothing: the file may be anybody's, and may list anything."""
    try:
        before = json.loads(path.read_text(encoding="utf-8"))
        files = [name for name in map(str, before["files"]) if WRITTEN.fullmatch(name)]
        return {**before, "files": files, "parts": list(before["parts"])}
    except (OSError, ValueError, KeyError, TypeError):
        return {"files": [], "parts": []}


def written(chapters: Mapping[str, Chapter]) -> list[str]:
    """The files with data and figures, in the folder of the report."""
    sheets = [f"data/{sheet.name}.csv" for chapter in chapters.values() for sheet in chapter.sheets]
    drawings = [drawing.name for chapter in chapters.values() for drawing in chapter.drawings]
    return sorted([*sheets, *(f"figures/{name}.{ending}" for name in drawings for ending in ("png", "svg"))])


def computed(cells: Sequence[Cell], executor: Executor | None) -> Iterator[tuple[Cell, Outcome]]:
    """Cells with their outcomes, as they are finished; the longest are begun first, so that none is left at the end."""
    ordered = sorted(cells, key=lambda cell: -cell.cost)
    if executor is None:
        for cell in ordered:
            yield cell, compute(cell)
        return
    futures = {executor.submit(compute, cell): cell for cell in ordered}
    try:
        for future in as_completed(futures):
            yield futures[future], future.result()
    finally:
        for future in futures:
            future.cancel()


def stored(store: Store, cell: Cell) -> Outcome:
    """An outcome that has just been seen on disk."""
    outcome = store.load(cell)
    if outcome is None:
        hint = f"; a file vanished from {str(store.folder)!r}"
        raise InvalidSpec(what="out", allowed="left alone while it is being written", hint=hint)
    return outcome


def tell(part: Part, plan: Mapping[Any, Cell], scale: Any, seed: int, store: Store) -> Chapter:
    """A part's chapter."""
    return part.tell(scale, seed, {key: stored(store, cell) for key, cell in plan.items()})


def drawn(drawings: Sequence[Drawing], folder: Path, executor: Executor | None) -> Iterator[Drawing]:
    """Draw and save; yields each figure when its files are there."""
    folder.mkdir(parents=True, exist_ok=True)
    if executor is None:
        for drawing in drawings:
            draw(drawing, folder)
            yield drawing
        return
    futures = {executor.submit(draw, drawing, folder): drawing for drawing in drawings}
    for future in as_completed(futures):
        future.result()
        yield futures[future]


def draw(drawing: Drawing, folder: Path) -> None:
    """One figure, as bitmap and as vectors."""
    figures.write(getattr(figures, drawing.function)(*drawing.arguments), folder, drawing.name)


def as_csv(sheet: Sheet) -> str:
    """Numbers in full precision, so that what is read is what was computed."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(sheet.header)
    writer.writerows(sheet.rows)
    return text.getvalue()


def merged(book: Book, chapters: Mapping[str, Chapter]) -> dict[str, Any]:
    """The chapters' summaries; several may share a key, such as the two that speak of Experiment 1."""
    summaries: dict[str, Any] = {}
    for name, chapter in chapters.items():
        summaries.setdefault(book.parts[name].key, {}).update(chapter.summary)
    return summaries


class Gauge:
    """Counts what is done, and passes it on."""

    def __init__(self, progress: Progress | None, total: float) -> None:
        self.progress, self.total, self.done = progress, total, 0.0

    def add(self, cost: float, words: str) -> None:
        self.done += cost
        if self.progress is not None:
            self.progress(min(self.done, self.total), self.total, words)
