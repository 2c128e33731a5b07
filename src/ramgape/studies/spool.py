"""Trials on their way into a study: from pairs, or from a file of any size, which waits on disk until it is checked."""

from __future__ import annotations

import pickle
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from types import TracebackType

from ramgape.common.checks import check_many
from ramgape.errors import known_name, located
from ramgape.search.outcome import check_price, check_reward
from ramgape.studies.entries import Trial
from ramgape.studies.exchange import pair_of, write_info
from ramgape.studies.sharing import with_block
from ramgape.studies.specification import StudySpec

IN_MEMORY = 8 * 2**20  # bytes; what is larger goes into a temporary file


class Spool:
    """Chunks of trials, read back in their order."""

    def __init__(self) -> None:
        self._file = tempfile.SpooledTemporaryFile(IN_MEMORY)  # noqa: SIM115 - closed at the end of its own context
        self.count = 0

    def add(self, trials: list[Trial]) -> None:
        """Put a chunk behind the others."""
        pickle.dump([tuple(trial) for trial in trials], self._file, pickle.HIGHEST_PROTOCOL)
        self.count += len(trials)

    def __iter__(self) -> Iterator[list[Trial]]:
        self._file.seek(0)
        read = 0
        while read < self.count:
            chunk = [Trial._make(values) for values in pickle.load(self._file)]
            read += len(chunk)
            yield chunk

    def __enter__(self) -> Spool:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()


def trials_of(data: Iterable[object], spec: StudySpec) -> Iterator[Trial]:
    """Trials made already, from pairs or mappings."""
    check_many(data, "data", "pairs (arm, reward), or mappings with these keys")
    places = {name: place for place, name in enumerate(spec.search.names)}
    for number, each in enumerate(data):
        with located(f"data[{number}]"):
            mapped = isinstance(each, Mapping) and "arm" in each and "reward" in each
            pair = (each["arm"], each["reward"]) if mapped else each  # type: ignore[index]
            arm, reward = pair_of(pair, "a row of data", "(arm, reward) or a mapping with these keys")
            known_name(str(arm), places, "arm")
            price, info, block = (each.get(name) if mapped else None for name in ("price", "info", "block"))  # type: ignore[attr-defined]
            price, info = check_price(price, spec.search), write_info(with_block(info, block))
            yield Trial(places[str(arm)], check_reward(spec.search, reward, str(arm)), price=price, info=info)
