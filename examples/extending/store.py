"""A store of your own: studies in SQLite, and beside them a file with a line for every change, for an audit."""

import json
import random
from pathlib import Path

import ramgape
from ramgape.storage import Store, open_store
from ramgape.storage.records import Changes, StudyRow


class AuditedStore:
    def __init__(self, store: Store, journal: Path) -> None:
        self._store, self._journal, self._line = store, journal, ""

    def __getattr__(self, name: str):
        return getattr(self._store, name)

    def write(self, row: StudyRow, changes: Changes, place: int) -> None:
        self._store.write(row, changes, place)
        self._line = json.dumps({"study": row.name, "told": row.told})

    def commit(self) -> None:
        self._store.commit()
        with self._journal.open("a", encoding="utf-8") as file:
            file.write(f"{self._line}\n")


def open_audited(url: str, *, create: bool) -> AuditedStore:
    path = url.partition(":///")[2]
    return AuditedStore(open_store(f"sqlite:///{path}", create=create), Path(f"{path}.journal"))


if __name__ == "__main__":
    ramgape.register("store", "audited", open_audited)
    options = {"storage": "audited:///coins.db", "budget": 20, "reward_range": (0, 1)}
    study = ramgape.Study.create("coins", ["a", "b"], **options)
    print("Pareto set:", *study.run(lambda arm: random.random() ** (1 if arm == "a" else 2)).front)
    print(Path("coins.db.journal").read_text(encoding="utf-8").splitlines()[-1])
