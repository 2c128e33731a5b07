"""A study that a server keeps: what `Study` has checked goes there as JSON, and what comes back is as it was there."""

from __future__ import annotations

import csv
import io
import json
import math
import os
import shutil
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from numbers import Integral, Real
from tempfile import SpooledTemporaryFile
from typing import IO, TYPE_CHECKING, Any, cast

from ramgape.errors import known_name, require, shorten
from ramgape.options import STUDY, StudyOptions, options_for
from ramgape.remote import answers
from ramgape.remote.connection import LONG_WAIT, ServerConnection, request_key
from ramgape.remote.studies import RemoteStudy, known_study
from ramgape.risks.measure import Measure
from ramgape.search.explained import check_types, restore
from ramgape.search.history_point import HistoryPoint
from ramgape.search.objectives import Constraint, Objective
from ramgape.search.outcome_spec import OutcomeSpec
from ramgape.search.result import Result, Stopped, updated
from ramgape.search.spec import Spec
from ramgape.studies.arrivals import with_arm, without_arm
from ramgape.studies.backend import Backend, FailedAttempt, Observed
from ramgape.studies.entries import Results, Told, Trial
from ramgape.studies.exchange import MOST_AT_ONCE, Pull, PullId, Request, write_pull_id
from ramgape.studies.files import FORMS, ImportBuffer, ImportedRow, write_object, written
from ramgape.studies.report import Report, read_time, write_time
from ramgape.studies.specification import StudySpec
from ramgape.trials.progress import Progress

if TYPE_CHECKING:
    from ramgape.trials.monitoring import ProgressMonitor

Json = dict[str, Any]

ROWS_AT_ONCE = 5000
IN_MEMORY = 8 * 2**20  # bytes of a file that is sent; more wait on the disk

MOST_WITHIN = 10_000  # trials that a request has among other things
BARE = Trial(0, 0.0)[2:]  # of a trial that is an arm and a reward


class RemoteBackend(Backend):
    """A study behind a server.

    Args:
        connection: To the server.
        storage: Its address, as it was given.
        name, number: Of the study, there.
        specification: What the study is to do, as JSON has it.
    """

    def __init__(self, connection: ServerConnection, storage: str, name: str, number: int, specification: Json) -> None:
        self.storage = storage
        self._connection = connection
        self._name = name
        self._study = RemoteStudy(connection, number)
        self._specification: Json = {}
        self._was_done = False
        self._learn(specification)

    # --- create, open ------------------------------------------------------------------------------------------------

    @classmethod
    def create(
        cls,
        storage: str,
        token: str | None,
        name: str,
        spec: StudySpec,
        exist_ok: bool,
        rows: Sequence[Trial],
        options: StudyOptions,
    ) -> RemoteBackend:
        """A new study with what is known already; with `exist_ok`, perhaps one that is there."""
        connection = ServerConnection(storage, token)
        names = spec.search.names
        data = [[names[row.arm], row.reward] if row[2:] == BARE else _seen(row, names) for row in rows]
        many = len(data) > MOST_WITHIN  # more may not fit into a request, and follow as a file
        asked = {"name": name, "arms": list(names), "exist_ok": exist_ok, "data": [] if many else data}
        try:
            made = connection.call(
                "POST",
                "/studies",
                asked | written_options(spec, options),
                key=request_key(),
                wait=LONG_WAIT,
                form=answers.MADE,
            )
            backend = cls(connection, storage, name, made["id"], made["specification"])
            if many and not made["told"]:
                with ImportBuffer() as buffer:
                    buffer.add(list(rows))
                    backend.take_in(buffer)
        except BaseException:
            connection.close()
            raise
        return backend

    @classmethod
    def load(cls, storage: str, token: str | None, name: str) -> RemoteBackend:
        """A study that exists."""
        connection = ServerConnection(storage, token)
        try:
            number = known_study(connection, name)["id"]
            path = f"/studies/{number}/specification"
            found = connection.call("GET", path, wait=LONG_WAIT, form=answers.SPECIFIED)
            return cls(connection, storage, name, number, found["specification"])
        except BaseException:
            connection.close()
            raise

    def close(self) -> None:
        """Let go of the connections."""
        self._connection.close()

    # --- what it is --------------------------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """Of the study."""
        return self._name

    @property
    def url(self) -> str:
        """Where the server is."""
        return self._connection.url

    @property
    def spec(self) -> StudySpec:
        """What the study is to do, as the server last said."""
        return self._spec

    @property
    def durable(self) -> bool:
        """A server keeps it."""
        return True

    @property
    def patience(self) -> float:
        """None: the connection has its own timeout."""
        return 0.0

    def _learn(self, specification: Json) -> None:
        """The specification may change when a study is extended."""
        if specification != self._specification:
            with self._connection.understanding("what a study is to do"):
                spec = StudySpec.from_text(json.dumps(specification))
                for part in (spec, spec.search):
                    check_types(part)
            self._spec, self._specification = spec, specification

    def _heed(self, done: bool, as_known: bool = True) -> None:
        """Ask anew what the study is to do, if an answer shows that it has changed."""
        if not as_known or (self._was_done and not done):
            self._ask_specification()
        self._was_done = done

    def _ask_specification(self) -> None:
        self._learn(self._get("/specification", answers.SPECIFIED)["specification"])

    # --- pulls -------------------------------------------------------------------------------------------------------

    def exchange(self, results: Results, request: Request) -> tuple[list[bool], list[Pull], bool]:
        """What of that which is given was accepted, the next pulls, and whether the goal is reached."""
        reported: dict[str, list[Any]] = {
            "answers": [_answer(each) for each in results.told],
            "failed": [{"pull": write_pull_id(*pull), "reason": reason} for pull, reason in results.failed],
            "given_back": _names(results.given_back),
            "lost": _names(results.lost),
        }
        for what, given in reported.items():
            require_few(what, given)
        lease, known = _lease(request.seconds), _names(request.known)
        found = self._study.exchange(reported, count=request.wanted, worker=request.worker, lease=lease, known=known)
        pulls = [Pull(each["id"], each["arm"], each["seed"], each.get("item")) for each in found["pulls"]]
        self._heed(found["done"], all(pull.arm in self.places for pull in pulls))
        with self._connection.understanding("exchange"):
            self._check_pulls(pulls)
        return found["accepted"], pulls, found["done"]

    def _check_pulls(self, pulls: Sequence[Pull]) -> None:
        """Arms and items are those of the study: they are handed to functions and commands."""
        items = self.spec.search.items
        for place, pull in enumerate(pulls):
            if pull.arm not in self.places:
                raise answers.Unexpected(f"the answer.pulls[{place}].arm", "an arm of the study", pull.arm)
            if pull.item is not None and (items is None or pull.item not in items.values):
                raise answers.Unexpected(f"the answer.pulls[{place}].item", "an item of the study", pull.item)

    def leave(self, worker: str) -> int:
        """Give back what a worker has open; how many pulls that were."""
        count: int = self._study.post("leave", {"worker": worker}, answers.LEFT, once=True)["given_back"]
        return count

    def renew(self, pull_ids: Sequence[PullId], seconds: float) -> list[bool]:
        """Begin leases anew; which of the pulls are still the caller's."""
        found = self._study.renew(_names(pull_ids), _lease(seconds))
        renewed: list[bool] = found["renewed"]
        return renewed

    def retry(self) -> int:
        """Make available what was given up; how many pulls that are."""
        count: int = self._study.post("retry", {}, answers.RETRIED, once=True)["retried"]
        return count

    def observe(self, trials: Sequence[Trial]) -> bool:
        """Take in trials made elsewhere, one after the other; whether the goal is reached."""
        require_few("trials", trials)
        seen = [_seen(trial, self.spec.search.names) for trial in trials]
        done: bool = self._study.post("observe", {"trials": seen}, answers.DONE, once=True)["done"]
        return done

    def take_in(self, buffer: ImportBuffer) -> None:
        """Take in a batch of trials made elsewhere, as the file that it might have come from."""
        names = self.spec.search.names
        with SpooledTemporaryFile(IN_MEMORY) as file:
            for trials in buffer:
                for trial in trials:
                    row = ImportedRow(names[trial.arm], *trial[1:])
                    file.write(f"{write_object(row)}\n".encode())
            query = {"format": "jsonl", "source": "what was read here"}
            self._study.call("POST", "/import", file, query=query, key=request_key(), wait=LONG_WAIT)

    # --- another specification ---------------------------------------------------------------------------------------

    def extend(self, asked: Mapping[str, Any]) -> bool:
        """Ask for more; whether there is something to try."""
        from ramgape.studies.extending import extended

        extended(self.spec, dict(asked), 0, False, time.time())  # complains about what is no more
        given = {name: json_value(value) for name, value in asked.items() if value is not None}
        return self._changed("POST", "extend", given)

    def add_arm(self, name: str, price: float | None) -> bool:
        """One more arm; whether there is something to try."""
        with_arm(self.spec, name, price, 0, write_time(time.time()))
        return self._changed(
            "POST", "arms", {"name": name} if price is None else {"name": name, "price": json_value(price)}
        )

    def retire(self, name: str) -> bool:
        """One arm less; whether there is something to try."""
        without_arm(self.spec, name, 0, write_time(time.time()))
        return self._changed("DELETE", "arms", None, {"name": name})

    def _changed(self, method: str, verb: str, body: Json | None, query: Json | None = None) -> bool:
        more: bool = self._study.call(
            method, f"/{verb}", body, query=query, key=request_key(), wait=LONG_WAIT, form=answers.MORE
        )["more"]
        self._ask_specification()
        return more

    # --- what is known -----------------------------------------------------------------------------------------------

    def is_done(self) -> bool:
        """Whether the goal is reached."""
        done: bool = self._progress()["done"]
        return done

    def result(self, ended: Stopped, expect: bool) -> Result:
        """What is known by now."""
        return self._report(expect=expect, ended=ended).result

    def report(self, expect: bool, history: bool) -> Report:
        """What is known by now, and how the study is going."""
        return self._report(expect=expect, history=history)

    def _report(self, *, expect: bool, history: bool = False, ended: Stopped = "open") -> Report:
        query = {"expect": _word(expect), "history": _word(history), "ended": ended}
        found = self._get("", answers.REPORT, query)
        self._learn(found["specification"])
        with self._connection.understanding("the report of a study"):
            points = tuple(map(_point, found.pop("history", ())))
            report = Report.from_dict(found)
            _check_result(report.result, self.spec.present)
        return replace(report, result=updated(report.result, history=points)) if points else report

    def progress(self) -> Progress:
        """How far it is."""
        found = self._progress()
        with self._connection.understanding("GET /progress"):
            return restore(Progress, found)

    def _progress(self) -> Json:
        found, search = self._get("/progress", answers.PROGRESS), self.spec.present
        asked_for = [
            search.limit,
            search.spend,
            len(search.names),
            found["epsilon"] if search.is_open else search.epsilon,
        ]
        self._heed(found["done"], asked_for == [found[name] for name in ("limit", "spend", "arms", "epsilon")])
        return found

    def show(self, monitor: ProgressMonitor) -> None:
        """Show the progress."""
        monitor.note(self.progress(), self.spec.search.goal == "budget")

    def _get(self, path: str, form: answers.Check, query: Mapping[str, object] | None = None) -> Json:
        found: Json = self._study.call("GET", path, query=query, wait=LONG_WAIT, form=form)
        return found

    # --- all of it ---------------------------------------------------------------------------------------------------

    def observations(self) -> Iterator[Observed]:
        """All observations there are by now, in their order."""
        for row in self._rows("/observations", "after", -1, answers.OBSERVATION):
            with self._connection.understanding("GET /observations"):
                seen = _observed(row)
            yield seen

    def export(self, path: str | os.PathLike[str] | IO[str], form: str) -> int:
        """Write all observations into a file, or to a stream, as the server writes them; how many they are."""
        with SpooledTemporaryFile(IN_MEMORY) as file:  # whole before anything is written
            for piece in self._study.stream(f"/export.{known_name(form, FORMS, 'format')}"):
                file.write(piece)
            file.seek(0)
            text = io.TextIOWrapper(cast(IO[bytes], file), encoding="utf-8", newline="")
            count = sum(1 for _ in text) if form == "jsonl" else sum(1 for _ in csv.reader(text)) - 1
            text.seek(0)
            with written(path) as stream:
                shutil.copyfileobj(text, stream)
            return count

    def failures(self) -> list[FailedAttempt]:
        """All attempts that failed, in their order."""
        rows = list(self._rows("/failures", "before", None, answers.FAILURE))
        with self._connection.understanding("GET /failures"):
            return [_failed(row) for row in reversed(rows)]

    def _rows(self, path: str, direction: str, start: int | None, form: answers.Check) -> Iterator[Json]:
        """The rows of a table, a page at a time."""
        place = start
        while True:
            page = self._get(path, answers.ROWS, {direction: place, "limit": ROWS_AT_ONCE})
            with self._connection.understanding(f"GET {path}"):
                rows = [dict(zip(page["columns"], row, strict=True)) for row in page["rows"]]
                for number, row in enumerate(rows):
                    form(row, f"the answer.rows[{number}]")
                following = page["next"]
                onward = following is None or place is None or (following > place) == (direction == "after")
                if following is not None and (not rows or not onward or following == place):
                    raise answers.Unexpected("the answer.next", f"{direction} {place}, or null", following)
            yield from rows
            place = following
            if place is None:
                return


def require_few(what: str, given: Sequence[object]) -> None:
    """Complain about more than a server takes in at once, which is as much as it gives."""
    require(len(given) <= MOST_AT_ONCE, what, f"at most {MOST_AT_ONCE:,} at a time on a server", len(given))


# --- as JSON has it ---------------------------------------------------------------------------------------------------


def written_options(spec: StudySpec, options: StudyOptions) -> Json:
    """What `Study.create` was given, so that the server comes to the same specification."""
    given = options_for(options, STUDY)
    search = spec.search
    things = {"policy": search.policy, "bound": str(search.bound), "question": str(search.question)}
    written: Json = {}
    for name, value in given.items():
        if name == "items" and search.items is not None:
            items = search.items
            written[name] = {"values": list(items.values), "population": items.population, "repeats": items.repeats}
        elif name == "seeds" and search.items is not None:
            written[name] = list(search.items.values)
        elif isinstance(value, Measure):
            written[name] = value.exact
        elif name in things and not isinstance(value, str | None):
            written[name] = things[name]
        else:
            written[name] = json_value(value)
    return written


def json_value(value: Any) -> Any:
    """What JSON has for what Python and NumPy have: numbers, texts, pairs and mappings by names.

    >>> json_value((1.0, 0.5)), json_value({1: 2.5}), json_value("5%")
    ([1, 0.5], {'1': 2.5}, '5%')
    """
    if isinstance(value, str | bool | None):
        return value
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        number = float(value)
        return int(number) if number.is_integer() else number
    if isinstance(value, Mapping):
        return {str(key): json_value(each) for key, each in value.items()}
    if isinstance(value, Objective | Constraint):
        return str(value)
    return [json_value(each) for each in value]


def _answer(told: Told) -> Json:
    return _described(told, {"pull": write_pull_id(*told.pull_id)})


def _seen(trial: Trial, names: Sequence[str]) -> Json:
    return _described(trial, {"arm": names[trial.arm]})


def _described(given: Told | Trial, known: Json) -> Json:
    result: Json = {"reward": given.reward} if given.outcomes is None else {"outcomes": dict(given.outcomes)}
    described = known | result
    if given.price is not None:
        described["price"] = given.price
    if given.info is not None:
        described["info"] = json.loads(given.info)
    return described


def _names(pull_ids: Iterable[PullId]) -> list[str]:
    return [write_pull_id(*pull) for pull in pull_ids]


def _lease(seconds: float) -> float | None:
    return None if seconds == math.inf else seconds


def _word(flag: bool) -> str:
    return "true" if flag else "false"


def _observed(row: Json) -> Observed:
    """An observation out of the server's table."""
    known: Any = {name: row.get(name) for name in ImportedRow._fields}
    told_at, info = row["told_at"], row["info"]
    known["told_at"] = None if told_at is None else read_time(told_at)
    known["info"] = None if info is None else json.dumps(info)
    return Observed(ImportedRow(**known), row["seed"])


def _failed(row: Json) -> FailedAttempt:
    """A failed attempt out of the server's table."""
    known = {name: row[name] for name in FailedAttempt._fields}
    return FailedAttempt(**(known | {"failed_at": read_time(row["failed_at"])}))


def _check_result(result: Result, spec: Spec) -> None:
    """A result is that of the study: it has its arms, refers to no others, and says the same of what is searched."""
    names = [arm.name for arm in result.arms]
    named = [*result.answer, result.control, *(each for arm in result.arms for each in (arm.dominated_by, arm.rival))]
    said = names, result.noise, result.task, result.risk, result.direction
    asked = spec.asked_text if isinstance(spec, OutcomeSpec) else str(spec.question)
    known = list(spec.names), spec.assumption, asked, str(spec.risk), spec.direction
    if said != known or not {None, *names}.issuperset(named):
        raise answers.Unexpected("the answer", f"about {shorten(known)}", [*said, *named])
    texts = {each.text for each in result.objectives}, {each.text for each in result.constraints}
    for arm in result.arms:
        found = set(arm.objectives), set(arm.constraints)
        if found != texts:
            raise answers.Unexpected(f"the numbers of arm {shorten(arm.name)}", f"about {texts}", found)


def _point(given: Sequence[Any]) -> HistoryPoint:
    """A moment of a search's history; what JSON could not write is what it stands for."""
    samples, doubt, unproved, pulls, *columns = given
    answers.whole_number(samples, "samples")
    for value in (doubt, unproved, *pulls, *(each for column in columns for each in column)):
        answers.maybe(answers.number)(value, "a number of the history")
    known = [tuple(math.nan if each is None else each for each in column) for column in columns]
    return HistoryPoint(samples, math.inf if doubt is None else doubt, unproved, tuple(pulls), *known)
