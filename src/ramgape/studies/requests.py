"""Requests that are made again because their answer was lost: they change nothing twice.

The pull that is told, or the worker who asks, says of most requests that they are the same as before. Where nothing
does (somebody without a name asks, trials come from elsewhere, more is asked of a study, arms come and go), whoever
makes the request gives it a key, which the store keeps with the answer, in the transaction of what it has changed.
"""

from __future__ import annotations

from collections.abc import Callable

from ramgape.errors import KeyReused, shorten
from ramgape.storage.records import Moment, RequestRow
from ramgape.studies.ledger import Ledger
from ramgape.studies.session import StudySession


def answered_once(
    session: StudySession, ledger: Ledger, now: Moment, key: str, digest: str, operate: Callable[[], str]
) -> str:
    """The answer to a request, carried out unless it was before; inside a writing transaction.

    What has changed nothing is not kept, and neither is what ended in an error: made again, it does no harm.

    Args:
        session, ledger, now: The study, and what its transaction gave.
        key, digest: Of the request: chosen by whoever makes it, and of all that it asks for.
        operate: Carries it out; gives the answer.

    Raises:
        KeyReused: The key is that of another request.
    """
    made = session.find_request(key)
    if made is not None:
        if made.digest != digest:
            allowed = "a new one: this one is that of another request, which was carried out"
            raise KeyReused(what="the key of a request", allowed=allowed, given=shorten(key))
        return made.answer
    before = ledger.changes.count()
    answer = operate()
    after = session.known  # another ledger, if the study has another specification now
    assert after is not None
    if after is not ledger or after.changes.count() != before:
        after.changes.requests.append(RequestRow(key, digest, answer, now.time))
    return answer
