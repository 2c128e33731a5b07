"""Blocks that trials of a study share. A trial's block is kept in its info, under our own key, and so in exports."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Any

from ramgape.common.checks import is_text
from ramgape.errors import InvalidData, require
from ramgape.search.outcome import OURS
from ramgape.search.sharing import refuse_block
from ramgape.search.spec import Spec
from ramgape.storage.records import ObservationRow

if TYPE_CHECKING:
    from ramgape.studies.session import StudySession
    from ramgape.studies.state import StudyState

BLOCK = "block"
UNSHARED = "absent in a study created without shared=True: its proofs need arms that are independent of each other"


def with_block(info: Any, block: object) -> Any:
    """What is kept with an answer, and in it the block, if there is one."""
    if block is None:
        return info
    named = (isinstance(block, str) and is_text(block)) or (hasattr(block, "__index__") and not isinstance(block, bool))
    require(named and block != "", BLOCK, "a text that is not empty, or a whole number", block, InvalidData)
    if info is not None and not isinstance(info, Mapping):
        return info  # which is refused for that
    ours = (info or {}).get(OURS)
    return {**(info or {}), OURS: {**(ours if isinstance(ours, Mapping) else {}), BLOCK: str(block)}}


def block_of(info: str | None) -> str | None:
    """The block of a trial, by what is kept with it."""
    if info is None or BLOCK not in info:
        return None
    ours = json.loads(info).get(OURS)
    block = ours.get(BLOCK) if isinstance(ours, dict) else None
    return None if block is None else str(block)


class KnownBlocks:
    """Which arms the blocks of a study have, by its stored observations."""

    def __init__(self) -> None:
        self.taken: set[tuple[int, str | None]] = set()
        self.read = 0  # observations


def check_blocks(
    search: Spec, trials: Iterable[tuple[int, str | None]], *taken: AbstractSet[tuple[int, str | None]]
) -> None:
    """Complain of blocks where arms are taken to be independent, and of a second trial of an arm in one.

    Args:
        search: What the study looks for.
        trials: Those that come: of each its arm, and what is kept with it.
        taken: The arms and blocks that are there already.
    """
    fresh: set[tuple[int, str | None]] = set()
    for arm, info in trials:
        block = block_of(info)
        if block is not None:
            require(search.shared, BLOCK, UNSHARED, block, InvalidData)
            if any((arm, block) in known for known in (fresh, *taken)):
                refuse_block(search.names[arm], block)
            fresh.add((arm, block))


def check_new_blocks(session: StudySession, state: StudyState, trials: Iterable[tuple[int, str | None]]) -> None:
    """The same of trials that come to a study, inside a transaction."""
    named = [(arm, info) for arm, info in trials if block_of(info) is not None]
    if not named:
        return
    known, unwritten = state.blocks, state.changes.observations
    if state.spec.search.shared:
        stored = state.told - len(unwritten)
        for page in session.pages(known.read, stored):
            known.taken.update(_blocks(page))
        known.read = stored
    held = {(pull.arm, block_of(pull.answer_info)) for pull in state.open.values() if pull.answer is not None}
    check_blocks(state.spec.search, named, known.taken, held.union(_blocks(unwritten)))


def _blocks(rows: Iterable[ObservationRow]) -> Iterable[tuple[int, str | None]]:
    return ((row.arm, block) for row in rows if (block := block_of(row.info)) is not None)
