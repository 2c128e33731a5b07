"""What watchers of a study see: pictures, its past, streams, and what to choose."""

from __future__ import annotations

import asyncio
import io
import json
import math
import random
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ramgape import NoAnswer, StorageUnavailable, Study, UnknownName
from ramgape.storage.store import SqlStore
from ramgape.studies.local import LocalBackend
from ramgape.studies.session import StudySession
from ramgape.studies.specification import StudySpec
from ramgape.trials.history import Recorder
from ramgape.web.choose import choose
from ramgape.web.frame import make_frame
from ramgape.web.history import MOST, SHOWN, History, remembered_moments
from ramgape.web.snapshot import COLUMNS, make_picture, study_state, take_snapshot
from ramgape.web.streams import RETRY, STILL_HERE, Slot, StudyStream, event
from tests.models import ASKED, MODELS, ask

ARMS = {"safe": (0.5, 0.1), "bold": (0.6, 0.2), "poor": (0.45, 0.2)}


def draw(generator: random.Random, arm: str) -> float:
    mean, spread = ARMS[arm]
    return min(1.0, max(0.0, generator.gauss(mean, spread)))


def made(storage: str | None, count: int = 600, name: str = "arms", **options: Any) -> Study:
    """A study with so many observations, told twenty at a time."""
    generator = random.Random(1)
    asked = {"reward_range": (0, 1), "epsilon": 0.0, "seed": 1} | options
    if "budget" not in asked:
        asked.setdefault("delta", 1e-9)  # so that it goes on
    study = Study.create(name, list(ARMS), storage=storage, **asked)
    while study.backend.progress().samples < count and (pulls := study.ask(20)):
        study.tell_many([(pull, draw(generator, pull.arm)) for pull in pulls])
    return study


def session_of(study: Study) -> StudySession:
    return study.backend.session  # type: ignore[attr-defined,no-any-return]


@pytest.fixture
def place(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'studies.db'}"


def rows_of(picture: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {row[0]: dict(zip(COLUMNS, row, strict=True)) for row in picture["rows"]}


# --- pictures ---------------------------------------------------------------------------------------------------------


def test_a_picture_says_what_the_report_says(place: str) -> None:
    with made(place) as study:
        report, picture = study.report(expect=False), make_picture(take_snapshot(session_of(study)))
        assert picture["sentence"] == report.sentence
        assert picture["guarantee"] == report.result.guarantee
        assert (picture["told"], picture["front"]) == (report.told, list(report.result.front))
        assert picture["doubt"] == pytest.approx(report.doubt, rel=1e-4)
        rows = rows_of(picture)
        for arm in report.result.arms:
            assert rows[arm.name]["pulls"] == arm.pulls
            assert rows[arm.name]["mean"] == pytest.approx(arm.mean, abs=1e-3)
            assert rows[arm.name]["risk_high"] == pytest.approx(arm.risk_shown_interval[1], abs=1e-3)
        json.dumps(picture, allow_nan=False)


def test_a_picture_before_the_first_trials_has_no_numbers(place: str) -> None:
    with made(place, 0) as study:
        picture = make_picture(take_snapshot(session_of(study)))
        assert (picture["begun"], picture["state"], picture["doubt"]) == (False, "waiting", None)
        assert "no trials" in picture["sentence"]
        assert {row["mean"] for row in rows_of(picture).values()} == {None}
        json.dumps(picture, allow_nan=False)


def test_a_picture_reads_neither_observations_nor_failures(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that what it costs does not depend on how many there are."""
    with made(place) as study:
        session = session_of(study)
        take_snapshot(session)

        def never(*_: object) -> None:
            raise AssertionError("nothing of that is read")

        for name in ("read_observations", "read_rows", "read_failures", "read_answered", "read_batches"):
            monkeypatch.setattr(SqlStore, name, never)
        assert make_picture(take_snapshot(session))["told"] >= 600


def test_who_works_is_seen_with_the_lease(place: str) -> None:
    with made(place) as study:
        study.ask(2, worker="node-1", lease=60.0)
        study.ask(1, worker="node-2", lease=None)
        given_back = study.ask(1, worker="node-3")[0]
        study.give_back(given_back)
        picture = make_picture(take_snapshot(session_of(study)))
        assert [(row[0], row[1]) for row in picture["workers"]] == [("node-1", 2), ("node-2", 1)]
        assert 50.0 < picture["workers"][0][3] <= 60.0
        assert picture["workers"][1][3] is None
        assert (picture["available"], picture["state"], picture["pending"]) == (1, "running", 4)


def test_risks_are_as_people_are_shown_them(place: str) -> None:
    """The average of the worst tenth: more is better, so lines and intervals are turned."""
    with made(place, risk="cvar:0.1", task="best:max-risk=-0.2") as study:
        picture, arms = make_picture(take_snapshot(session_of(study))), study.result(expect=False).arms
        rows = rows_of(picture)
        for arm in arms:
            assert rows[arm.name]["risk"] == pytest.approx(-arm.risk, abs=1e-3)
            assert rows[arm.name]["risk_low"] <= rows[arm.name]["risk"] <= rows[arm.name]["risk_high"]
        mean_weight, risk_weight, value, words, _ = picture["lines"][0]
        assert (mean_weight, value / risk_weight) == (0.0, pytest.approx(0.2))
        assert "floor" in words
        frame = make_frame(session_of(study).row, study.spec)
        assert frame["risk"]["turned"]
        assert frame["risk"]["better"] == "higher"


def test_a_frame_needs_the_row_alone(place: str) -> None:
    with made(place, 100, budget=500, epsilon=None, price={"safe": 1.0, "bold": 2.0, "poor": 3.0}) as study:
        row = session_of(study).row
    frame = make_frame(row, StudySpec.from_text(row.specification))
    assert frame["arms"] == list(ARMS)
    assert frame["goal"] == {"kind": "budget", "words": "the best answer after 500 trials"}
    assert frame["has_prices"]
    assert frame["mean"] == {"label": "mean reward", "better": "higher", "possible": [0.0, 1.0]}
    assert dict(map(tuple, frame["settings"]))["Failures"].startswith("tried again")
    json.dumps(frame, allow_nan=False)


def test_what_is_approximate_says_so(place: str) -> None:
    with made(place, reward_range=None, epsilon=0.3) as study:
        picture = make_picture(take_snapshot(session_of(study)))
        frame = make_frame(session_of(study).row, study.spec)
    assert picture["rigour"] == frame["rigour"] == "approximate"
    assert "pproximately" in picture["guarantee"]
    assert "approximate" in frame["method"]


def test_states() -> None:
    assert study_state(done=True, given_up=1, pending=1) == "done"
    assert study_state(done=False, given_up=1, pending=1) == "failing"
    assert study_state(done=False, given_up=0, pending=0) == "waiting"


# --- the past ---------------------------------------------------------------------------------------------------------


def test_the_past_is_what_it_was(place: str) -> None:
    """Of some moments what is recalled is what a search that goes on had noted."""
    with made(place, 500) as study:
        session = session_of(study)
        past = {moment.samples: moment for moment in remembered_moments(session)}
        with session.reading:
            noted = session.history()()
        common = [point for point in noted if point.samples in past]
        assert len(common) > 20
        for point in common:
            assert past[point.samples].doubt == point.doubt
            assert tuple(past[point.samples].pulls.tolist()) == point.pulls
        assert max(past) == study.backend.progress().samples


def test_nobody_waits_for_a_report_that_learns_the_past_again(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a write-ahead log nothing can be committed while a transaction reads."""
    note, written = Recorder.note, []

    def note_and_write(self: Recorder) -> None:
        if not written:
            written.append(other.observe("safe", 0.5))
        note(self)

    monkeypatch.setattr(Recorder, "note", note_and_write)
    with made(place) as study, Study.load("arms", f"{place}?timeout=1") as other:
        assert study.report(expect=False, history=True).told == other.report(expect=False).told - 1


def test_moments_are_noted_after_commits_and_thinned(place: str) -> None:
    history = History()
    with made(place, 0, delta=0.05) as study:
        generator, engine = random.Random(2), None
        for _ in range(3 * MOST):
            pull = study.ask()[0] if not study.done else None
            if pull is None:
                break
            study.tell(pull, draw(generator, pull.arm))
            engine = session_of(study).known.engine  # type: ignore[union-attr]
            history.note(engine)
    assert engine is not None
    described = history.to_dict(400)
    told = described["told"]
    assert len(history._moments) <= MOST
    assert len(told) <= 400
    assert told == sorted(set(told))
    assert told[-1] == engine.samples
    steps = [after - before for before, after in pairwise(told[5:-1])]
    assert max(steps) <= 4 * min(steps)  # evenly spaced, but for what was thinned last


def test_before_and_after_the_opening_are_one_past(place: str) -> None:
    with made(place, 400) as study:
        session, history = session_of(study), History()
        assert history.has_gaps
        generator = random.Random(3)
        for pull in study.ask(5):
            study.tell(pull, draw(generator, pull.arm))
            history.note(session.known.engine)  # type: ignore[union-attr]
        with opened(place) as again:
            history.recall(again)
        assert not history.has_gaps
        described = history.to_dict(800)
        assert described["complete"]
        assert described["told"] == sorted(set(described["told"]))
        assert described["told"][0] < 20
        assert described["told"][-1] == session.known.engine.samples  # type: ignore[union-attr]
        assert [sum(pulls) for pulls in described["pulls"]] == described["told"]


@contextmanager
def opened(place: str, name: str = "arms") -> Iterator[StudySession]:
    with Study.load(name, place) as study:
        yield session_of(study)


def test_what_others_wrote_meanwhile_is_missing_and_recalled(place: str) -> None:
    with made(place, 100) as study:
        session, history = session_of(study), History()
        with opened(place) as again:
            history.recall(again)
        other = Study.load("arms", place)
        generator = random.Random(4)
        for _ in range(20):
            other.tell_many([(pull, draw(generator, pull.arm)) for pull in other.ask(20)])
        with session.reading as (ledger, _):
            history.note(ledger.engine)
        assert history.has_gaps
        with opened(place) as again:
            history.recall(again)
        assert not history.has_gaps


def test_a_batch_is_one_step(place: str) -> None:
    """The order of what was imported means nothing, so nothing is known in between."""
    generator = random.Random(5)
    data = [(arm, draw(generator, arm)) for arm in ARMS for _ in range(200)]
    with Study.create("logged", list(ARMS), storage=place, reward_range=(0, 1), epsilon=0.0, data=data) as study:
        assert [moment.samples for moment in remembered_moments(session_of(study))] == [600]


def test_a_batch_is_not_looked_for_again(place: str) -> None:
    """Within a batch there are no moments: to learn all again, whenever somebody looks, would find none."""
    with made(place, 60) as study:
        study.import_csv(io.StringIO("arm,reward\n" + "safe,0.5\n" * 500))
        history = History()
        with opened(place) as session:
            history.recall(session)
        assert not history.has_gaps
        study.import_csv(io.StringIO("arm,reward\n" + "safe,0.5\n" * 500))
        history.note(take_snapshot(session_of(study)).inference.engine)
        assert history.has_gaps


def test_of_many_arms_the_largest_are_told_apart(place: str) -> None:
    names = [f"arm {place}" for place in range(20)]
    with Study.create("many", names, storage=place, reward_range=(0, 1), budget=400, seed=1) as study:
        generator, history = random.Random(6), History()
        while pulls := study.ask(20):
            study.tell_many([(pull, generator.random()) for pull in pulls])
            history.note(session_of(study).known.engine)  # type: ignore[union-attr]
    described = history.to_dict(400)
    assert len(described["arms"]) == SHOWN
    assert {len(row) for row in described["pulls"]} == {SHOWN + 1}
    assert sum(described["pulls"][-1]) == 400


def test_a_recorder_and_the_room_agree_when_an_arm_has_come(place: str) -> None:
    """With other arms the past is another one."""
    with made(place, 60, expected_arms=5) as study:
        history, session = History(), session_of(study)
        history.note(session.known.engine)  # type: ignore[union-attr]
        study.add_arm("new")
        for pull in study.ask(8):
            study.tell(pull, 0.5)
        assert session.known is not None
        Recorder(session.known.engine).note()
        history.note(session.known.engine)
        assert history.has_gaps
        with opened(place) as again:
            history.recall(again)
        assert history.to_dict(10)["arms"][-1] == "new" or "new" in history.to_dict(10)["arms"]


# --- streams ----------------------------------------------------------------------------------------------------------


def live_on(place: str, study: Study) -> StudyStream:
    return StudyStream(session_of(study), lambda: LocalBackend.load("arms", place))


async def next_picture(stream: AsyncIterator[bytes]) -> tuple[int, dict[str, Any]]:
    async with asyncio.timeout(30):
        async for sent in stream:
            for part in sent.split(b"\n\n"):
                if b"event: picture" in part:
                    lines = dict(line.split(": ", 1) for line in part.decode().split("\n"))
                    return int(lines["id"]), json.loads(lines["data"])
    raise AssertionError("the stream has ended")


def test_the_latest_picture_wins() -> None:
    async def slow() -> bytes | None:
        slot = Slot()
        for each in (b"1", b"2", b"3"):
            slot.offer(each)
        return await slot.take()

    assert asyncio.run(slow()) == b"3"


def test_an_idle_stream_says_that_it_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ramgape.web.streams.KEEP_ALIVE", 0.01)
    assert asyncio.run(Slot().take()) == STILL_HERE


def test_watchers_share_pictures_and_see_what_others_write(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One picture is made for all of them, and none while nobody watches."""
    calls = []

    def counted(look: Any, **options: Any) -> dict[str, Any]:
        calls.append(look.revision)
        return make_picture(look, **options)

    monkeypatch.setattr("ramgape.web.streams.make_picture", counted)

    async def watch(study: Study) -> None:
        live = live_on(place, study)
        streams = [live.events() for _ in range(50)]
        found = await asyncio.gather(*map(next_picture, streams))
        assert {number for number, _ in found} == {calls[0]}
        await asyncio.sleep(1.2)
        assert len(set(calls)) == 1  # nothing has changed: a forecast at most
        with Study.load("arms", place) as other:  # somebody else, who does not tell this process
            pull = other.ask(worker="elsewhere")[0]
            number, picture = await next_picture(streams[0])
            while picture["pending"] == 0:
                number, picture = await next_picture(streams[0])
            assert picture["workers"][0][0] == "elsewhere"
            other.tell(pull, 0.5)
        while (await next_picture(streams[0]))[0] <= number:
            pass
        for stream in streams:
            await stream.aclose()  # type: ignore[attr-defined]
        await asyncio.sleep(0.6)
        before = len(calls)
        study.ask()
        live.committed()
        await asyncio.sleep(0.8)
        assert len(calls) == before
        assert len(live.subscribers) == 0
        live.close()

    with made(place) as study:
        asyncio.run(watch(study))


def test_who_comes_back_is_not_sent_what_it_has(place: str) -> None:
    async def watch(study: Study) -> None:
        live = live_on(place, study)
        first = live.events()
        number, _ = await next_picture(first)
        again = live.events(str(number))
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(1.0):
                await next_picture(again)
        anew = live.events()
        assert (await next_picture(anew))[0] == number
        live.close()

    with made(place) as study:
        asyncio.run(watch(study))


def test_who_asks_once_takes_nothing_from_those_who_watch(place: str) -> None:
    """A picture that somebody fetches was sent to nobody who watches, until the next change."""

    async def watch(study: Study) -> None:
        live = live_on(place, study)
        stream = live.events()
        await next_picture(stream)
        for _ in range(3):
            study.observe("safe", 0.5)
            revision = (await live.present())["revision"]
            while (await next_picture(stream))[0] != revision:
                pass
        live.close()

    with made(place, 100) as study:
        asyncio.run(watch(study))


def test_after_trouble_the_picture_comes_again(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ramgape.web.streams.LOST", 0.01)

    async def watch(study: Study) -> None:
        live = live_on(place, study)
        stream = live.events()
        number, _ = await next_picture(stream)
        with monkeypatch.context() as away:

            def fail(_: object) -> None:
                raise StorageUnavailable("the store is away")

            away.setattr("ramgape.web.streams.take_snapshot", fail)
            async with asyncio.timeout(30):
                assert b"event: trouble" in await anext(stream)
        assert (await next_picture(stream))[0] == number
        live.close()

    with made(place, 100, epsilon=None, budget=1000) as study:
        asyncio.run(watch(study))


def test_nobody_misses_a_frame() -> None:
    async def slow() -> bytes | None:
        slot = Slot()
        slot.offer(b"1", b"frame ")
        slot.offer(b"2")
        return await slot.take()

    assert asyncio.run(slow()) == b"frame 2"


def test_a_study_that_is_deleted_ends_its_streams(place: str) -> None:
    from ramgape import delete_study

    async def watch(study: Study) -> list[bytes]:
        live = live_on(place, study)
        stream = live.events()
        await next_picture(stream)
        delete_study("arms", place)
        async with asyncio.timeout(30):
            return [sent async for sent in stream]

    with made(place, 100) as study:
        assert any(b"event: gone" in sent for sent in asyncio.run(watch(study)))


def test_other_arms_come_with_another_frame(place: str) -> None:
    async def watch(study: Study) -> bytes:
        live = live_on(place, study)
        stream = live.events()
        await next_picture(stream)
        study.add_arm("new")
        async with asyncio.timeout(30):
            async for sent in stream:
                if b"event: frame" in sent:
                    live.close()
                    return sent
        raise AssertionError("no frame came")

    with made(place, 60, expected_arms=5) as study:
        assert b'"new"' in asyncio.run(watch(study))


def test_the_list_tells_what_has_changed_and_to_whom(place: str) -> None:
    from ramgape.web.open_studies import OpenStudies
    from ramgape.web.routes.follow import list_of

    studies = OpenStudies(place)
    made(place, 60, "open").close()
    listed = list_of(studies)

    async def watch() -> tuple[list[bytes], list[bytes]]:
        sent: tuple[list[bytes], list[bytes]] = [], []

        async def follow(into: list[bytes], sees: Any) -> None:
            async for each in listed.events(sees):
                into.append(each)

        tasks = [
            asyncio.create_task(follow(sent[0], lambda name: True)),
            asyncio.create_task(follow(sent[1], lambda name: name != "secret")),
        ]
        await asyncio.sleep(1.5)
        made(place, 30, "secret").close()
        async with asyncio.timeout(30):
            while not any(b"secret" in each for each in sent[0]):
                await asyncio.sleep(0.1)
        await asyncio.sleep(0.5)
        for task in tasks:
            task.cancel()
        return sent

    everybody, somebody = asyncio.run(watch())
    studies.close()
    assert everybody[0] == RETRY
    assert not any(b"secret" in each for each in somebody)


def test_an_event_is_one_line_of_data() -> None:
    assert event("picture", {"arm": "a\nb"}, 3) == b'id: 3\nevent: picture\ndata: {"arm":"a\\nb"}\n\n'


# --- choices ----------------------------------------------------------------------------------------------------------


def test_choices_are_those_of_the_result(place: str) -> None:
    with made(place, 3000, epsilon=0.05) as study:
        result, spec = study.result(expect=False), study.spec.present
    for limit in (0.15, 0.5):
        found = choose(result, spec, max_risk=limit)
        assert found["arm"] == result.choose(max_risk=limit)
        assert found["sentence"].startswith(f"{found['arm']}: ")
    assert choose(result, spec, rho=1.0)["arm"] == result.choose(rho=1.0)
    assert choose(result, spec)["arm"] == result.choose("mean(reward)")
    assert len(result.answer) > 1
    assert "rests on the estimates" in choose(result, spec)["proof"]
    with pytest.raises(NoAnswer):
        choose(result, spec, max_risk=0.0)
    with pytest.raises(UnknownName):
        choose(result, spec, baseline="nobody")
    with pytest.raises(ValueError, match="exactly one"):
        choose(result, spec, max_risk=0.5, rho=1.0)


def test_nothing_is_chosen_before_the_first_trials(place: str) -> None:
    with made(place, 0) as study, pytest.raises(NoAnswer):
        choose(study.result(expect=False), study.spec.present, rho=1.0)


def test_arms_are_compared_by_what_is_known_of_their_difference(place: str) -> None:
    """With the leader by the difference that tables show; others by their regions, which hold together."""
    options: dict[str, Any] = {"policy": "round-robin", "bound": "empirical-bernstein"}
    with made(place, 6000, "arms", question="best", **options) as study:
        result, spec = study.result(expect=False), study.spec.present
    found = choose(result, spec, baseline="poor")
    assert found["arm"] == "bold"
    assert found["proof"] == result.guarantee
    assert found["beside"].startswith("Compared with poor, bold has a better mean, by 0.141 (")
    assert "95% intervals, each by itself" in found["beside"]
    with made(place, 6000, "both", **options) as study:
        result, spec = study.result(expect=False), study.spec.present
    found = choose(result, spec, baseline="poor")["beside"]
    ends = result.arm("bold").mean_interval[0] - result.arm("poor").mean_interval[1]
    assert f"by 0.15 ({math.floor(100 * ends) / 100:.2f} to" in found
    assert "hold together with probability 1 - 1e-09" in found
    with made(place, 3000, "costs", direction="minimize", question="best", **options) as study:
        found = choose(study.result(expect=False), study.spec.present, baseline="bold")
    assert found["arm"] == "poor"
    assert "a better mean" in found["beside"]


def test_numbers_of_several_outcomes_are_objectives_and_constraints(place: str) -> None:
    generator = np.random.default_rng(1)
    with Study.create("models", list(MODELS), storage=place, seed=1, **ASKED) as study:
        before = make_picture(take_snapshot(session_of(study)))
        for pull in [pull for _ in range(10) for pull in study.ask(8)]:
            study.tell(pull, ask(pull.arm, generator))
        picture, result = make_picture(take_snapshot(session_of(study))), study.result(expect=False)
        frame = make_frame(session_of(study).row, study.spec)
    labels = ["mean(accuracy)", "mean(cost)", "quantile(latency, 0.9)"]
    assert [each["label"] for each in before["numbers"]] == [each["label"] for each in picture["numbers"]] == labels
    assert [each["better"] for each in picture["numbers"]] == ["higher", "lower", "lower"]
    assert [each["at"] for each in picture["numbers"]] == [None, None, 2.0]
    for arm in result.arms:
        for number, (estimate, low, high) in zip(labels, rows_of(picture)[arm.name]["numbers"], strict=True):
            if number in arm.objectives:
                assert (low, high) == pytest.approx(result.intervals("all")[arm.name][number], abs=1e-3)
                assert estimate == pytest.approx(arm.objectives[number].estimate, abs=1e-3)
    compared = choose(result, study.spec.present, baseline="large")["beside"]
    assert ("cost" in compared, "hold together with probability 0.95" in compared) == (True, True)
    assert picture["relative"]
    assert frame["goal"]["words"].startswith("an answer within 0.2 in mean(accuracy)")
    assert "Risk" not in dict(frame["settings"])
