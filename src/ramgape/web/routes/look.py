"""What a study shows: its report, its rows, its open pulls, its files and pictures."""

from __future__ import annotations

import io
import json
import tempfile
import threading
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from functools import partial
from inspect import signature
from pathlib import Path as FilePath
from typing import Annotated, Any, TypeVar

from fastapi import APIRouter, Depends, Header, Query, Request
from pydantic import BaseModel
from starlette.responses import Response, StreamingResponse

from ramgape.errors import known_name
from ramgape.search.explained import jsonable
from ramgape.search.result import Stopped, updated
from ramgape.studies.backend import Observed
from ramgape.studies.exchange import write_pull_id
from ramgape.studies.report import write_time
from ramgape.trials.progress import progress_of
from ramgape.web import schema
from ramgape.web.answers import Json, refusals
from ramgape.web.open_studies import OpenStudy
from ramgape.web.routes.work import StudyNumber, open_study_for

router = APIRouter(prefix="/studies/{id}", tags=["look"])

LOOK = refusals(404)
PAGE = 5_000  # rows in an answer
SCANNED = 1_000  # rows that are read at a time to find some
MOST_SCANNED = 100_000  # rows that one request looks through for those that are asked for
IN_MEMORY = 8 * 2**20  # bytes of a file that is made; more goes to the disk
CHUNK = 2**16  # bytes
OBSERVED = ["place", "arm", "reward", "failed", "worker", "told_at", "pull", "item", "price", "info"]
OBSERVED += ["outcomes", "seed"]
FAILED = ["pull", "arm", "worker", "reason", "failed_at", "seed"]
PNG_WIDTHS = 200, 4000  # pixels
DRAWING = threading.Lock()  # styles of matplotlib are global

Look = TypeVar("Look", bound=Callable[..., Any])
Known = Annotated[str | None, Header(alias="If-None-Match", include_in_schema=False)]
Before = Annotated[int | None, Query(ge=0, le=2**63 - 1, description="Only rows before this one, the newest first.")]
After = Annotated[int | None, Query(ge=-1, le=2**63 - 1, description="Only rows after this one, the oldest first.")]


async def open_to_read(study_id: StudyNumber, request: Request) -> OpenStudy:
    """Open the study that a path names."""
    return await open_study_for(request, study_id, "read")


Opened = Annotated[OpenStudy, Depends(open_to_read)]


def reads(
    path: str, answer: type[BaseModel] | None = None, responses: dict[int | str, dict[str, Any]] = LOOK
) -> Callable[[Look], Look]:
    """Add a route that reads a study, in another thread, since that may take long.

    Args:
        path: Of the route.
        answer: The form of what it returns; None for a file.
        responses: What else it may answer.
    """

    def add(look: Look) -> Look:
        async def serve(opened: OpenStudy, **asked: Any) -> Response:
            found = await opened.in_thread(partial(look, opened, **asked))
            return found if isinstance(found, Response) else Json(jsonable(found))

        serve.__signature__ = signature(look, eval_str=True)  # type: ignore[attr-defined]
        serve.__name__, serve.__doc__ = look.__name__, look.__doc__
        file: dict[str, Any] = {} if answer is not None else {"response_class": Response}
        router.get(path, response_model=answer, responses=responses, **file)(serve)
        return look

    return add


def file_of(kind: str, *further: int) -> dict[int | str, dict[str, Any]]:
    """What a route answers that gives a file of a kind."""
    return {200: {"content": {kind: {}}}, **refusals(404, *further)}


@reads("", schema.ReportAnswer, {304: {"description": "Nothing is new."}, **LOOK})
def show(
    opened: Opened, known: Known = None, expect: bool = False, history: bool = False, ended: Stopped = "open"
) -> Response:
    """How a study is going: its answer and what is proved of it, each arm, trials in progress, failures.

    `expect` adds how many more pulls it may take, which takes simulations; `history` what was known on the way;
    `ended` is what to give as the reason for a study that is not done.
    """
    with opened.backend.session.reading as (state, _):
        revision = state.revision
    tag = f'"{opened.id}-{revision}-{expect:d}{history:d}-{ended}"'
    if known == tag:
        return Response(status_code=304, headers={"ETag": tag})
    report = opened.study.report(expect=expect, history=history)
    if ended != "open":
        result = updated(opened.study.result(ended, expect=expect), history=report.result.history)
        report = replace(report, result=result)
    shown = report.to_dict() | {"id": opened.id, "revision": revision}
    shown["specification"] = json.loads(opened.study.spec.to_text())
    if history:
        shown["history"] = jsonable([list(point) for point in report.result.history])
    return Json(shown, headers={"ETag": tag})


@reads("/specification", schema.SpecificationAnswer)
def specification(opened: Opened) -> dict[str, Any]:
    """What the study is to do, as it is stored."""
    with opened.backend.session.reading as (state, _):
        return {"revision": state.revision, "specification": json.loads(state.spec.to_text())}


@reads("/progress", schema.ProgressAnswer)
def progress(opened: Opened) -> dict[str, Any]:
    """How far the search is, in short."""
    with opened.backend.session.reading as (state, _):
        return asdict(progress_of(state.engine)) | {"done": state.done}


@reads("/observations", schema.RowsAnswer)
def observations(
    opened: Opened,
    before: Before = None,
    after: After = None,
    arm: str | None = None,
    worker: str | None = None,
    failed: bool | None = None,
    limit: Annotated[int, Query(ge=1, le=PAGE)] = 200,
) -> dict[str, Any]:
    """Observations, the newest first; with `after` the oldest first."""

    def wanted(seen: Observed) -> bool:
        row = seen.row
        fits = (arm is None or row.arm == arm) and (worker is None or row.worker == worker)
        return fits and (failed is None or row.failed == failed)

    if arm is not None:
        known_name(arm, opened.study.spec.search.names, "arm")
    with opened.backend.session.reading as (state, _):
        told = state.told
    rows: list[list[Any]] = []
    last, scanned, size = -1, 0, limit if (arm, worker, failed) == (None, None, None) else SCANNED
    for start, stop in pages(told, before, after, size):
        with opened.backend.session.reading:
            found = opened.backend.session.store.read_rows(opened.id, start, stop)
        numbered = list(enumerate(map(opened.backend.described, found), start))
        for last, seen in numbered if after is not None else reversed(numbered):
            if wanted(seen):
                rows.append([last, *observed(seen)])
                if len(rows) == limit:
                    break
        scanned += stop - start
        if len(rows) == limit or scanned >= MOST_SCANNED:
            break
    more = last + 1 < min(told, before or told) if after is not None else last > 0
    return {"columns": OBSERVED, "rows": rows, "next": last if scanned and more else None}


def pages(told: int, before: int | None, after: int | None, size: int) -> Iterator[tuple[int, int]]:
    """Where to read, a part at a time, in the order in which rows are wanted."""
    if after is not None:
        end = told if before is None else min(before, told)
        for start in range(after + 1, end, size):
            yield start, min(start + size, end)
        return
    stop = told if before is None else min(before, told)
    while stop > 0:
        yield max(stop - size, 0), stop
        stop -= size


def observed(seen: Observed) -> list[Any]:
    """An observation as JSON has it."""
    row = seen.row
    told_at = None if row.told_at is None else write_time(row.told_at)
    info = None if row.info is None else json.loads(row.info)
    known = (row.arm, row.reward, row.failed, row.worker, told_at, row.pull, row.item, row.price, info)
    return [*known, row.outcomes, seen.seed]


@reads("/failures", schema.RowsAnswer)
def failures(
    opened: Opened,
    before: Before = None,
    arm: str | None = None,
    limit: Annotated[int, Query(ge=1, le=PAGE)] = 100,
) -> dict[str, Any]:
    """Attempts that failed, the newest first."""
    if arm is not None:
        known_name(arm, opened.study.spec.search.names, "arm")
    found = sorted(opened.backend.failures(), key=lambda each: each.failed_at)
    found = found[: len(found) if before is None else before]
    places = [at for at in range(len(found) - 1, -1, -1) if arm is None or found[at].arm == arm]
    rows = [[*found[at][:4], write_time(found[at].failed_at), found[at].seed] for at in places[:limit]]
    return {"columns": FAILED, "rows": rows, "next": places[limit - 1] if len(places) > limit else None}


@reads("/pulls", schema.OpenPullsAnswer)
def pulls(opened: Opened) -> dict[str, Any]:
    """Pulls without an answer that counts: who has them, and for how long."""
    with opened.backend.session.reading as (state, now):
        unanswered, names = sorted(state.open.values()), state.spec.search.names
    found = [
        {
            "id": write_pull_id(pull.token, pull.number, pull.attempt),
            "arm": names[pull.arm],
            "worker": pull.worker,
            "lease_seconds": max(pull.lease_until - now.clock, 0.0),
            "attempt": pull.attempt,
            "failures": pull.failures,
            "given_up": pull.given_up,
            "held": pull.answer is not None,
        }
        for pull in unanswered
    ]
    return {"pulls": found}


# --- files ------------------------------------------------------------------------------------------------------------


@reads("/export.csv", responses=file_of("text/csv"))
def export_csv(opened: Opened) -> Response:
    """All observations, in their order, as CSV: what `import` takes back without loss."""
    return exported(opened, "csv", "text/csv; charset=utf-8")


@reads("/export.jsonl", responses=file_of("application/jsonl"))
def export_jsonl(opened: Opened) -> Response:
    """All observations, in their order, one JSON object a line."""
    return exported(opened, "jsonl", "application/jsonl")


def exported(opened: OpenStudy, form: str, kind: str) -> Response:
    """A file of observations: made as a whole, so that an error is one, and sent in parts."""
    file = tempfile.SpooledTemporaryFile(IN_MEMORY)  # noqa: SIM115 - closed when it is sent
    text = io.TextIOWrapper(file, encoding="utf-8", newline="")
    opened.study.export_trials(text, form)
    text.flush()
    text.detach()
    file.seek(0)

    def parts() -> Iterator[bytes]:
        with file:
            while part := file.read(CHUNK):
                yield part

    return StreamingResponse(parts(), media_type=kind, headers=saved_as(opened, form))


@reads("/report.html", responses=file_of("text/html", 501))
def report_page(opened: Opened) -> Response:
    """The whole report as one page that needs no network."""
    content = drawn_into(opened.study.save_html, "report.html")
    headers = saved_as(opened, "html")  # it has styles inside, which the policy of our pages would not let pass
    return Response(content, media_type="text/html; charset=utf-8", headers=headers)


@reads("/plane.svg", responses=file_of("image/svg+xml", 501))
def plane_svg(opened: Opened) -> Response:
    """The arms in the mean-risk plane, as SVG."""
    content = drawn_into(opened.study.save_plot, "plane.svg")
    return Response(content, media_type="image/svg+xml", headers=saved_as(opened, "svg"))


@reads("/plane.png", responses=file_of("image/png", 501))
def plane_png(opened: Opened, width: Annotated[int, Query(ge=PNG_WIDTHS[0], le=PNG_WIDTHS[1])] = 1200) -> Response:
    """The same as PNG, so many pixels wide."""

    def save(path: FilePath) -> None:
        figure = opened.study.plot().figure
        figure.savefig(path, dpi=width / figure.get_size_inches()[0])

    return Response(drawn_into(save, "plane.png"), media_type="image/png")


def saved_as(opened: OpenStudy, form: str) -> dict[str, str]:
    """That an answer is a file to keep, and how it is called."""
    return {"Content-Disposition": f'attachment; filename="study-{opened.id}.{form}"'}


def drawn_into(save: Callable[[FilePath], object], name: str) -> bytes:
    """Return what a function writes into a file; one at a time, since they draw with matplotlib."""
    with tempfile.TemporaryDirectory() as folder, DRAWING:
        path = FilePath(folder) / name
        save(path)
        return path.read_bytes()
