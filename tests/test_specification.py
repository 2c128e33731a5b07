"""Specifications outlast the program that wrote them: what is missing, what is newer, what is older."""

from __future__ import annotations

import json
from typing import Any

import pytest

import ramgape
from ramgape import Study
from ramgape.studies.specification import FORMAT, UPGRADES, StudySpec


def stored(**options: Any) -> dict[str, Any]:
    study = Study.create("any", ["a", "b"], reward_range=(0, 1), epsilon=0.05, **options)
    found: dict[str, Any] = json.loads(study.spec.to_text())
    return found


def test_what_is_missing_has_its_default() -> None:
    described = stored(seed=1)
    for key in ("in_order", "expired", "seed"):
        del described[key]
    spec = StudySpec.from_text(json.dumps(described))
    assert (spec.in_order, spec.expired, spec.seed) == (False, "retry", None)


def test_a_newer_format_is_refused() -> None:
    with pytest.raises(
        ramgape.StorageError, match=rf"of format {FORMAT} or older, .*upgrade ramgape, got {FORMAT + 1}"
    ):
        StudySpec.from_text(json.dumps(stored() | {"format": FORMAT + 1}))


@pytest.mark.parametrize("inside", [False, True])
def test_a_field_that_nobody_knows_is_refused(inside: bool) -> None:
    """What it means may matter: to leave it out would be another search."""
    described = stored()
    (described["search"] if inside else described)["patience"] = 3
    with pytest.raises(ramgape.StorageError, match=r"fields .* must be those .*upgrade ramgape, got \['patience'\]"):
        StudySpec.from_text(json.dumps(described))


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": 2}', '{"format": "2"}', '{"format": true, "search": {}}'])
def test_what_is_no_specification(text: str) -> None:
    with pytest.raises(ramgape.StorageError, match="specification"):
        StudySpec.from_text(text)


def test_every_older_format_has_its_upgrade() -> None:
    assert sorted(UPGRADES) == list(range(1, FORMAT))


@pytest.mark.parametrize(
    "options", [{}, {"seed": 3, "in_order": True}, {"failure": "worst", "expired": "fail"}, {"risk": "cvar:0.2"}]
)
def test_there_and_back(options: dict[str, Any]) -> None:
    spec = Study.create("any", ["a", "b"], reward_range=(0, 1), epsilon=0.05, **options).spec
    assert StudySpec.from_text(spec.to_text()) == spec
