"""The studies as a whole: listed, made, deleted, changed, filled from files."""

from __future__ import annotations

import hashlib
import json
import tempfile
import time
from contextlib import suppress
from dataclasses import asdict
from typing import Annotated, Any, Literal, cast

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

import ramgape
from ramgape.common.checks import check_text
from ramgape.common.files import NamedText
from ramgape.errors import RamgapeError, require
from ramgape.options import StudyOptions
from ramgape.search.explained import jsonable
from ramgape.search.items import Items
from ramgape.storage.records import StudyRow
from ramgape.studies.files import ImportBuffer, read_rows
from ramgape.studies.local import LocalBackend
from ramgape.studies.report import StudySummary, summarize, write_time
from ramgape.studies.study import Study, checked_study
from ramgape.web import schema
from ramgape.web.access.roles import access_of
from ramgape.web.answers import Json, refusals
from ramgape.web.errors import Forbidden
from ramgape.web.forms import FormRoute, IdempotencyKey, digest_of, keyed
from ramgape.web.open_studies import OpenStudies, unknown_number
from ramgape.web.routes.work import CHANGE, StudyNumber, changes, open_study_for, studies_of
from ramgape.web.snapshot import study_state

router = APIRouter(tags=["manage"], route_class=FormRoute)

VERSION = ramgape.__version__  # which takes milliseconds to find
STATES = ("waiting", "running", "failing", "done")
KEY_DIGITS = 16  # of a study's own key
IN_MEMORY = 8 * 2**20  # bytes of a file that comes in; more goes to the disk


@router.get("", response_model=schema.ServiceAnswer, responses=refusals())
async def service(request: Request) -> Json:
    """What this is, and who asks."""
    access, studies = access_of(request), studies_of(request)
    kind = studies.storage.partition(":")[0].partition("+")[0]
    known = {"version": VERSION, "storage": kind, "name": access.name, "role": access.role}
    return Json({**known, "now": write_time(time.time())})


@router.get("/studies", response_model=schema.ListAnswer, responses=refusals())
async def list_studies(
    request: Request,
    name: Annotated[str | None, Query(description="Only the study of exactly this name.")] = None,
    state: Annotated[Literal["waiting", "running", "failing", "done"] | None, Query()] = None,
    text: Annotated[str | None, Query(description="Only studies with this in their names.")] = None,
    after: Annotated[str | None, Query(description="Only studies whose names come after this one.")] = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> Json:
    """The studies, by name; those that the token may see."""
    access, studies = access_of(request), studies_of(request)

    def wanted(each: str) -> bool:
        return access.sees(each) and (text is None or text.lower() in each.lower()) and (after is None or each > after)

    def all_names() -> list[str]:
        with studies.store() as store:
            return store.study_names()

    def look() -> dict[str, Any]:
        shown: list[tuple[StudyRow, StudySummary]] = []
        for each in filter(wanted, all_names() if name is None else [name]):  # of all others only the names are read
            with studies.store() as store:  # which others use in between
                row = store.find_study(each)
                pair = None if row is None else (row, summarize(row, store.count_pending(row.id)))
            if pair is not None and (state is None or word_of_state(studies, *pair) == state):
                shown.append(pair)
            if len(shown) > limit:
                break
        rows = [summary_of(studies, *pair) for pair in shown[:limit]]
        return {"studies": rows, "next": rows[-1]["name"] if len(shown) > limit else None}

    return Json(await studies.in_thread(look))


def word_of_state(studies: OpenStudies, row: StudyRow, summary: StudySummary) -> str:
    """In a word, how a study is going."""
    opened = studies.open.get(row.id)
    state = None if opened is None else opened.backend.session.known
    given_up = 0 if state is None else state.given_up
    return study_state(done=summary.done, given_up=given_up, pending=summary.pending)


def summary_of(studies: OpenStudies, row: StudyRow, summary: StudySummary) -> dict[str, Any]:
    """A study in the list; what it has found, where that is known already."""
    described = jsonable(asdict(summary)) | {"id": row.id, "state": word_of_state(studies, row, summary)}
    described["changed_at"] = write_time(changed_at(studies, row))
    found = studies.found(row)
    front, doubt, sentence = (None, None, None) if found is None else found
    shown: dict[str, Any] = described | {"front": front, "doubt": jsonable(doubt), "sentence": sentence}
    return shown


def changed_at(studies: OpenStudies, row: StudyRow) -> float:
    """When the last observation came, or when the study was made."""
    with studies.store() as store, suppress(RamgapeError):
        last = store.read_rows(row.id, row.told - 1, row.told) if row.told else []
        return max([row.created_at, *(each.told_at for each in last)])
    return row.created_at


@router.post(
    "/studies",
    response_model=schema.MadeAnswer,
    status_code=201,
    responses={200: {"model": schema.MadeAnswer}, **refusals(409)},
)
async def create(body: schema.NewStudy, request: Request, key: IdempotencyKey = None) -> Json:  # type: ignore[valid-type]
    """Make a study; with `exist_ok`, or the same key, it may be there already, with the same specification (200)."""
    access, studies = access_of(request), studies_of(request)
    access.require("admin")
    given = body.model_dump(exclude_unset=True)  # type: ignore[attr-defined]
    name, exist_ok = given.pop("name"), given.pop("exist_ok", True)
    if not access.sees(name):
        allowed = f"one that fits what the token is for: {', '.join(access.studies)}"
        raise Forbidden(what="name", allowed=allowed, given=name)

    def make() -> Json:
        spec, rows = checked_study(given.pop("arms"), given.pop("data", ()), tuples_of(given))
        own = "" if key is None else hashlib.sha256(key.encode()).hexdigest()[:KEY_DIGITS]
        with studies.store() as store:
            before = store.find_study(check_text(name, "name"))
        backend = LocalBackend.create(studies.storage, name, spec, exist_ok, rows, own)
        with suppress(Exception):
            backend.close()
        row = studies.row(backend.session.row.id)
        with studies.store() as store:
            pending = store.count_pending(row.id)
        described = summary_of(studies, row, summarize(row, pending))
        described["specification"] = json.loads(row.specification)
        return Json(described, 201 if before is None or row.key == own else 200)

    return await studies.in_thread(make)


def tuples_of(given: dict[str, Any]) -> StudyOptions:
    """Options as Python has them: what is a list in JSON is a pair there, but for items."""
    pairs = {key: tuple(value) for key, value in given.items() if isinstance(value, list) and key != "items"}
    items = given.get("items")
    return cast(StudyOptions, given | pairs | ({"items": Items(**items)} if isinstance(items, dict) else {}))


@router.delete("/studies/{id}", status_code=204, responses=CHANGE, response_class=Response)
async def delete(
    study_id: StudyNumber, request: Request, confirm: Annotated[str, Query(description="The study's name.")]
) -> Response:
    """Delete a study with all its observations, for good; its name must be given, so that no number goes wrong."""
    access, studies = access_of(request), studies_of(request)
    row = await studies.in_thread(lambda: studies.row(study_id))
    if not access.sees(row.name):
        raise unknown_number(study_id)
    access.require("admin")
    require(confirm == row.name, "confirm", "the name of the study", confirm)
    await studies.leave(study_id)

    def delete() -> None:
        with studies.store() as store:
            found = store.find_study(row.name)
            if found is not None and found.id == row.id:  # still the one of that name
                store.delete_study(row.name)

    await studies.in_thread(delete)
    return Response(status_code=204)


@changes(router, "/studies/{id}/extend", schema.ExtendAnswer, "admin", alone=True)
def extend(study: Study, body: schema.ExtendBody) -> dict[str, Any]:
    """Let a study, finished or not, go on for more: a smaller epsilon, a larger budget, or more money."""
    more = study.extend(**body.model_dump(exclude_none=True))
    return {"more": more, "done": not more}


@changes(router, "/studies/{id}/arms", schema.ArmsAnswer, "admin", alone=True)
def add_arm(study: Study, body: schema.ArmBody) -> dict[str, Any]:
    """One more arm, for a study that was created with `expected_arms`."""
    more = study.add_arm(body.name, price=body.price)
    return {"more": more, "arms": list(study.arms), "done": not more}


@router.delete("/studies/{id}/arms", response_model=schema.ArmsAnswer, responses=CHANGE)
async def retire(
    study_id: StudyNumber, request: Request, name: Annotated[str, Query(min_length=1)], key: IdempotencyKey = None
) -> Json:
    """An arm takes part no longer; what was told of it stays on record."""
    opened = await open_study_for(request, study_id, "admin")

    def make() -> dict[str, Any]:
        more = opened.study.retire(name)
        return {"more": more, "arms": list(opened.study.arms), "done": not more}

    digest = "" if key is None else await digest_of(request)
    return Json(await opened.in_thread(keyed(opened, key, digest, make)))


FILE = {
    "requestBody": {
        "required": True,
        "content": {"text/csv": {}, "application/jsonl": {}, "application/octet-stream": {}},
    }
}


@router.post("/studies/{id}/import", response_model=schema.ImportAnswer, responses=CHANGE, openapi_extra=FILE)
async def import_file(
    study_id: StudyNumber,
    request: Request,
    form: Annotated[Literal["csv", "jsonl"], Query(alias="format", description="Of the file that is the body.")],
    arm_column: Annotated[str, Query(min_length=1)] = "arm",
    reward_column: Annotated[str, Query(min_length=1)] = "reward",
    source: Annotated[str, Query(description="What errors call the file.")] = "the file",
    key: IdempotencyKey = None,
) -> Json:
    """Take in trials from a file, all or none; they are one batch, whose order means nothing.

    Nothing but a key tells a repetition from a second import of the same file.
    """
    opened = await open_study_for(request, study_id, "admin")
    digest = hashlib.sha256(f"{request.url.path}?{request.url.query}\n".encode())
    with tempfile.SpooledTemporaryFile(IN_MEMORY) as file, ImportBuffer() as buffer:
        async for part in request.stream():
            digest.update(part)
            file.write(part)
        file.seek(0)

        def make() -> dict[str, Any]:
            if buffer.count:
                opened.backend.take_in(buffer)
            return {"imported": buffer.count, "done": opened.study.done}

        def read_and_make() -> Any:
            columns = arm_column, reward_column
            rows = read_rows(NamedText(file, source), form, *columns, outcomes=opened.study.measured)
            opened.study._read_into(buffer, rows)
            return keyed(opened, key, digest.hexdigest(), make)()

        return Json(await opened.in_thread(read_and_make))
