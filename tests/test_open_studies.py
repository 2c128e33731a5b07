"""Who enters a study on a server, and who leaves it."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import ramgape
from ramgape.web.access.roles import Access
from ramgape.web.app import make_app
from ramgape.web.commit_queue import CommitQueue, PendingOperation
from ramgape.web.open_studies import OpenStudies
from tests.servers import call, open_door, served


def test_nobody_opens_a_study_that_is_not_his(tmp_path: Path) -> None:
    """To open one takes long, and one that is damaged says where it is."""
    storage = f"sqlite:///{tmp_path}/s.db"
    with ramgape.Study.create("secret", ["A", "B"], reward_range=(0, 1), epsilon=0.1, storage=storage):
        pass
    studies = OpenStudies(storage)
    with served(open_door(make_app(studies), Access("tests", "admin", ("mine*",)))) as address:
        assert call(address, "GET", "/studies/1")[0] == 404
        assert not studies.open


def test_whoever_comes_while_a_clerk_goes_is_answered(tmp_path: Path) -> None:
    """Between the look whether it is open and the queue, another thread could close it: nobody answered then."""
    storage = f"sqlite:///{tmp_path}/s.db"
    with ramgape.Study.create("two", ["A", "B"], reward_range=(0, 1), epsilon=0.1, storage=storage) as study:
        clerk = CommitQueue(study.backend, lambda batch: None)  # type: ignore[arg-type]
        put, closing = clerk._queue.put, threading.Thread(target=clerk.close)

        class Slow:
            get, get_nowait = clerk._queue.get, clerk._queue.get_nowait

            def put(self, each: PendingOperation | None) -> None:
                if each is not None:
                    closing.start()
                    closing.join(0.2)
                put(each)

        clerk._queue = Slow()  # type: ignore[assignment]

        async def come() -> object:
            async with asyncio.timeout(10):
                return await clerk.submit(lambda: "made")

        assert asyncio.run(come()) == "made"
        closing.join()
