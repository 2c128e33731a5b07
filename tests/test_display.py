"""What a result looks like as text, in a rich console and in a notebook."""

from __future__ import annotations

import io
import math
import re
from html.parser import HTMLParser
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from ramgape.common.formatting import Digits, cell_width, round_up, short_names
from ramgape.errors import printable
from ramgape.search.result import ArmReport, Result, Truth, Verdict
from ramgape.views.explanation import Column
from ramgape.views.sentence import p_words
from ramgape.views.table import fitted, left_out
from ramgape.views.text import plain
from tests.results import NOT_PULLED, make_arm, make_result

ODD_NAMES = [
    "a configuration with a very long name, learning_rate=0.1, momentum=0.9, seed=1",
    "a configuration with a very long name, learning_rate=0.1, momentum=0.9, seed=2",
    "とても長い日本語の名前がここに書いてありますので表が崩れるかもしれません",
    "🚀 rocket 🎉",
    "[red]x[/red]",
    "<b>bold</b> & 'quoted'",
    "two\nlines\t\x1b[31mred",
    "$\\alpha$ :smile:",
]


def odd_result() -> Result:
    arms = [make_arm(name, 0.1 * number, 0.1 * number) for number, name in enumerate(ODD_NAMES)]
    arms[1] = make_arm(ODD_NAMES[1], 0.1, 0.5, "out", dominated_by=ODD_NAMES[4])
    return make_result(*arms, warnings=("mind the [bold]brackets[/bold]", "<script>alert(1)</script>"))


def many_arms(number: int, returned: int) -> list[ArmReport]:
    return [
        make_arm(f"arm {i}", verdict="in" if i % (number // returned) == 0 else "out", doubt=i / number)
        for i in range(number)
    ]


def in_console(result: Result, width: int) -> str:
    console = Console(file=io.StringIO(), width=width, color_system=None)
    console.print(result)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def table_of(text: str) -> list[str]:
    """The lines of the table in a plain text, with its heading."""
    lines = text.split("\n")
    first = next(number for number, line in enumerate(lines) if line.startswith("  option"))
    end = next((number for number in range(first, len(lines)) if not lines[number]), len(lines))
    return lines[first:end]


# --------------------------------------------------------------------------------------- numbers


finite = st.floats(allow_nan=False, allow_infinity=False)


@given(st.lists(st.tuples(finite, finite), min_size=1, max_size=5))
def test_intervals_are_rounded_outwards(pairs: list[tuple[float, float]]) -> None:
    intervals = [(min(pair), max(pair)) for pair in pairs]
    digits = Digits.of([low for low, _ in intervals], intervals)
    for low, high in intervals:
        shown_low, shown_high = digits.interval(low, high)
        assert float(shown_low) <= low + 1e-11 * abs(low)
        assert float(shown_high) >= high - 1e-11 * abs(high)
        assert not re.fullmatch(r"-0\.?0*", shown_low)
        assert not re.fullmatch(r"-0\.?0*", shown_high)


@pytest.mark.parametrize(
    ("estimate", "interval", "shown"),
    [
        (0.5234567, (0.5171, 0.5301), ("0.523", "0.517", "0.531")),
        (0.5234567, (0.2, 0.9), ("0.52", "0.20", "0.90")),
        (0.1 + 0.2, (0.3, 0.1 + 0.2), ("0.3000000", "0.3000000", "0.3000000")),
        (1234.5678, (1200.0, 1300.0), ("1235", "1200", "1300")),
        (100000.512, (100000.412, 100000.612), ("100000.5", "100000.4", "100000.7")),
        (3.2e-7, (3.0e-7, 3.4e-7), ("3.20e-7", "3.00e-7", "3.40e-7")),
        (1.7e9 + 0.28, (1.7e9 + 0.1, 1.7e9 + 0.5), ("1700000000.28", "1700000000.10", "1700000000.50")),
        (1.7e9, (1.7e9 - 400.0, 1.7e9 + 500.0), ("1700000000", "1699999600", "1700000500")),
        (4.6e12, (4.3e12, 4.9e12), ("4.60e+12", "4.30e+12", "4.90e+12")),
        (0.5, (-math.inf, math.inf), ("0.5000", "-inf", "inf")),
        (0.5, (-1e9, 1e9), ("0.50", "-1.00e+9", "1.00e+9")),
        (-0.0, (-0.0, 0.0), ("0.000", "0.000", "0.000")),
        (math.nan, (-math.inf, math.inf), ("-", "-inf", "inf")),
        (math.nan, (math.nan, math.nan), ("-", "-", "-")),
    ],
)
def test_digits_follow_the_width_of_the_interval(
    estimate: float, interval: tuple[float, float], shown: tuple[str, str, str]
) -> None:
    digits = Digits.of([estimate], [interval])
    assert (digits.text(estimate), *digits.interval(*interval)) == shown


@given(st.floats(min_value=1e-12, max_value=1e12))
def test_tolerances_are_rounded_up(value: float) -> None:
    shown = float(round_up(value))
    assert value * (1.0 - 1e-11) <= shown <= value * 1.0101


# --------------------------------------------------------------------------------------- names


@given(st.lists(st.text(max_size=60), unique=True, max_size=8), st.integers(12, 40))
def test_short_names_fit_and_differ(names: list[str], limit: int) -> None:
    shown = short_names(names, limit)
    assert list(shown) == names
    assert all(cell_width(text) <= limit for text in shown.values())
    cut = [text for name, text in shown.items() if text != name]
    assert len(set(cut)) == len(cut)


@given(st.text())
def test_printable_text_cannot_move_the_cursor(text: str) -> None:
    shown = printable(text)
    assert all(letter.isprintable() or letter == "\u200d" for letter in shown)
    shown.encode()  # no lone surrogates either


@pytest.mark.parametrize("text", ["abc", "日本語", "é", "e\u0301", "🚀", "ｆｕｌｌ", ""])
def test_width_of_text_agrees_with_rich(text: str) -> None:
    assert cell_width(text) == cell_len(text)


# --------------------------------------------------------------------------------------- plain text


def test_the_printed_result_is_short_and_the_rest_is_explained() -> None:
    result = make_result(warnings=("something was odd",))
    text, exact = str(result), str(result.explain())
    lines = text.split("\n")
    assert " ".join(text.split()).startswith(result.sentence)
    assert "400 trials of 3 options: B is out." in lines
    assert lines[-1] == "Exact statement: result.explain()"
    assert "Warning: something was odd" in lines
    assert len(lines) < 15
    assert result.guarantee not in " ".join(text.split())
    flat = " ".join(exact.split())
    for words in (
        "Guarantee: no returned arm is dominated by 0.05 or more, with probability 0.95",
        "Certified: tolerance 0.0413, confidence 0.95; arms: 2 proved in, 1 proved out",  # 0.041234, rounded up
        "Stopped: goal reached (epsilon=0.05, delta=0.05)",
        "risk = alpha (variance - 1 mean), alpha=0.25",
        "policy ramgape, bound hoeffding, rewards in [0, 1], seed 7",
        "Confidence regions: they hold for all options at once",
    ):
        assert words in flat
    assert "\x1b" not in text + exact
    assert repr(result.explain()) == exact  # a notebook shows it as it is


def test_the_table_is_aligned() -> None:
    heading, *rows = table_of(str(make_result()))
    assert heading.split() == ["option", "mean", "±", "s.e.", "scaled", "risk", "trials"]
    assert [row.split() for row in rows] == [
        ["C", "0.70", "±", "0.02", "0.1500", "250", "in"],
        ["A", "0.40", "±", "0.01", "0.0500", "100", "in"],
        ["B", "0.30", "±", "0.03", "0.2000", "50", "out"],
    ]
    ends = [
        row.index(word) + len(word) for row, word in zip([heading, *rows], ("trials", "250", "100", "50"), strict=True)
    ]
    assert len(set(ends)) == 1


def test_an_arm_without_trials_shows_dashes() -> None:
    text = str(make_result(make_arm("seen"), make_arm("unseen", **NOT_PULLED)))
    row = next(line for line in text.split("\n") if line.startswith("  unseen"))
    assert row.split() == ["unseen", "-", "-", "0", "open"]
    assert "nan" not in text


def test_of_a_thousand_arms_the_relevant_ones_are_shown() -> None:
    result = make_result(*many_arms(1000, returned=10))
    for text in (str(result), in_console(result, 120)):
        shown = re.findall(r"\barm (\d+) +.* (in|out)\b", text)
        assert [name for name, verdict in shown if verdict == "in"] == [str(100 * i) for i in range(10)]
        assert len(shown) == 12
        assert "... and 988 more, all out" in text
    assert "... and 950 more, all out" in result.explain()


def test_p_values_are_rounded_up_and_never_too_small() -> None:
    result = make_result(make_arm("A"))
    assert p_words(result, 0.03401) == "p = 0.035"
    assert p_words(result, 1e-9) == "p < 0.001"
    assert p_words(make_result(make_arm("A"), rigour="approximate"), 1e-9) == "p < 0.003"


def test_negative_zero_is_zero() -> None:
    text = str(make_result(make_arm("A", -0.0, -1e-9, mean_interval=(-0.1, 0.1), risk_interval=(-0.1, 0.1))))
    assert not re.search(r"-0\.0+\b(?!\d)", text)


@pytest.mark.parametrize(
    ("truth", "words"),
    [
        (Truth(("A", "C"), 0.0, exact=True, eps_correct=True), "the answer is exactly the true Pareto set"),
        (
            Truth(("A",), 0.01, exact=False, eps_correct=True),
            "correct up to epsilon, simple regret 0.01; the true",
        ),
        (
            Truth(("B",), 0.2, exact=False, eps_correct=False),
            "wrong by more than epsilon, simple regret 0.2; the",
        ),
    ],
)
def test_simulations_are_compared_with_the_truth(truth: Truth, words: str) -> None:
    assert words in " ".join(make_result(truth=truth).explain().split())


@pytest.mark.parametrize("width", [60, 80, 100, 120, 200])
def test_plain_table_fits_the_width(width: int) -> None:
    for result in (odd_result(), make_result()):
        table = table_of(plain(result, width))
        assert max(map(cell_width, table)) <= width


# --------------------------------------------------------------------------------------- what 80 columns hold


def scaled_result(unit: float, name: str, count: int, **others: Any) -> Result:
    """Arms with numbers of any size and names of any kind: a third in, a third undecided, a third out."""
    names = [name.format(number) for number in range(count)]
    verdicts: list[Verdict] = ["in", "open", "out"]
    arms = []
    for number, each in enumerate(names):
        mean, risk = unit * (1.0 + 0.05 * number), unit * (0.1 + 0.01 * number)
        measured = {
            "mean_interval": (mean - 0.0123 * unit, mean + 0.0123 * unit),
            "risk_interval": (risk - 0.002 * unit, risk + 0.002 * unit),
            "variance": risk**2,
        }
        rival = names[number - 1]
        known = {"rival": rival, "dominated_by": rival, "doubt": 0.3 * unit, "pulls": 123_456 * (number + 1)}
        arms.append(make_arm(each, mean, risk, verdicts[number % 3], **measured, **known))
    return make_result(*arms, stopped="cap", goal_reached=False, reward_range=None, **others)


SIZES = [1.0, 1e6, 1.7e9, 1e-7, 1e12]
KINDS = [
    "arm {}",
    "server-eu-west-{}.example.com",
    "とても長い日本語の名前が書いてあります{}",
    "модель номер {}",
    "🚀 {}",
]
STD: dict[str, Any] = {"risk": "std", "risk_label": "standard deviation", "alpha": None, "rho": None}


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("unit", SIZES)
@pytest.mark.parametrize("others", [STD, {}], ids=["std", "mean-variance"])
def test_80_columns_hold_every_arm(unit: float, name: str, others: dict[str, Any]) -> None:
    result = scaled_result(unit, name, 6, **others)
    for text, width in ((in_console(result, 80), 80), (plain(result, 80), 80), (in_console(result, 60), 60)):
        assert max(map(cell_len, text.splitlines())) <= width
        assert "…" not in text
        for arm in result.arms:
            assert f"{arm.trials:,}" in text


def test_columns_that_are_left_out_are_named() -> None:
    columns = [Column(name, ["x" * 20]) for name in ("arm", "mean", "standard\nerror", "share")]
    assert left_out(columns, fitted(columns, ("share", "standard\nerror"), 80)) == (
        "No room for: share. A wider window shows it."
    )
    assert left_out(columns, fitted(columns, ("share", "standard\nerror"), 50)) == (
        "No room for: standard error, share. A wider window shows them."
    )
    assert left_out(columns, fitted(columns, ("share",), None)) == ""


@pytest.mark.parametrize(
    ("names", "limit", "shown"),
    [
        (
            [f"lightgbm depth={depth}, learning_rate={rate}" for depth in (3, 9) for rate in (0.01, 0.1)],
            20,
            ["...pth=3...ate=0.01", "...pth=3...ate=0.1", "...pth=9...ate=0.01", "...pth=9...ate=0.1"],
        ),
        (["server-eu-west-1.example.com", "server-us-west-1.example.com"], 12, ["server-eu...", "server-us..."]),
        (
            ["short", "a name that is long", "another name that is long"],
            14,
            ["short", "a name... long", "anothe... long"],
        ),
    ],
)
def test_long_names_keep_what_tells_them_apart(names: list[str], limit: int, shown: list[str]) -> None:
    assert list(short_names(names, limit).values()) == shown


# --------------------------------------------------------------------------------------- why, and what is missing


# --------------------------------------------------------------------------------------- rich console


@pytest.mark.parametrize("width", [40, 60, 80, 100, 120, 160])
def test_console_output_fits_the_window(width: int) -> None:
    for result in (make_result(), odd_result()):
        lines = in_console(result, width).split("\n")
        assert max(map(cell_len, lines)) <= width


def test_console_does_not_interpret_names() -> None:
    text = in_console(odd_result(), 120)
    assert "[red]x[/red]" in text
    assert ":smile:" in text
    assert "mind the [bold]brackets[/bold]" in text
    assert "\x1b" not in text


def test_console_uses_colours_that_everyone_can_tell_apart() -> None:
    console = Console(file=io.StringIO(), width=120, force_terminal=True, color_system="standard")
    console.print(make_result(make_arm("A"), make_arm("U", verdict="open", word="open")))
    assert isinstance(console.file, io.StringIO)
    text = console.file.getvalue()
    assert "\x1b[1;36mA" in text  # bold cyan
    assert "\x1b[33mU" in text  # yellow
    assert "\x1b[31m" not in text
    assert "\x1b[32m" not in text


def test_console_without_unicode_gets_ascii() -> None:
    file = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    Console(file=file, width=120, color_system=None).print(make_result())
    file.flush()
    assert isinstance(file.buffer, io.BytesIO)
    assert "+/-" in file.buffer.getvalue().decode("ascii")


# --------------------------------------------------------------------------------------- HTML


class Reader(HTMLParser):
    """Collects the text of every cell, and checks that every element is closed."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.rows: list[list[str]] = []
        self.tags: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open.append(tag)
        self.tags.add(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] in ("td", "th"):
            self.rows[-1][-1] += data


def read_html(result: Result) -> Reader:
    reader = Reader()
    reader.feed(result._repr_html_())
    reader.close()
    assert reader.open == []
    return reader


def test_html_escapes_what_users_wrote() -> None:
    reader = read_html(odd_result())
    assert reader.tags == {"div", "p", "strong", "table", "thead", "tbody", "tr", "th", "td"}
    names = [row[0] for row in reader.rows]
    assert "<b>bold</b> & 'quoted'" in names
    assert ODD_NAMES[0] in names  # in full
    assert "two\\nlines\\t\\x1b[31mred" in names
    source = odd_result()._repr_html_()
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in source


def test_html_stands_alone_on_light_and_dark_pages() -> None:
    source = make_result()._repr_html_()
    assert "http" not in source
    assert "<style" not in source
    assert not re.search(r"background:(?!none)", source)
    assert 'class="tex2jax_ignore mathjax_ignore"' in source  # names with dollars are not formulas


def test_html_of_many_arms_is_short() -> None:
    source = make_result(*many_arms(1000, returned=10))._repr_html_()
    assert "... and 988 more, all out" in source
    assert source.count("<tr") < 60
