"""Objectives and constraints as people write them: one form for all that mean the same, and errors at the character."""

from __future__ import annotations

import random
import re

import pytest

from ramgape.errors import InvalidSpec, RamgapeError
from ramgape.search.expressions import DEEPEST, LONGEST, MOST_OUTCOMES, Expression, Reader, read_expression
from ramgape.search.objectives import (
    MOST_CONSTRAINTS,
    MOST_OBJECTIVES,
    Constraint,
    Objective,
    Statistic,
    make_constraints,
    make_objectives,
    sided,
)


def expression(text: str) -> Expression:
    return read_expression(Reader(text, "objective"))


# --- what is understood -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "means"),
    [
        ("maximize mean(accuracy)", ["maximize mean(accuracy)"]),
        ("max accuracy", ["maximize mean(accuracy)"]),
        ("accuracy", ["maximize mean(accuracy)"]),
        ("-cost", ["minimize mean(cost)"]),
        ("- mean(cost)", ["minimize mean(cost)"]),
        ("accuracy, -cost", ["maximize mean(accuracy)", "minimize mean(cost)"]),
        ("-a - b", ["maximize mean(-a - b)"]),
        ("-(a - b), min b", ["minimize mean(a - b)", "minimize mean(b)"]),
        ("min quantile(latency, 0.95)", ["minimize quantile(latency, 0.95)"]),
        ("minimise quantile(latency, level=.95)", ["minimize quantile(latency, 0.95)"]),
        ("-quantile(latency, 0.95), accuracy", ["minimize quantile(latency, 0.95)", "maximize mean(accuracy)"]),
        ("minimize std(reward)", ["minimize std(reward)"]),
        ("min mean-variance(x, 0.01)", ["minimize mean-variance(x, 0.01)"]),
        ("-mean-variance(x, rho=0.01)", ["minimize mean-variance(x, 0.01)"]),
        ("min mean_variance(x, 0.01)", ["minimize mean-variance(x, 0.01)"]),
        ("mean - variance", ["maximize mean(mean - variance)"]),
        ("max mean(accuracy - 0.1*cost)", ["maximize mean(accuracy - 0.1*cost)"]),
        ("max (a + a)/2 - b*2*3", ["maximize mean(a - 6*b)"]),
        ("min share(latency > 2)", ["minimize share(latency > 2)"]),
        ("min share(2*latency + 1 >= 5)", ["minimize share(2*latency >= 4)"]),
        ("max share(latency < 2)", ["maximize share(latency < 2)"]),
        ("max share(-latency > -2)", ["maximize share(latency < 2)"]),
        ("min spectral(x, 0.25=0.7, 0.05=0.3)", ["minimize spectral(x, 0.05=0.3, 0.25=0.7)"]),
        ("min cvar(x, 0.1, high)", ["minimize cvar(x, 0.1, high)"]),
        ('max mean("cost per token" - `a b`)', ['maximize mean("cost per token" - "a b")']),
        ("max gpu.memory", ["maximize mean(gpu.memory)"]),
        ("min(x)", ["minimize mean(x)"]),
        ("Größe", ["maximize mean(Größe)"]),
    ],
)
def test_objectives_in_one_form(text: str, means: list[str]) -> None:
    found = make_objectives(text)
    assert [str(each) for each in found] == means
    assert make_objectives(", ".join(map(str, found))) == found
    assert make_objectives(list(found)) == found


def test_every_risk_is_a_statistic() -> None:
    for text in ("semivariance(x, 0.5)", "entropic(x, 2)", "cvar(x, 0.1)", "evar(x, 0.1)", "shortfall(x, 0.5)"):
        (found,) = make_objectives([f"minimize {text}", "maximize x"][:1])
        assert found.text == text
        assert Statistic.parse(text) == found.statistic


@pytest.mark.parametrize(
    ("text", "means"),
    [
        ("quantile(latency, 0.95) <= 2", "quantile(latency, 0.95) <= 2"),
        ("cost ≤ 3e-3", "mean(cost) <= 0.003"),
        ("accuracy >= -1", "mean(accuracy) >= -1"),
        ("share(latency > 2) <= .05", "share(latency > 2) <= 0.05"),
        ("mean(cost) <= 1.1 * control", "mean(cost) <= 1.1 * control"),
        ("mean(cost) <= control * 1.1", "mean(cost) <= 1.1 * control"),
        ("cost <= control", "mean(cost) <= control"),
        ("cost <= control + 50", "mean(cost) <= control + 50"),
        ("cost >= 0.9*control - 0.5", "mean(cost) >= 0.9 * control - 0.5"),
    ],
)
def test_constraints_in_one_form(text: str, means: str) -> None:
    (found,) = make_constraints(text)
    assert str(found) == means
    assert make_constraints([means]) == (found,) == make_constraints(found)


def test_objects_say_the_same_as_texts() -> None:
    assert (Objective("mean(cost)", "min"),) == make_objectives("-cost")
    assert (Constraint("quantile(latency, 0.95)", "<=", 2),) == make_constraints("quantile(latency, 0.95) <= 2")
    assert make_constraints(None) == ()


def test_values_and_ranges_of_expressions() -> None:
    combined = expression("1 - 2*(cost - accuracy)/4")
    assert combined.value({"accuracy": 1.0, "cost": 3.0}) == 0.0
    assert combined.range({"accuracy": (0.0, 1.0), "cost": (-1.0, 3.0)}) == (-0.5, 2.0)
    assert expression("x - x + y").outcomes == ("y",)
    above, below = (Statistic.parse(f"share(latency {sign} 2)").of for sign in (">", "<="))
    assert [above.value({"latency": value}) for value in (1.0, 2.0, 3.0)] == [0.0, 0.0, 1.0]
    assert [below.value({"latency": value}) for value in (1.0, 2.0, 3.0)] == [1.0, 1.0, 0.0]
    assert above.range({}) == (0.0, 1.0)


def test_values_stay_in_their_ranges() -> None:
    generator = random.Random(1)
    for _ in range(300):
        names = ["a", "b", "c"][: generator.randint(1, 3)]
        ends = {
            name: tuple(sorted(generator.uniform(-1, 1) * 10 ** generator.randint(-3, 3) for _ in "12"))
            for name in names
        }
        factors = tuple((name, generator.uniform(-5, 5)) for name in names)
        found = Expression(factors, generator.uniform(-1, 1))
        low, high = found.range(ends)  # type: ignore[arg-type]
        corner = {name: ends[name][generator.randint(0, 1)] for name in names}
        assert low <= found.value(corner) <= high


# --- which end is bad -------------------------------------------------------------------------------------------------


def ends(objectives: str, *constraints: str) -> list[tuple[str | None, str]]:
    wishes = sided([*make_objectives(objectives), *make_constraints(constraints)])
    return [(each.statistic.bad, str(each.statistic.by_the_end or "mean")) for each in wishes]


def test_a_quantile_is_a_number_of_the_outcome_whichever_end_is_bad() -> None:
    assert ends("min quantile(x, 0.95)") == [("high", "quantile:0.05")]
    assert ends("max quantile(x, 0.95)") == [("low", "quantile:0.95")]
    assert ends("accuracy", "quantile(x, 0.95) <= 2", "quantile(x, 0.1) >= 1")[1:] == [
        ("high", "quantile:0.05"),
        ("low", "quantile:0.1"),
    ]


def test_averages_of_an_end_go_by_their_own_direction() -> None:
    assert ends("max cvar(x, 0.1)") == [("low", "cvar:0.1")]
    assert ends("min cvar(x, 0.1)") == [("high", "cvar:0.1")]
    assert ends("max y", "cvar(x, 0.1) <= 2")[1] == ("high", "cvar:0.1")
    assert ends("max x, min cvar(-x, 0.1)") == [("low", "mean"), ("high", "cvar:0.1")]


def test_other_risks_go_by_the_outcomes_other_objectives() -> None:
    assert ends("max x, min shortfall(x, 0.5)")[1] == ("low", "shortfall:0.5")
    assert ends("min x, min shortfall(x, 0.5)")[1] == ("high", "shortfall:0.5")
    assert ends("min semivariance(x, 0.5)", "x <= 3")[0] == ("high", "semivariance:0.5")
    assert ends("min entropic(x, 2, low)") == [("low", "entropic:2")]
    assert ends("min x, min std(x)")[1] == ("high", "std")


@pytest.mark.parametrize(
    "wishes",
    [
        ("min shortfall(x, 0.5)",),
        ("max x, min cvar(x, 0.1)",),
        ("max x, min entropic(x, 2)", "x <= 5"),
        ("min evar(x, 0.1)",),
    ],
)
def test_what_is_ambiguous_is_refused_with_both_readings(wishes: tuple[str, ...]) -> None:
    with pytest.raises(InvalidSpec, match=r"two readings.*, low\) if low values are bad.*, high\) if high ones are"):
        ends(*wishes)


@pytest.mark.parametrize("wishes", [("max std(x)",), ("max cvar(x, 0.1, high)",), ("y", "variance(x) >= 2")])
def test_more_risk_cannot_be_wanted(wishes: tuple[str, ...]) -> None:
    with pytest.raises(InvalidSpec, match="less risk is better"):
        ends(*wishes)


# --- what is refused --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "character", "words"),
    [
        ("", 1, "an outcome or a number here, got the end"),
        ("std(x)", 1, "'maximize' or 'minimize' before std"),
        ("max mean(accuracy", 18, r"'\)' here, got the end"),
        ("max mean(acc; 1)", 13, "got ';'"),
        ("max a*b", 7, "multiplies outcomes by constants only"),
        ("max a/b", 7, "divides by constants only"),
        ("max a/0", 7, "a number other than 0"),
        ("max mea(x)", 5, "did you mean 'mean'"),
        ("max 3", 5, "a number alone is the same for all arms"),
        ("max x - x", 5, "a number alone"),
        ("max quantile(x)", 5, r"written quantile\(x, 0.95\)"),
        ("max quantile(x, 95)", 5, "0.999999"),
        ("max x <= 3", 7, "a limit belongs into constraints"),
        ("max mean(f(x))", 10, "functions of outcomes"),
        ("max x y", 7, "nothing more here, got 'y'"),
        ("max x^2", 6, r"got '\^'"),
        ("max __import__('os')", 16, "a name, a number or one of"),
        ("max x if y else z", 7, "nothing more"),
        ("max share(latency)", 18, "a comparison here"),
        ("min std(x, low)", 15, "neither 'low' nor 'high'"),
        ("max 1e500*x", 5, "at most 1e.100"),
        ("max 1e99*1e99*x", 10, "at most 1e.100"),
        ("accuracy,", 10, "an outcome or a number here, got the end"),
        ("max " + "(" * (DEEPEST + 1) + "x", 5 + DEEPEST, f"at most {DEEPEST} parentheses"),
        ("max " + "-" * (DEEPEST + 2) + "x", 5 + DEEPEST, f"at most {DEEPEST} parentheses"),
        (
            "max " + "+".join(f"x{number}" for number in range(MOST_OUTCOMES + 1)),
            None,
            f"at most {MOST_OUTCOMES} outcomes",
        ),
    ],
)
def test_errors_point_at_the_character(text: str, character: int | None, words: str) -> None:
    with pytest.raises(InvalidSpec, match=words) as caught:
        make_objectives(text)
    message, (note,) = str(caught.value), caught.value.__notes__
    assert "\n" not in message
    line, caret = note.split("\n")
    at = caret.index("^")
    found = int(re.search(r"character (\d+),", message)[1])  # type: ignore[index]
    assert character in (None, found)
    assert (text + " ")[found - 1] == (line + " ")[at]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("cost < 3", "<= or >= here"),
        ("cost", "<= or >= and a limit"),
        ("cost <= x", "a number or 'control'"),
        ("cost <= 0 * control", "a factor of control above 0"),
        ("3 >= cost", "a number alone"),
        ("max cost <= 3", "<= or >= and a limit"),
        ("cost <= 1 <= 2", "nothing more"),
    ],
)
def test_errors_in_constraints(text: str, words: str) -> None:
    with pytest.raises(InvalidSpec, match=words):
        make_constraints(text)


def test_lists_are_checked() -> None:
    with pytest.raises(InvalidSpec, match="at least one, such as 'maximize mean"):
        make_objectives([])
    with pytest.raises(InvalidSpec, match="text such as 'maximize mean"):
        make_objectives([3])
    with pytest.raises(InvalidSpec, match=r"a list of texts or of ramgape\.Objective"):
        make_objectives(3)
    with pytest.raises(InvalidSpec, match=r"about different statistics, got 'maximize mean.a.' and 'minimize mean.a.'"):
        make_objectives("a, -a")
    with pytest.raises(InvalidSpec, match="twice"):
        make_constraints(["a <= 3", "mean(a) <= 3.0"])
    with pytest.raises(InvalidSpec, match=r"at most 8: state limits \(constraints\) for the others, got 9"):
        make_objectives([f"x{number}" for number in range(MOST_OBJECTIVES + 1)])
    with pytest.raises(InvalidSpec, match="at most 16"):
        make_constraints([f"x <= {number}" for number in range(MOST_CONSTRAINTS + 1)])
    with pytest.raises(InvalidSpec, match=f"at most {LONGEST:,} letters long"):
        make_objectives("a" * (LONGEST + 1))


PIECES = [
    *("max ", "min ", "mean(", "std(", "share(", "cvar(", ")", "(", "x", "y", "-", "+", "*", "/", ",", "0.1", "3"),
    *(
        "<=",
        ">",
        "=",
        "control",
        "low",
        '"a b"',
        "`",
        '"',
        " ",
        "level=",
        ".",
        "é",
        "\x00",
        "\n",
        "__",
        "lambda",
        "1e999",
    ),
]


def test_any_text_is_understood_or_refused_in_one_line() -> None:
    """Texts come from networks: whatever they are, nothing but the library's own errors comes out."""
    generator = random.Random(7)
    understood = 0
    for _ in range(800):
        text = "".join(generator.choices(PIECES, k=generator.randint(1, 12)))
        for make in (make_objectives, make_constraints):
            try:
                found = make(text)
            except RamgapeError as error:
                lines = str(error).count("\n")
            else:
                understood += 1
                lines = 0
                assert make([str(each) for each in found]) == found
            assert lines == 0
    assert understood > 8
