"""The accounts of studies that were worked on by many: what workers were told is compared with what the store holds.

A worker writes down what it is about to bring (`meant`), and what was acknowledged or refused, after the call has
returned. So whatever stands in a log as accepted must stand in the store, once; and nothing may stand there that nobody
brought. The rewards of pulls follow from their seeds, so those need no log to be judged.
"""

from __future__ import annotations

import io
import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from ramgape import Pull, Result, Study, list_studies
from ramgape.search.quality import TrialQuality
from ramgape.search.result import updated
from ramgape.studies.exchange import read_pull_id, seed_of
from tests.study_processes import ARMS, ELSEWHERE, reward_of


class Entry(NamedTuple):
    """A line of a log."""

    study: str
    what: str  # told, failed, observed, imported; or meant
    name: str  # of the pull; of what was brought from elsewhere; of the arm
    arm: str
    reward: float
    accepted: bool


@dataclass
class Audit:
    """What was found: how many answers were acknowledged, and what is not as it should be."""

    acknowledged: int = 0
    lost: list[str] = field(default_factory=list)
    doubled: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    @property
    def faults(self) -> list[str]:
        return [*self.lost, *self.doubled, *self.wrong]

    def expect(self, condition: bool, what: object) -> None:
        if not condition:
            self.wrong.append(str(what))


def read_logs(files: Iterable[Path]) -> list[Entry]:
    return [Entry(*json.loads(line)) for file in files for line in file.read_text().splitlines()]


def finish(study: Study) -> None:
    """All that is left, and what the killed had under way; leases run out in no time."""
    while not study.done:
        study.tell_many([(pull, reward_of(pull)) for pull in study.ask(20)])


def audit_store(url: str, options: dict[str, Any], log: list[Entry], audit: Audit) -> None:
    """Finish every study in a store, and compare it with the log."""
    for summary in list_studies(url):
        with Study.load(summary.name, url) as study:
            finish(study)
            audit_study(study, options, [entry for entry in log if entry.study == study.name], audit)


def audit_study(study: Study, options: dict[str, Any], log: list[Entry], audit: Audit) -> None:
    """Compare a study that is done with the log of those who worked on it."""
    text = io.StringIO()
    count = study.export_jsonl(text)
    rows = [json.loads(line) for line in text.getvalue().splitlines()]
    own = [row for row in rows if row["pull"] is not None and not row["pull"].startswith(ELSEWHERE)]
    audit.expect(
        count == len(rows) == study.report().told, f"{study.name}: {count} exported, {study.report().told} told"
    )
    _check_counters(study, own, audit)
    _check_log(study, rows, log, audit)
    _check_answer(study, rows, options, audit)


def _check_counters(study: Study, own: list[dict[str, Any]], audit: Audit) -> None:
    """No pull is answered twice, every reward is that of its attempt, and the counters are those of what is there."""
    report = study.report()
    pull_ids = [read_pull_id(row["pull"]) for row in own]
    numbers = Counter(pull_id.number for pull_id in pull_ids)
    audit.doubled += [f"{study.name}: pull {number}, {times} times" for number, times in numbers.items() if times > 1]
    for row, (_, number, attempt) in zip(own, pull_ids, strict=True):
        pull = Pull(row["pull"], row["arm"], seed_of(study.backend._seed, number, attempt))
        audit.expect(row["reward"] == (0.0 if row["failed"] else reward_of(pull)), f"{study.name}: {row}")
    with study.backend.session.reading as (ledger, _):
        audit.expect(not numbers.keys() & ledger.open.keys(), f"{study.name}: pulls are answered and open")
        known = len(numbers.keys() | ledger.open.keys())
        audit.expect(known + ledger.withdrawn == ledger.asked, f"{study.name}: {known} of {ledger.asked} pulls")
        failures = study.backend.session.store.read_failures(study.backend.session.row.id)
    counted = (report.failed, len(failures), sum(report.arms_failed.values()))
    audit.expect(len(set(counted)) == 1, f"{study.name}: failures {counted}")
    audit.expect(report.told + report.pending <= study.spec.search.limit, f"{study.name}: above its limit")
    search = study.spec.search
    if search.spend is not None and isinstance(search.price, tuple):
        spent = report.result.spent or 0.0
        promised = sum(
            report.arms_pending[name] * price for name, price in zip(search.names, search.price, strict=True)
        )
        audit.expect(spent + promised <= search.spend, f"{study.name}: {spent} and {promised} of {search.spend}")


def _check_log(study: Study, rows: list[dict[str, Any]], log: list[Entry], audit: Audit) -> None:
    """Whatever was acknowledged is there once, as it was told; whatever was refused, or never meant, is not."""
    found: dict[str, list[tuple[str, float]]] = {}
    for row in rows:
        name = row["pull"] or f"{ELSEWHERE}{row['arm']}-{row['reward']!r}"
        found.setdefault(name, []).append((row["arm"], row["reward"]))
    failed = {
        (failure.number, failure.attempt)
        for failure in study.backend.session.store.read_failures(study.backend.session.row.id)
    }
    meant = {entry.name for entry in log if entry.what == "meant"}
    for name, seen in found.items():
        if name.startswith(ELSEWHERE):
            audit.expect(name in meant, f"{study.name}: nobody brought {name}")
            if len(seen) > 1:
                audit.doubled.append(f"{study.name}: {name}, {len(seen)} times")
    for entry in log:
        if entry.what == "failed":
            audit.expect(not entry.accepted or read_pull_id(entry.name)[1:] in failed, f"{entry} is not there")
        elif entry.what == "meant":
            continue
        elif not entry.accepted:
            audit.expect(entry.name not in found, f"{entry} is there")
        else:
            audit.acknowledged += 1
            if entry.name not in found:
                audit.lost.append(str(entry))
            else:
                audit.expect((entry.arm, entry.reward) in found[entry.name], f"{entry} is {found[entry.name]}")


def _check_answer(study: Study, rows: list[dict[str, Any]], options: dict[str, Any], audit: Audit) -> None:
    """The stored rewards alone, in their order and their batches, give the study's answer; so they do to whoever opens
    it anew."""
    with study.backend.session.reading:
        batches = dict(study.backend.session.store.read_batches(study.backend.session.row.id, 0))
    again = Study.create(study.name, ARMS, **options)
    place = 0
    while place < len(rows):
        if size := batches.get(place):
            again.import_jsonl(io.StringIO("\n".join(map(json.dumps, rows[place : place + size]))))
        else:
            again.observe(rows[place]["arm"], rows[place]["reward"])
        place += size or 1
    assert study.backend.storage is not None
    with Study.load(study.name, study.backend.storage) as anew:
        audit.expect(anew.result() == study.result(), f"{study.name}: another result for who opens it")
        audit.expect(_counted(again.result()) == _counted(study.result()), f"{study.name}: another result")
        for other in (again, anew):
            audit.expect(other.report().late == study.report().late, f"{study.name}: other late answers")


def _counted(result: Result) -> Result:
    """What follows from the rewards alone: of trials that gave none, only the study knows."""
    certified = None if result.certified is None else replace(result.certified, guarantee="", assumptions=())
    return updated(result, quality=TrialQuality(), warnings=(), guarantee="", certified=certified)
