"""What those who follow a study are sent, and what they ask about it: pictures, its past, one arm to choose."""

from __future__ import annotations

from collections.abc import AsyncIterator
from itertools import count as counting
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Request
from starlette.responses import Response, StreamingResponse

from ramgape.storage.records import StudyRow
from ramgape.studies.report import summarize
from ramgape.studies.specification import StudySpec
from ramgape.web import schema
from ramgape.web.access.roles import Access, access_of
from ramgape.web.answers import Json, refusals
from ramgape.web.choose import choose
from ramgape.web.frame import make_frame
from ramgape.web.open_studies import OpenStudies, OpenStudy, unknown_number
from ramgape.web.routes.manage import summary_of
from ramgape.web.routes.work import StudyNumber, open_study_for, studies_of
from ramgape.web.streams import RETRY, ListStream, event

router = APIRouter(tags=["follow"])

LOOK = refusals(404)
STREAM: dict[int | str, dict[str, Any]] = {
    200: {"content": {"text/event-stream": {}}, "description": "Server-sent events, without end."}
}
MOST_POINTS = 800
UNBUFFERED = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}  # a proxy must not collect events

Pictures = Annotated[int | None, Query(ge=1, le=2**31, description="End after so many pictures.")]
LastEventId = Annotated[str | None, Header(alias="Last-Event-ID", max_length=30)]


@router.get("/studies/{id}/picture", response_model=schema.PictureAnswer, responses={304: {}, **LOOK})
async def picture(study_id: StudyNumber, request: Request) -> Response:
    """What is seen of a study now, in numbers and in words; a row for each arm, whose columns `frame` names."""
    opened = await open_study_for(request, study_id, "read")
    shown = await opened.live.present()
    tag = f'"{opened.id}-{shown["revision"]}-{shown["expected"]}"'
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers={"ETag": tag})
    session = opened.backend.session
    return Json({"frame": make_frame(session.row, session.spec), **shown}, headers={"ETag": tag})


@router.get("/studies/{id}/history", response_model=schema.HistoryAnswer, responses=LOOK)
async def history(
    study_id: StudyNumber, request: Request, points: Annotated[int, Query(ge=2, le=MOST_POINTS)] = 400
) -> Json:
    """How the study came to where it is, in columns: the doubt, and the trials of the arms that took most.

    What was before the server had the study open is looked for in the background; `complete` says whether it is there.
    """
    opened = await open_study_for(request, study_id, "read")
    opened.live.remember()
    return Json(opened.live.history.to_dict(points))


@router.get("/studies/{id}/events", responses={**STREAM, **LOOK}, response_class=StreamingResponse)
async def events(
    study_id: StudyNumber, request: Request, pictures: Pictures = None, known: LastEventId = None
) -> Response:
    """The study while it goes on: `frame` at once, then a `picture` whenever something has changed, at most 4 a second.

    The number of a picture is the revision of the study. `trouble` says that the store cannot be read, `gone` that the
    study was deleted.
    """
    access, studies = access_of(request), studies_of(request)
    row = await studies.in_thread(lambda: studies.row(study_id))
    if not access.sees(row.name):
        raise unknown_number(study_id)
    stream = followed(studies, row, known, pictures)
    return StreamingResponse(stream, media_type="text/event-stream", headers=UNBUFFERED)


async def followed(studies: OpenStudies, row: StudyRow, known: str | None, most: int | None) -> AsyncIterator[bytes]:
    """The stream of one monitor: what does not depend on observations first, while these may still be read."""
    frame = await studies.in_thread(lambda: make_frame(row, StudySpec.from_text(row.specification)))
    yield RETRY + event("frame", frame)
    opened: OpenStudy = await studies.opened(row.id)
    shown = counting(1)
    async for sent in opened.live.events(known):
        yield sent
        if b"event: picture\n" in sent and next(shown) == most:
            return


@router.get("/events", responses={**STREAM, **refusals()}, response_class=StreamingResponse)
async def all_events(request: Request) -> Response:
    """The list of studies while they go on: `changed` has rows of the list, `gone` numbers of studies."""
    access, studies = access_of(request), studies_of(request)
    return StreamingResponse(listed(studies, access), media_type="text/event-stream", headers=UNBUFFERED)


async def listed(studies: OpenStudies, access: Access) -> AsyncIterator[bytes]:
    """The stream of one who watches the list."""
    async for sent in list_of(studies).events(access.sees):
        yield sent


def list_of(studies: OpenStudies) -> ListStream:
    """The one list that all who watch it share."""
    if studies.listed is None:

        def described(row: StudyRow, pending: int) -> dict[str, Any]:
            return summary_of(studies, row, summarize(row, pending))

        def rows() -> list[tuple[StudyRow, int]]:
            with studies.store() as store:
                return store.list_studies()

        studies.listed = ListStream(rows, studies.found_at, described, studies.in_thread)
    return studies.listed


@router.get("/studies/{id}/choose", response_model=schema.ChoiceAnswer, responses=LOOK)
async def choice(
    study_id: StudyNumber,
    request: Request,
    by: Annotated[str | None, Query(description="The text of an objective: the arm that is best in it.")] = None,
    max_risk: Annotated[float | None, Query(allow_inf_nan=False)] = None,
    rho: Annotated[float | None, Query(allow_inf_nan=False)] = None,
    baseline: Annotated[str | None, Query(description="An arm to compare the chosen one with.")] = None,
) -> Json:
    """One arm of the answer, for a user who needs a single one, and how it compares with another.

    Give at most one of `by` (default: the first objective), `max_risk` (the best mean with no more risk) and `rho` (the
    least variance - rho mean).
    """
    opened = await open_study_for(request, study_id, "read")

    def look() -> Json:
        result, spec = opened.study.result(expect=False), opened.backend.spec.present
        return Json(choose(result, spec, by=by, max_risk=max_risk, rho=rho, baseline=baseline))

    return await opened.in_thread(look)
