"""What a study shows: its report, its rows, its open pulls, its files and pictures."""

from __future__ import annotations

import io
import json
import tempfile
import threading
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from pathlib import Path as FilePath
from typing import IO, Annotated, Any, TypeVar

from fastapi import APIRouter, Query, Request
from starlette.responses import Response, StreamingResponse

from ramgape.errors import known_name
from ramgape.search.explained import jsonable
from ramgape.search.result import Stopped
from ramgape.storage.records import PullRow
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
PAGE = 5_000  # rows that are read at a time
MOST_SCANNED = 100_000  # rows that one request looks through for those that are asked for
IN_MEMORY = 8 * 2**20  # bytes of a file that is made; more goes to the disk
CHUNK = 2**16  # bytes
OBSERVED = ["place", "arm", "reward", "failed", "worker", "told_at", "pull", "item", "price", "info", "seed"]
FAILED = ["pull", "arm", "worker", "reason", "failed_at", "seed"]
PNG_WIDTHS = 200, 4000  # pixels
DRAWING = threading.Lock()  # styles of matplotlib are global

Given = TypeVar("Given")
Before = Annotated[int | None, Query(ge=0, le=2**63 - 1, description="Only rows before this one, the newest first.")]
After = Annotated[int | None, Query(ge=-1, le=2**63 - 1, description="Only rows after this one, the oldest first.")]


async def looked(request: Request, study_id: int, look: Callable[[OpenStudy], Given]) -> Given:
    """Read a study in another thread, since it may take long."""
    opened = await open_study_for(request, study_id, "read")
    return await opened.in_thread(lambda: look(opened))


def revision_of(opened: OpenStudy) -> int:
    """How often anything was written."""
    with opened.desk.session.reading() as (ledger, _):
        return ledger.revision


@router.get("", response_model=schema.ReportAnswer, responses={304: {"description": "Nothing is new."}, **LOOK})
async def show(
    study_id: StudyNumber, request: Request, expect: bool = False, history: bool = False, ended: Stopped = "open"
) -> Response:
    """How a study is going: its answer and what is proved of it, each arm, pulls under way, failures.

    `expect` adds how many more pulls it may take, which takes simulations; `history` what was known on the way;
    `ended` is what to give as the reason for a study that is not done.
    """

    def look(opened: OpenStudy) -> Response:
        revision = revision_of(opened)
        tag = f'"{opened.id}-{revision}-{expect:d}{history:d}-{ended}"'
        if request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers={"ETag": tag})
        report = opened.study.report(expect=expect, history=history)
        if ended != "open":
            result = replace(opened.study.result(ended, expect=expect), history=report.result.history)
            report = replace(report, result=result)
        shown = report.to_dict() | {"id": opened.id, "revision": revision}
        shown["specification"] = json.loads(opened.study.spec.to_text())
        if history:
            shown["history"] = jsonable([list(point) for point in report.result.history])
        return Json(shown, headers={"ETag": tag})

    return await looked(request, study_id, look)


@router.get("/specification", response_model=schema.SpecificationAnswer, responses=LOOK)
async def specification(study_id: StudyNumber, request: Request) -> Json:
    """What the study is to do, as it is stored."""

    def look(opened: OpenStudy) -> dict[str, Any]:
        with opened.desk.session.reading() as (ledger, _):
            return {"revision": ledger.revision, "specification": json.loads(ledger.spec.to_text())}

    return Json(await looked(request, study_id, look))


@router.get("/progress", response_model=schema.ProgressAnswer, responses=LOOK)
async def progress(study_id: StudyNumber, request: Request) -> Json:
    """How far the search is, in short."""

    def look(opened: OpenStudy) -> dict[str, Any]:
        with opened.desk.session.reading() as (ledger, _):
            return asdict(progress_of(ledger.engine)) | {"done": ledger.done}

    return Json(jsonable(await looked(request, study_id, look)))


@router.get("/observations", response_model=schema.RowsAnswer, responses=LOOK)
async def observations(
    study_id: StudyNumber,
    request: Request,
    before: Before = None,
    after: After = None,
    arm: str | None = None,
    worker: str | None = None,
    failed: bool | None = None,
    limit: Annotated[int, Query(ge=1, le=PAGE)] = 200,
) -> Json:
    """Observations, the newest first; with `after` the oldest first."""

    def wanted(seen: Observed) -> bool:
        row = seen.row
        fits = (arm is None or row.arm == arm) and (worker is None or row.worker == worker)
        return fits and (failed is None or row.failed == failed)

    def look(opened: OpenStudy) -> dict[str, Any]:
        if arm is not None:
            known_name(arm, opened.study.spec.search.names, "arm")
        with opened.desk.session.reading() as (ledger, _):
            told = ledger.told
        rows: list[list[Any]] = []
        last, scanned, size = -1, 0, limit if (arm, worker, failed) == (None, None, None) else PAGE
        for start, stop in pages(told, before, after, size):
            with opened.desk.session.reading():
                found = opened.desk.session.store.read_rows(opened.id, start, stop)
            numbered = list(enumerate(map(opened.desk.described, found), start))
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

    return Json(jsonable(await looked(request, study_id, look)))


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
    return [row.arm, row.reward, row.failed, row.worker, told_at, row.pull, row.item, row.price, info, seen.seed]


@router.get("/failures", response_model=schema.RowsAnswer, responses=LOOK)
async def failures(
    study_id: StudyNumber,
    request: Request,
    before: Before = None,
    arm: str | None = None,
    limit: Annotated[int, Query(ge=1, le=PAGE)] = 100,
) -> Json:
    """Attempts that failed, the newest first."""

    def look(opened: OpenStudy) -> dict[str, Any]:
        if arm is not None:
            known_name(arm, opened.study.spec.search.names, "arm")
        found = sorted(opened.desk.failures(), key=lambda each: each.failed_at)
        found = found[: len(found) if before is None else before]
        places = [at for at in range(len(found) - 1, -1, -1) if arm is None or found[at].arm == arm]
        rows = [[*found[at][:4], write_time(found[at].failed_at), found[at].seed] for at in places[:limit]]
        return {"columns": FAILED, "rows": rows, "next": places[limit - 1] if len(places) > limit else None}

    return Json(await looked(request, study_id, look))


@router.get("/pulls", response_model=schema.OpenPullsAnswer, responses=LOOK)
async def pulls(study_id: StudyNumber, request: Request) -> Json:
    """Pulls without an answer that counts: who has them, and for how long."""

    def look(opened: OpenStudy) -> dict[str, Any]:
        with opened.desk.session.reading() as (ledger, now):
            unanswered = sorted(ledger.open.values())
        names = opened.study.spec.search.names

        def described(pull: PullRow) -> dict[str, Any]:
            return {
                "id": write_pull_id(pull.token, pull.number, pull.attempt),
                "arm": names[pull.arm],
                "worker": pull.worker,
                "lease_seconds": jsonable(max(pull.lease_until - now.clock, 0.0)),
                "attempt": pull.attempt,
                "failures": pull.failures,
                "given_up": pull.given_up,
                "held": pull.answer is not None,
            }

        return {"pulls": [described(pull) for pull in unanswered]}

    return Json(await looked(request, study_id, look))


# --- files ------------------------------------------------------------------------------------------------------------


@router.get("/export.csv", responses={200: {"content": {"text/csv": {}}}, **LOOK}, response_class=Response)
async def export_csv(study_id: StudyNumber, request: Request) -> Response:
    """All observations, in their order, as CSV: what `import` takes back without loss."""
    return await exported(request, study_id, "csv", "text/csv; charset=utf-8")


@router.get("/export.jsonl", responses={200: {"content": {"application/jsonl": {}}}, **LOOK}, response_class=Response)
async def export_jsonl(study_id: StudyNumber, request: Request) -> Response:
    """All observations, in their order, one JSON object a line."""
    return await exported(request, study_id, "jsonl", "application/jsonl")


async def exported(request: Request, study_id: int, form: str, kind: str) -> Response:
    """A file of observations: made as a whole, so that an error is one, and sent in parts."""

    def look(opened: OpenStudy) -> IO[bytes]:
        file = tempfile.SpooledTemporaryFile(IN_MEMORY)  # noqa: SIM115 - closed when it is sent
        text = io.TextIOWrapper(file, encoding="utf-8", newline="")
        opened.study.export_trials(text, form)
        text.flush()
        text.detach()
        file.seek(0)
        return file

    file = await looked(request, study_id, look)

    def parts() -> Iterator[bytes]:
        with file:
            while part := file.read(CHUNK):
                yield part

    headers = saved_as(study_id, form)
    return StreamingResponse(parts(), media_type=kind, headers=headers)


@router.get(
    "/report.html", responses={200: {"content": {"text/html": {}}}, **refusals(404, 501)}, response_class=Response
)
async def report_page(study_id: StudyNumber, request: Request) -> Response:
    """The whole report as one page that needs no network."""
    content = await looked(request, study_id, lambda opened: drawn_into(opened.study.save_html, "report.html"))
    headers = saved_as(study_id, "html")  # it has styles inside, which the policy of our pages would not let pass
    return Response(content, media_type="text/html; charset=utf-8", headers=headers)


@router.get(
    "/plane.svg", responses={200: {"content": {"image/svg+xml": {}}}, **refusals(404, 501)}, response_class=Response
)
async def plane_svg(study_id: StudyNumber, request: Request) -> Response:
    """The arms in the mean-risk plane, as SVG."""
    content = await looked(request, study_id, lambda opened: drawn_into(opened.study.save_plot, "plane.svg"))
    return Response(content, media_type="image/svg+xml", headers=saved_as(study_id, "svg"))


@router.get(
    "/plane.png", responses={200: {"content": {"image/png": {}}}, **refusals(404, 501)}, response_class=Response
)
async def plane_png(
    study_id: StudyNumber, request: Request, width: Annotated[int, Query(ge=PNG_WIDTHS[0], le=PNG_WIDTHS[1])] = 1200
) -> Response:
    """The same as PNG, so many pixels wide."""

    def look(opened: OpenStudy) -> bytes:
        def save(path: FilePath) -> None:
            figure = opened.study.plot().figure
            figure.savefig(path, dpi=width / figure.get_size_inches()[0])

        return drawn_into(save, "plane.png")

    return Response(await looked(request, study_id, look), media_type="image/png")


def saved_as(study_id: int, form: str) -> dict[str, str]:
    """That an answer is a file to keep, and how it is called."""
    return {"Content-Disposition": f'attachment; filename="study-{study_id}.{form}"'}


def drawn_into(save: Callable[[FilePath], object], name: str) -> bytes:
    """Return what a function writes into a file; one at a time, since they draw with matplotlib."""
    with tempfile.TemporaryDirectory() as folder, DRAWING:
        path = FilePath(folder) / name
        save(path)
        return path.read_bytes()
