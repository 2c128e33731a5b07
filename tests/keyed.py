"""A request under a key, made of a study by whoever has it open."""

from __future__ import annotations

from collections.abc import Callable

from ramgape import Study
from ramgape.storage.records import Moment
from ramgape.studies.entries import Trial
from ramgape.studies.ledger import Ledger
from ramgape.studies.requests import answered_once
from ramgape.studies.session import StudySession


def requested(study: Study, key: str, digest: str, operation: Callable[[StudySession, Ledger, Moment], str]) -> str:
    """The answer to it."""
    session = study._desk.session
    with session.writing() as (ledger, now):
        return answered_once(session, ledger, now, key, digest, lambda: operation(session, ledger, now))


def observe_once(study: Study, key: str) -> str:
    """One trial of the first arm from elsewhere."""

    def observe(_: StudySession, ledger: Ledger, now: Moment) -> str:
        ledger.observe([Trial(0, 0.5)], now)
        return str(ledger.told)

    return requested(study, key, "a trial", observe)
