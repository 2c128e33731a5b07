"""What workers ask of a study: pulls, answers, failures, leases."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from inspect import Parameter, Signature
from typing import Annotated, Any, get_type_hints

from fastapi import APIRouter, Path, Request
from pydantic import BaseModel

from ramgape.errors import RamgapeError, require
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
Make = Callable[..., dict[str, Any]]
NEEDED = Parameter.empty
CHANGE = refusals(404, 409)


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


def changes(
    router: APIRouter, path: str, answer: type[BaseModel], role: str = "work", *, alone: bool = False
) -> Callable[[Make], Make]:
    """Add a route that changes a study: a function of the study, and of the body if there is one.

    Args:
        router: Which it belongs to.
        path: Of the route.
        answer: The form of what it returns.
        role: The least role that may do it.
        alone: Whether it takes long or changes the specification. Then it has a transaction of its own; otherwise it
            shares one with whatever else waits.
    """

    def add(make: Make) -> Make:
        form = get_type_hints(make).get("body")

        async def serve(study_id: int, request: Request, key: str | None = None, body: Any = None) -> Json:
            opened = await open_study_for(request, study_id, role)
            digest = "" if key is None else await digest_of(request)
            operate = partial(make, opened.study, *(() if form is None else (body,)))
            if alone:
                return Json(await opened.in_thread(keyed(opened, key, digest, operate)))
            try:
                found = await opened.make(keyed(opened, key, digest, operate))
            except RamgapeError as error:
                count_refused(request, type(error).__name__, 1)
                raise
            accepted = found.get("accepted", ()) if isinstance(found, dict) else ()
            if accepted is False or (accepted is not True and False in accepted):
                count_refused(request, "late", accepted.count(False) if accepted else 1)
            return Json(found)

        types = {"study_id": StudyNumber, "body": form, "request": Request, "key": IdempotencyKey}
        serve.__signature__ = Signature(  # type: ignore[attr-defined]
            [
                Parameter(name, Parameter.KEYWORD_ONLY, annotation=kind, default=None if name == "key" else NEEDED)
                for name, kind in types.items()
                if kind is not None
            ]
        )
        serve.__name__, serve.__doc__ = make.__name__, make.__doc__
        router.post(path, response_model=answer, responses=CHANGE)(serve)
        return make

    return add


def count_refused(request: Request, why: str, count: int) -> None:
    """Count refused results: with an error, or because the pull was answered already or is with another worker."""
    if request.scope["path"].endswith(("/exchange", "/tell", "/fail", "/observe")):
        studies_of(request).metrics.count("ramgape_refused_tells_total", count, error=why)


def pull_answer(pull: Pull) -> dict[str, Any]:
    """A pull as JSON has it; its item only where there are any."""
    answer: dict[str, Any] = {"id": pull.id, "arm": pull.arm, "seed": pull.seed}
    if pull.item is not None:
        answer["item"] = pull.item
    return answer


def outcome_in(told: schema.AnswerBody | schema.TrialBody) -> Any:
    """What a trial gave."""
    given = told.reward if told.outcomes is None else told.outcomes
    if told.outcomes is not None:
        require(told.reward is None, "reward", "absent beside outcomes", told.reward)
    return given if told.price is None and told.info is None else Outcome(given, told.price, told.info)


def exchanged(study: Study, answers: Sequence[schema.AnswerBody] = (), **request: Any) -> dict[str, Any]:
    """Report results and get pulls, as JSON has it."""
    found = study.exchange([(each.pull, outcome_in(each)) for each in answers], **request)
    return {
        "accepted": [each.accepted for each in found.answers],
        "pulls": [pull_answer(pull) for pull in found.pulls],
        "done": found.done,
    }


def without(name: str, answer: dict[str, Any]) -> dict[str, Any]:
    """An answer without one of its parts."""
    del answer[name]
    return answer


@changes(router, "/exchange", schema.ExchangeAnswer)
def exchange(study: Study, body: schema.ExchangeBody) -> dict[str, Any]:
    """Tell what came out and get the next pulls, in one transaction: a worker's whole round.

    What is given is taken in as a whole or, after an error, not at all. A worker with a name gets its own open pulls
    back first, but for those that it says are known to it; so to repeat the request is safe.
    """
    failed = [(each.pull, each.reason) for each in body.failed]
    return exchanged(study, **dict(body) | {"failed": failed})


@changes(router, "/ask", schema.PullsAnswer)
def ask(study: Study, body: schema.AskBody) -> dict[str, Any]:
    """The next trials: up to `count`, none when the goal is reached or enough trials are in progress.

    Without a worker's name all pulls are new to the caller: then only a key makes it safe to repeat the request.
    """
    return without("accepted", exchanged(study, **dict(body)))


@changes(router, "/tell", schema.AcceptedAnswer)
def tell(study: Study, body: schema.TellBody) -> dict[str, Any]:
    """The rewards of pulls; they are stored when this answers, all or, after an error, none.

    The first answer to a pull wins. Telling the same again is fine; another reward for the same pull is an error.
    """
    return without("pulls", exchanged(study, body.answers, count=0))


@changes(router, "/fail", schema.OneAcceptedAnswer)
def fail(study: Study, body: schema.FailureBody) -> dict[str, Any]:
    """A trial has failed: it is tried again, or counts as the worst reward, as the study was created."""
    answer = study.fail(body.pull, body.reason)
    return {"accepted": answer.accepted, "done": answer.done}


@changes(router, "/give-back", schema.AcceptedAnswer)
def give_back(study: Study, body: schema.ReturnBody) -> dict[str, Any]:
    """Pulls will not be made: they are available to others at once, and that is no failure."""
    return without("pulls", exchanged(study, given_back=body.pulls, count=0))


@changes(router, "/renew", schema.RenewAnswer)
def renew(study: Study, body: schema.RenewBody) -> dict[str, Any]:
    """Pulls are still being worked on: their leases begin anew. Tells which of them are still the caller's."""
    return {"renewed": study.renew(body.pulls, body.lease), "done": study.done}


@changes(router, "/leave", schema.LeaveAnswer)
def leave(study: Study, body: schema.LeaveBody) -> dict[str, Any]:
    """A worker goes: what it has open is available to others at once."""
    return {"given_back": study.leave(body.worker), "done": study.done}


@changes(router, "/observe", schema.AcceptedAnswer)
def observe(study: Study, body: schema.ObserveBody) -> dict[str, Any]:
    """Trials that were made without asking, in their order; all are stored or, after an error, none.

    Nothing but a key tells a repetition from further trials with the same rewards.
    """
    answers = study.observe_many([(each.arm, outcome_in(each)) for each in body.trials])
    return {"accepted": [each.accepted for each in answers], "done": answers[-1].done}


@changes(router, "/retry", schema.RetryAnswer, "admin")
def retry(study: Study) -> dict[str, Any]:
    """Try again what was given up after too many failures."""
    return {"retried": study.retry(), "done": study.done}
