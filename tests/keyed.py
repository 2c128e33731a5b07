"""A request under a key, made of a study by whoever has it open."""

from __future__ import annotations

from collections.abc import Callable

from ramgape import Study
from ramgape.storage.records import Moment
from ramgape.studies.entries import Trial
from ramgape.studies.session import StudySession
from ramgape.studies.state import StudyState


def requested(study: Study, key: str, digest: str, operation: Callable[[StudySession, StudyState, Moment], str]) -> str:
    """The answer to it."""
    backend = study.backend
    with backend._sharing() as (ledger, now):
        return backend.once(key, digest, lambda: operation(backend.session, ledger, now))  # type: ignore[no-any-return]


def observe_once(study: Study, key: str) -> str:
    """One trial of the first arm from elsewhere."""

    def observe(_: StudySession, ledger: StudyState, now: Moment) -> str:
        ledger.observe([Trial(0, 0.5)], now)
        return str(ledger.told)

    return requested(study, key, "a trial", observe)
