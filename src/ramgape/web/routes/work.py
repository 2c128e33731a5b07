"""What workers ask of a study: pulls, answers, failures, leases."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from fastapi import APIRouter, Path, Request

from ramgape.errors import RamgapeError
from ramgape.search.outcome import Outcome
from ramgape.studies.exchange import Pull
from ramgape.studies.study import Study
from ramgape.web import schema
from ramgape.web.access.roles import access_of
from ramgape.web.answers import Json, refusals
from ramgape.web.forms import FormRoute, IdempotencyKey, digest_of, keyed
from ramgape.web.open_studies import OpenStudies, OpenStudy, unknown_number

router = APIRouter(prefix="/studies/{id}", tags=["work"], route_class=FormRoute)

StudyNumber = Annotated[int, Path(alias="id", ge=0, le=2**63 - 1, description="The study's number, from the list.")]
Make = Callable[[Study], dict[str, Any]]


async def open_study_for(request: Request, study_id: int, role: str) -> OpenStudy:
    """Open a study, for a sender with at least this role."""
    access, studies = access_of(request), studies_of(request)
    known = studies.open.get(study_id)
    name = (await studies.in_thread(lambda: studies.row(study_id))).name if known is None else known.name
    if not access.sees(name):  # only what the token sees is opened
        raise unknown_number(study_id)
    access.require(role)
    return await studies.opened(study_id)


def studies_of(request: Request) -> OpenStudies:
    """The studies that are open."""
    studies: OpenStudies = request.app.state.studies
    return studies


async def made(request: Request, study_id: int, role: str, key: str | None, make: Make) -> Json:
    """What an operation on a study gives, made with whatever else waits."""
    opened = await open_study_for(request, study_id, role)
    digest = "" if key is None else await digest_of(request)
    try:
        answer = await opened.make(keyed(opened, key, digest, lambda: make(opened.study)))
    except RamgapeError as error:
        count_refused(request, type(error).__name__, 1)
        raise
    accepted = answer.get("accepted", ()) if isinstance(answer, dict) else ()
    if accepted is False or (accepted is not True and False in accepted):
        count_refused(request, "late", accepted.count(False) if accepted else 1)
    return Json(answer)


def count_refused(request: Request, why: str, count: int) -> None:
    """Count refused results: with an error, or because the pull was answered already or is with another worker."""
    if request.scope["path"].endswith(("/exchange", "/tell", "/fail", "/observe")):
        studies_of(request).metrics.count("ramgape_refused_tells_total", count, error=why)


async def made_alone(request: Request, study_id: int, key: str | None, make: Make) -> Json:
    """The same for what takes long, or changes the specification, for an admin: in a transaction of its own."""
    opened = await open_study_for(request, study_id, "admin")
    digest = "" if key is None else await digest_of(request)
    return Json(await opened.in_thread(keyed(opened, key, digest, lambda: make(opened.study))))


def pull_answer(pull: Pull) -> dict[str, Any]:
    """A pull as JSON has it; its item only where there are any."""
    answer: dict[str, Any] = {"id": pull.id, "arm": pull.arm, "seed": pull.seed}
    if pull.item is not None:
        answer["item"] = pull.item
    return answer


def outcome_in(told: schema.AnswerBody) -> float | Outcome:
    """What a trial gave."""
    if told.price is None and told.info is None:
        return told.reward
    return Outcome(told.reward, told.price, told.info)


WORK = refusals(404, 409)


@router.post("/exchange", response_model=schema.ExchangeAnswer, responses=WORK)
async def exchange(
    study_id: StudyNumber, body: schema.ExchangeBody, request: Request, key: IdempotencyKey = None
) -> Json:
    """Tell what came out and get the next pulls, in one transaction: a worker's whole round.

    What is given is taken in as a whole or, after an error, not at all. A worker with a name gets its own open pulls
    back first, but for those that it says are known to it; so to repeat the request is safe.
    """

    def make(study: Study) -> dict[str, Any]:
        exchanged = study.exchange(
            [(each.pull, outcome_in(each)) for each in body.answers],
            failed=[(each.pull, each.reason) for each in body.failed],
            given_back=body.given_back,
            lost=body.lost,
            count=body.count,
            worker=body.worker,
            lease=body.lease,
            known=body.known,
        )
        return {
            "accepted": [each.accepted for each in exchanged.answers],
            "pulls": [pull_answer(pull) for pull in exchanged.pulls],
            "done": exchanged.done,
        }

    return await made(request, study_id, "work", key, make)


@router.post("/ask", response_model=schema.PullsAnswer, responses=WORK)
async def ask(study_id: StudyNumber, body: schema.AskBody, request: Request, key: IdempotencyKey = None) -> Json:
    """The next pulls: up to `count`, none when the goal is reached or enough pulls are under way.

    Without a worker's name all pulls are new to the caller: then only a key makes it safe to repeat the request.
    """

    def make(study: Study) -> dict[str, Any]:
        exchanged = study.exchange(count=body.count, worker=body.worker, lease=body.lease, known=body.known)
        return {"pulls": [pull_answer(pull) for pull in exchanged.pulls], "done": exchanged.done}

    return await made(request, study_id, "work", key, make)


@router.post("/tell", response_model=schema.AcceptedAnswer, responses=WORK)
async def tell(study_id: StudyNumber, body: schema.TellBody, request: Request, key: IdempotencyKey = None) -> Json:
    """The rewards of pulls; they are stored when this answers, all or, after an error, none.

    The first answer to a pull wins. Telling the same again is fine; another reward for the same pull is an error.
    """

    def make(study: Study) -> dict[str, Any]:
        exchanged = study.exchange([(each.pull, outcome_in(each)) for each in body.answers], count=0)
        return {"accepted": [each.accepted for each in exchanged.answers], "done": exchanged.done}

    return await made(request, study_id, "work", key, make)


@router.post("/fail", response_model=schema.OneAcceptedAnswer, responses=WORK)
async def fail(study_id: StudyNumber, body: schema.FailureBody, request: Request, key: IdempotencyKey = None) -> Json:
    """A trial has failed: it is tried again, or counts as the worst reward, as the study was created."""

    def make(study: Study) -> dict[str, Any]:
        answer = study.fail(body.pull, body.reason)
        return {"accepted": answer.accepted, "done": answer.done}

    return await made(request, study_id, "work", key, make)


@router.post("/give-back", response_model=schema.AcceptedAnswer, responses=WORK)
async def give_back(
    study_id: StudyNumber, body: schema.ReturnBody, request: Request, key: IdempotencyKey = None
) -> Json:
    """Pulls will not be made: they are available to others at once, and that is no failure."""

    def make(study: Study) -> dict[str, Any]:
        exchanged = study.exchange(given_back=body.pulls, count=0)
        return {"accepted": [each.accepted for each in exchanged.answers], "done": exchanged.done}

    return await made(request, study_id, "work", key, make)


@router.post("/renew", response_model=schema.RenewAnswer, responses=WORK)
async def renew(study_id: StudyNumber, body: schema.RenewBody, request: Request, key: IdempotencyKey = None) -> Json:
    """Pulls are still being worked on: their leases begin anew. Tells which of them are still the caller's."""

    def make(study: Study) -> dict[str, Any]:
        return {"renewed": study.renew(body.pulls, body.lease), "done": study.done}

    return await made(request, study_id, "work", key, make)


@router.post("/leave", response_model=schema.LeaveAnswer, responses=WORK)
async def leave(study_id: StudyNumber, body: schema.LeaveBody, request: Request, key: IdempotencyKey = None) -> Json:
    """A worker goes: what it has open is available to others at once."""

    def make(study: Study) -> dict[str, Any]:
        return {"given_back": study.leave(body.worker), "done": study.done}

    return await made(request, study_id, "work", key, make)


@router.post("/observe", response_model=schema.AcceptedAnswer, responses=WORK)
async def observe(
    study_id: StudyNumber, body: schema.ObserveBody, request: Request, key: IdempotencyKey = None
) -> Json:
    """Trials that were made without asking, in their order; all are stored or, after an error, none.

    Nothing but a key tells a repetition from further trials with the same rewards.
    """

    def make(study: Study) -> dict[str, Any]:
        trials = [(each.arm, Outcome(each.reward, each.price, each.info)) for each in body.trials]
        answers = study.observe_many(trials)
        return {"accepted": [each.accepted for each in answers], "done": answers[-1].done}

    return await made(request, study_id, "work", key, make)


@router.post("/retry", response_model=schema.RetryAnswer, responses=WORK)
async def retry(study_id: StudyNumber, request: Request, key: IdempotencyKey = None) -> Json:
    """Try again what was given up after too many failures."""

    def make(study: Study) -> dict[str, Any]:
        return {"retried": study.retry(), "done": study.done}

    return await made(request, study_id, "admin", key, make)
