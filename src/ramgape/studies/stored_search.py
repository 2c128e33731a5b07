"""A search as JSON and back, without loss: the part of a stored specification that says what is looked for.

Everything is stored as it was decided, so that a study goes by the same rules for good, whatever the defaults of later
versions are. Of a search about several outcomes that includes what each lane learns, and what each column means.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields, replace
from typing import Any

from ramgape.bounds import plain_bound
from ramgape.common.old_names import OPTION_NAMES
from ramgape.errors import StorageError, require
from ramgape.options import renamed
from ramgape.policies import resolve_policy
from ramgape.questions import PARETO, make_question
from ramgape.risks import measure_from_dict, measure_to_dict
from ramgape.search.explained import restore
from ramgape.search.expressions import Expression
from ramgape.search.extension import Extension
from ramgape.search.items import Items
from ramgape.search.objectives import Constraint, Objective, Wish
from ramgape.search.outcome_spec import Column, LaneSpec, OutcomeSpec
from ramgape.search.outcomes import DeclaredOutcome, TrialOutcomes
from ramgape.search.spec import Spec
from ramgape.search.statistic import Statistic

# Left out where there is nothing: older programs can read what they can follow.
NEWER = (*("extensions", "items", "price", "spend", "shares", "expected_arms", "shared", "cutoff", "guarded", "rare"),)
STORED = {new: old for old, new in OPTION_NAMES.items()}  # fields of a search whose keys in the text are older names
NEW = "from a ramgape that this one knows: upgrade ramgape"
OF_ALL_LANES = ("names", "items")  # which are those of the whole search
Json = dict[str, Any]


def search_to_json(search: Spec) -> Json:
    """A search as JSON has it."""
    stored = {field.name: getattr(search, field.name) for field in fields(search)}
    stored |= {
        "bound": str(search.bound),
        "risk": measure_to_dict(search.risk),
        "question": str(search.question),
        "extensions": [asdict(each) for each in search.extensions],
        "items": None if search.items is None else asdict(search.items),
    }
    del stored["decide"]  # a policy from outside is found by its name
    if isinstance(search, OutcomeSpec):
        stored |= _outcomes_to_json(search)
    for name in NEWER:
        if stored[name] is False or stored[name] in (None, (), []):
            del stored[name]
    return {STORED.get(name, name): value for name, value in stored.items()}


def search_from_json(stored: Mapping[str, Any]) -> Spec:
    """The search that `search_to_json` wrote, or an older program.

    Raises:
        StorageError: A field is that of a newer program.
        ValueError, KeyError, TypeError, AttributeError: It is nothing that was written so.
    """
    search = renamed(stored)
    kind = OutcomeSpec if "lanes" in search else Spec
    check_fields(search, kind)
    search["risk"] = measure_from_dict(search["risk"])
    search["question"] = make_question(search.get("question", PARETO))
    search["bound"] = plain_bound(search["bound"])
    search["extensions"] = [restore(Extension, each) for each in search.get("extensions", ())]
    search["items"] = Items(**search["items"]) if search.get("items") else None
    if kind is OutcomeSpec:
        search |= _outcomes_from_json(search)
    else:
        serving = search["question"].serving(search["goal"])
        _, search["decide"] = resolve_policy(search["policy"], search["goal"], serving)
    fixed: Any = {name: tuple(value) if isinstance(value, list) else value for name, value in search.items()}
    return kind(**fixed)


def check_fields(stored: Mapping[str, Any], kind: type) -> None:
    """Refuse fields that are not those of a dataclass: a newer program wrote them, and they may matter."""
    unknown = sorted(set(stored) - {field.name for field in fields(kind)})
    require(not unknown, "the fields of a stored specification", f"those {NEW}", unknown, StorageError)


def _outcomes_to_json(search: OutcomeSpec) -> Json:
    """What a search about several outcomes has beyond one about a reward."""
    outcomes = search.outcomes
    assert outcomes is not None
    lanes = []
    for lane in search.lanes:
        spec = search_to_json(lane.spec)
        lanes.append({"of": asdict(lane.of), "spec": {key: spec[key] for key in spec if key not in OF_ALL_LANES}})
    columns = [
        {field.name: getattr(each, field.name) for field in fields(each)} | {"wish": _wish_to_json(each.wish)}
        for each in search.columns
    ]
    declared = {name: asdict(each) for name, each in outcomes.declared.items()}
    found = {"outcomes": {"declared": declared, "known": outcomes.known}, "lanes": lanes, "columns": columns}
    return found | {"alone": None if search.alone is None else search_to_json(search.alone)}


def _outcomes_from_json(search: Json) -> Json:
    common = {name: search[name] for name in OF_ALL_LANES}
    lanes = []
    for each in search["lanes"]:
        spec = search_from_json({**each["spec"], "names": common["names"]})
        lanes.append(LaneSpec(restore(Expression, each["of"]), replace(spec, items=common["items"])))
    columns = tuple(
        Column(**{**each, "wish": _wish_from_json(each["wish"]), "values": tuple(each["values"])})
        for each in search["columns"]
    )
    declared = {name: restore(DeclaredOutcome, each) for name, each in search["outcomes"]["declared"].items()}
    known = {name: tuple(values) for name, values in search["outcomes"]["known"].items()}
    outcomes = TrialOutcomes(declared, tuple(lane.of for lane in lanes), known)
    name, parameters = search["asked"]
    alone = search.get("alone")
    common = {"alone": None if alone is None else search_from_json(alone)}
    return common | {"outcomes": outcomes, "lanes": tuple(lanes), "columns": columns, "asked": (name, dict(parameters))}


def _wish_to_json(wish: Wish) -> Json:
    statistic = wish.statistic
    measure = None if statistic.measure is None else measure_to_dict(statistic.measure)
    of = {"name": statistic.name, "of": asdict(statistic.of), "measure": measure}
    of |= {"side": statistic.side, "bad": statistic.bad}
    return {"statistic": of} | {
        field.name: getattr(wish, field.name) for field in fields(wish) if field.name != "statistic"
    }


def _wish_from_json(stored: Json) -> Wish:
    of = dict(stored["statistic"])
    of["of"] = restore(Expression, of["of"])
    of["measure"] = None if of["measure"] is None else measure_from_dict(of["measure"])
    kind: Any = Objective if "direction" in stored else Constraint
    wish: Wish = kind(**{**stored, "statistic": Statistic(**of)})
    return wish
