"""What a server counts of the work on its studies."""

from __future__ import annotations

import re
import time
from pathlib import Path

import ramgape
from ramgape.web.access.roles import Access
from ramgape.web.app import make_app
from ramgape.web.metrics import Metrics
from ramgape.web.open_studies import OpenStudies
from tests.servers import call, open_door, served


def value(metrics: Metrics, sample: str) -> float:
    """A number, by its name and labels; 0 while there is none."""
    found = re.search(rf"^{re.escape(sample)} (\S+)$", metrics.text(), re.MULTILINE)
    return 0.0 if found is None else float(found[1])


def test_leases_that_run_out_answers_in_vain_and_transactions(tmp_path: Path) -> None:
    storage, metrics = f"sqlite:///{tmp_path}/s.db", Metrics()
    with ramgape.Study.create("two", ["A", "B"], reward_range=(0, 1), epsilon=0.1, storage=storage):
        pass
    with served(open_door(make_app(OpenStudies(storage, metrics)), Access("tests", "admin"))) as address:

        def post(verb: str, **body: object) -> tuple[int, dict[str, list[dict[str, str]]]]:
            return call(address, "POST", f"/studies/1/{verb}", body)

        first = post("ask", lease=0.01)[1]["pulls"][0]["id"]
        time.sleep(0.05)
        again = post("ask", lease=60)[1]["pulls"][0]["id"]
        assert first != again
        assert post("give-back", pulls=[again])[0] == 200
        last = post("ask", lease=60)[1]["pulls"][0]["id"]
        assert post("tell", answers=[{"pull": last, "reward": 0.5}])[1]["accepted"] == [True]
        assert post("tell", answers=[{"pull": first, "reward": 0.5}])[1]["accepted"] == [False]
        assert post("fail", pull=again, reason="it broke")[1]["accepted"] is False
        assert post("tell", answers=[{"pull": last, "reward": 0.7}])[0] == 409
        assert post("tell", answers=[{"pull": last, "reward": 7}])[0] == 422
        refused = "ramgape_refused_tells_total"
        assert value(metrics, f'{refused}{{error="late"}}') == 2
        assert value(metrics, f'{refused}{{error="ChangedAnswer"}}') == 1
        assert value(metrics, f'{refused}{{error="InvalidReward"}}') == 1
    # Counted after the answer, by the thread that made them, which has ended now.
    assert value(metrics, "ramgape_expired_leases_total") == 1  # to give back is no such thing
    assert value(metrics, "ramgape_transactions_total") == 9
    for name in ("operations", "seconds"):
        assert value(metrics, f"ramgape_transaction_{name}_count") == 9
    assert value(metrics, "ramgape_lock_wait_seconds_count") == 9
    assert value(metrics, "ramgape_queue_wait_seconds_count") == 9
    assert 0.0 < value(metrics, "ramgape_lock_wait_seconds_sum") < value(metrics, "ramgape_transaction_seconds_sum")
