"""The studies of a server: found by name once, then called by their numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from ramgape.errors import UnknownStudy, deleted_meanwhile, unknown_study
from ramgape.remote.answers import EXCHANGED, RENEWED, STUDIES, Check, Unexpected
from ramgape.remote.connection import ServerConnection, request_key

AT_ONCE = 1000  # studies of a list
MOST_PAGES = 10_000

Json = dict[str, Any]


class RemoteStudy:
    """One study of a server, by its number; what goes back and forth is what JSON has."""

    def __init__(self, connection: ServerConnection, number: int) -> None:
        self.connection = connection
        self.path = f"/studies/{number}"

    def exchange(
        self,
        results: Mapping[str, list[Any]],
        *,
        count: int,
        worker: str | None,
        lease: float | None,
        known: Sequence[str] = (),
    ) -> Json:
        """Report results and get the next pulls. Without a worker's name, a key makes the request safe to repeat.

        Args:
            results: Lists of `answers`, `failed`, `given_back` and `lost`, as JSON has them; none need be there.
            count, worker, lease, known: As for `Study.exchange`.
        """
        reported = {what: given for what, given in results.items() if given}
        body = {**reported, "count": count, "worker": worker, "lease": lease, "known": list(known)}
        found = self.post("exchange", body, EXCHANGED, once=count > 0 and worker is None)
        ids = [pull["id"] for pull in found["pulls"]]
        with self.connection.understanding("exchange"):
            _require_as_many("the answer.accepted", found["accepted"], sum(map(len, reported.values())))
            if len(ids) > count or len(set(ids)) < len(ids):
                raise Unexpected("the answer.pulls", f"at most {count} different ones", ids)
        return found

    def renew(self, pulls: list[str], lease: float | None) -> Json:
        """Let the leases of some pulls begin anew."""
        found = self.post("renew", {"pulls": pulls, "lease": lease}, RENEWED)
        with self.connection.understanding("renew"):
            _require_as_many("the answer.renewed", found["renewed"], len(pulls))
        return found

    def post(self, verb: str, body: Json, form: Check, *, once: bool = False) -> Json:
        """What becomes of something that is told; `once` where only a key says that it is told again."""
        found: Json = self.call("POST", f"/{verb}", body, key=request_key() if once else None, form=form)
        return found

    def call(self, method: str, path: str, body: object = None, **more: Any) -> Any:
        """What the server answers to a question about this study, as `ServerConnection.call` does."""
        with self._still_there():
            return self.connection.call(method, f"{self.path}{path}", body, **more)

    def stream(self, path: str) -> Iterator[bytes]:
        """A long answer about this study, piece by piece."""
        with self._still_there():
            yield from self.connection.stream(f"{self.path}{path}")

    @contextmanager
    def _still_there(self) -> Iterator[None]:
        try:
            yield
        except UnknownStudy:  # which was there when it was looked for
            raise deleted_meanwhile(self.connection.url) from None


def _require_as_many(where: str, found: list[Any], count: int) -> None:
    if len(found) != count:
        raise Unexpected(where, f"a list of {count}, one for each that was sent", found)


def find_study(connection: ServerConnection, name: str) -> Json | None:
    """A study as in the list; None if there is none of that name."""
    found = connection.call("GET", "/studies", query={"name": name}, form=STUDIES)["studies"]
    return next((study for study in found if study["name"] == name), None)


def known_study(connection: ServerConnection, name: str) -> Json:
    """A study as in the list, or an error that says which there are."""
    found = find_study(connection, name)
    if found is None:
        raise unknown_study(name, [study["name"] for study in all_studies(connection)], connection.url)
    return found


def all_studies(connection: ServerConnection) -> Iterator[Json]:
    """The list, page by page."""
    after: str | None = None
    seen: set[str] = set()
    while True:
        page = connection.call("GET", "/studies", query={"after": after, "limit": AT_ONCE}, form=STUDIES)
        yield from page["studies"]
        after = page["next"]
        if after is None:
            return
        with connection.understanding("GET /studies"):
            if after in seen or not page["studies"] or len(seen) >= MOST_PAGES:
                raise Unexpected("the answer.next", "null at the end of the list", after)
        seen.add(after)
