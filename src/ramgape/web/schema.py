"""The form of what comes in and goes out: bodies are checked by it, and OpenAPI tells it."""

from __future__ import annotations

from typing import Annotated, Any, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    JsonValue,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    create_model,
    model_validator,
)
from pydantic_core import InitErrorDetails, PydanticCustomError

from ramgape.common.checks import LONGEST_NAME
from ramgape.options import (
    CONSTANT,
    COUNT,
    FLAG,
    KNOWN,
    LEVEL,
    NUMBER,
    OUTCOMES,
    PRICES,
    RANGE,
    SEED,
    STUDY,
    TOLERANCE,
    WISHES,
    Kind,
    options_at,
    renamed,
)
from ramgape.studies.entries import MOST_OUTCOMES
from ramgape.studies.exchange import DEFAULT_LEASE, LONGEST_REASON, MOST_AT_ONCE, PATTERN, new_token

MOST_ANSWERS = MOST_AT_ONCE  # in a request: whatever was asked for at once can be told at once
LARGEST = 2**63 - 1  # whole number

Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Whole = Annotated[int, Field(strict=True, ge=-LARGEST, le=LARGEST)]
PullName = Annotated[str, Field(pattern=f"^(?:{PATTERN.pattern})$", examples=[f"{new_token()}-17"])]
Name = Annotated[str, Field(min_length=1, max_length=LONGEST_NAME)]  # of a study, or a worker
Arm = Annotated[str, Field(min_length=1)]
Count = Annotated[int, Field(strict=True, ge=0, le=MOST_AT_ONCE)]
Lease = Annotated[Number, Field(gt=0, le=1e12)] | None
Outcomes = Annotated[
    dict[Name, Number | None],
    Field(max_length=MOST_OUTCOMES, description="Of a trial with several outcomes: these, in place of a reward."),
]


class StrictBody(BaseModel):
    """What comes in: nothing that is not known.

    One error for all unknown fields, and in a list one for the first bad item: a large body could have a million.
    """

    model_config = ConfigDict(extra="allow", json_schema_extra={"additionalProperties": False})

    @model_validator(mode="after")
    def _refuse_unknown(self) -> Self:
        if self.__pydantic_extra__:
            name, value = next(iter(self.__pydantic_extra__.items()))
            unknown = InitErrorDetails(type="extra_forbidden", loc=(name,), input=value)
            raise ValidationError.from_exception_data(type(self).__name__, [unknown])
        return self


class AnswerBody(StrictBody):
    """An answer to a pull."""

    pull: PullName
    reward: Number | None = None
    outcomes: Outcomes | None = None
    price: Number | None = None
    info: dict[str, JsonValue] | None = None


class FailureBody(StrictBody):
    """A trial that failed."""

    pull: PullName
    reason: Annotated[str, Field(description=f"Kept up to {LONGEST_REASON:,} characters.")] = ""


class AskBody(StrictBody):
    """Pulls that are wanted."""

    count: Annotated[Count, Field(ge=1)] = 1
    worker: Name | None = None
    lease: Lease = DEFAULT_LEASE
    known: Annotated[list[PullName], Field(max_length=MOST_ANSWERS, fail_fast=True)] = []


class TellBody(StrictBody):
    """Answers to pulls, taken in as a whole or not at all."""

    answers: Annotated[list[AnswerBody], Field(min_length=1, max_length=MOST_ANSWERS, fail_fast=True)]


class ExchangeBody(StrictBody):
    """Answers, failures, pulls that will not be made and pulls that were lost with a machine, and how many pulls are
    wanted after them."""

    answers: Annotated[list[AnswerBody], Field(max_length=MOST_ANSWERS, fail_fast=True)] = []
    failed: Annotated[list[FailureBody], Field(max_length=MOST_ANSWERS, fail_fast=True)] = []
    given_back: Annotated[list[PullName], Field(max_length=MOST_ANSWERS, fail_fast=True)] = []
    lost: Annotated[list[PullName], Field(max_length=MOST_ANSWERS, fail_fast=True)] = []
    count: Count = 1
    worker: Name | None = None
    lease: Lease = DEFAULT_LEASE
    known: Annotated[list[PullName], Field(max_length=MOST_ANSWERS, fail_fast=True)] = []


class ReturnBody(StrictBody):
    """Pulls that will not be made."""

    pulls: Annotated[list[PullName], Field(min_length=1, max_length=MOST_ANSWERS, fail_fast=True)]


class RenewBody(StrictBody):
    """Pulls that are still being worked on."""

    pulls: Annotated[list[PullName], Field(max_length=MOST_ANSWERS, fail_fast=True)]
    lease: Lease = DEFAULT_LEASE


class LeaveBody(StrictBody):
    """A worker that goes."""

    worker: Name


class TrialBody(StrictBody):
    """A trial that was made without asking."""

    arm: Arm
    reward: Number | None = None
    outcomes: Outcomes | None = None
    price: Number | None = None
    info: dict[str, JsonValue] | None = None


class ObserveBody(StrictBody):
    """Trials that were made without asking, in their order."""

    trials: Annotated[list[TrialBody], Field(min_length=1, max_length=MOST_ANSWERS, fail_fast=True)]


class ExtendBody(StrictBody):
    """What is asked for now: exactly one of the three."""

    epsilon: Number | tuple[Number, Number] | str | None = None
    budget: Whole | None = None
    spend: Number | None = None


class ArmBody(StrictBody):
    """An arm that joins."""

    name: Arm
    price: Number | None = None


class ItemsBody(StrictBody):
    """A test set, with what is to be known of it."""

    values: list[JsonValue]
    population: bool = True
    repeats: Whole = 1


def first_error(value: Any, check: ValidatorFunctionWrapHandler) -> Any:
    """One error where a table could have one for each of its values."""
    try:
        return check(value)
    except ValidationError:
        raise PydanticCustomError("table", "a table of numbers") from None


# What a value of an option may be in JSON, by how it is read from text; whether it makes sense is for the study to say.
JSON_TYPES: dict[Kind, Any] = {
    NUMBER: Number,
    COUNT: Whole,
    SEED: Whole,
    FLAG: bool,
    TOLERANCE: Number | tuple[Number, Number] | str | dict[str, Number],
    OUTCOMES: dict[str, JsonValue],
    WISHES: str | list[str],
    KNOWN: dict[str, dict[str, Number]],
    RANGE: tuple[Number, Number],
    CONSTANT: Number | str,
    LEVEL: Number | str,
    PRICES: Number | Annotated[dict[str, Number], WrapValidator(first_error)] | str,
}


class NewStudyBody(StrictBody):
    """A study to be made, with its options under their present or their older names."""

    @model_validator(mode="before")
    @classmethod
    def _rename(cls, given: Any) -> Any:
        return renamed(given) if isinstance(given, dict) else given


def new_study_form() -> type[BaseModel]:
    """The form of a new study: its name and arms, and the options of `Study.create`, each as its row says."""
    fields: dict[str, Any] = {}
    for name, row in options_at(STUDY).items():
        if name in ("search", "trials"):  # whose parts are options themselves
            continue
        kind: Any = JSON_TYPES.get(row.kind, str)
        if name in ("items", "seeds"):
            kind = list[JsonValue] | ItemsBody if name == "items" else list[JsonValue]
        fields[name] = (Annotated[kind, Field(description=row.text())] | None, None)
    arms = Annotated[list[Arm], Field(min_length=1, max_length=100_000, fail_fast=True)]
    pairs = Annotated[
        list[tuple[Arm, Number] | TrialBody],
        Field(description="Trials made already: an arm and a reward each.", fail_fast=True),
    ]
    return create_model(
        "NewStudy",
        __base__=NewStudyBody,
        __doc__="A study to be made.",
        name=(Name, ...),
        arms=(arms, ...),
        exist_ok=(bool, True),
        data=(pairs, []),
        **fields,
    )


NewStudy = new_study_form()


class ErrorAnswer(BaseModel):
    """Why a request was refused."""

    error: Annotated[str, Field(description="The class of the error, as in Python.")]
    message: str
    place: str | None
    what: str | None
    allowed: str | None
    given: str | None


class PullAnswer(BaseModel):
    """A trial to make."""

    id: str
    arm: str
    seed: int
    item: JsonValue = None


class DoneAnswer(BaseModel):
    """Whether the goal is reached."""

    done: bool


class PullsAnswer(DoneAnswer):
    """The next trials to make; none when the goal is reached or enough are in progress."""

    pulls: list[PullAnswer]


class AcceptedAnswer(DoneAnswer):
    """What became of each answer: whether it counts, now or since it was first told."""

    accepted: list[bool]


class ExchangeAnswer(PullsAnswer, AcceptedAnswer):
    """What became of answers, failures and pulls given back, in this order, and the next trials."""


class OneAcceptedAnswer(DoneAnswer):
    """What became of it."""

    accepted: bool


class RenewAnswer(DoneAnswer):
    """Which pulls are still the caller's."""

    renewed: list[bool]


class LeaveAnswer(DoneAnswer):
    """How many pulls a worker had open."""

    given_back: int


class RetryAnswer(DoneAnswer):
    """How many pulls are available again."""

    retried: int


class ExtendAnswer(DoneAnswer):
    """Whether there is something to try."""

    more: bool


class ArmsAnswer(ExtendAnswer):
    """Which arms there are now."""

    arms: list[str]


class ImportAnswer(DoneAnswer):
    """How many trials were taken in."""

    imported: int


class ServiceAnswer(BaseModel):
    """What this is, and who asks."""

    version: str
    storage: str
    name: str
    role: str
    now: str


class SummaryAnswer(BaseModel):
    """A study in the list; what was found by now is there once the server has looked."""

    id: int
    name: str
    state: str
    arms: list[str]
    goal: dict[str, JsonValue]
    told: int
    pending: int
    failed: int
    done: bool
    created_at: str
    changed_at: str
    front: list[str] | None = None
    doubt: float | None = None
    sentence: str | None = None


class ListAnswer(BaseModel):
    """Studies by name."""

    studies: list[SummaryAnswer]
    next: Annotated[str | None, Field(description="For `after`, where there are more.")]


class MadeAnswer(SummaryAnswer):
    """A study, with all that it is to do."""

    specification: dict[str, JsonValue]


class ReportAnswer(BaseModel):
    """How a study is going: the report of `ramgape study show --json`, which has more fields than these."""

    model_config = ConfigDict(extra="allow")

    id: int
    revision: int
    name: str
    told: int
    pending: int
    failed: int
    done: bool
    answer: list[str]
    sentence: str
    arms: list[dict[str, JsonValue]]
    specification: dict[str, JsonValue]


class SpecificationAnswer(BaseModel):
    """What a study is to do."""

    revision: int
    specification: dict[str, JsonValue]


class RowsAnswer(BaseModel):
    """Rows of a table, whose columns are named once."""

    columns: list[str]
    rows: list[list[JsonValue]]
    next: Annotated[int | None, Field(description="For `before` or `after`, where there are more.")]


class OpenPullAnswer(BaseModel):
    """A pull without an answer that counts."""

    id: str
    arm: str
    worker: str | None
    lease_seconds: Annotated[float | None, Field(description="Null: without end. 0: another worker may have it.")]
    attempt: int
    failures: int
    given_up: bool
    held: bool


class OpenPullsAnswer(BaseModel):
    """Trials in progress."""

    pulls: list[OpenPullAnswer]


class ProgressAnswer(DoneAnswer):
    """How far a search is."""

    samples: int
    limit: int
    doubt: float | None
    epsilon: float | None
    arms: int
    unproved: int | None
    spent: float | None
    spend: float | None


class PictureAnswer(BaseModel):
    """What is seen of a study at one moment; there are more fields than these."""

    model_config = ConfigDict(extra="allow")

    frame: dict[str, JsonValue]
    revision: int
    told: int
    pending: int
    failed: int
    done: bool
    state: str
    sentence: str
    guarantee: str
    front: list[str]
    doubt: float | None
    rows: list[list[JsonValue]]


class HistoryAnswer(BaseModel):
    """Moments of a study's past, in columns; `pulls` and `spent` have those of `arms`, and all others together."""

    complete: bool
    told: list[int]
    doubt: list[float | None]
    unproved: list[int | None]
    arms: list[str]
    pulls: list[list[int]]
    spent: list[list[float] | None] | None


class ChoiceAnswer(BaseModel):
    """One arm of the answer."""

    arm: str
    sentence: str
    proof: Annotated[str, Field(description="What the guarantee says of the choice.")]
    beside: Annotated[str | None, Field(description="How it compares with the baseline.")]
