"""Verbs of the command with drawn arguments, and what must be true of what they print."""

from __future__ import annotations

import functools
import io
import json
import random
import shlex
import sys
import traceback
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import typer.main

from ramgape import cli
from ramgape.bounds import BOUNDS
from ramgape.cli.command_table import CommandTable
from ramgape.policies import POLICIES
from tests.fuzz_calls import check_text
from tests.fuzz_values import DIGITS, MARKUP, Drawn, Kind, draw
from tests.fuzz_world import BROKEN_CSV, BROKEN_JSON, BROKEN_JSONL, BROKEN_TOML, CSV, GOOD_TOML, ODD_TOML, World

LONG = "x" * 50_000
CONTROL = "a\x1b[2J\x07\r\nb\u202e"
HALF = "half \udce4"  # a byte that is no UTF-8, as Python hands it over
STRANGE = (LONG, CONTROL, HALF, MARKUP)
NO_NUMBERS = ("nan", "inf", "-inf", "x", "", "1,2,3", "1e999", "0x10", "1 2", "True", "None", *STRANGE)
NO_COUNTS = (*NO_NUMBERS, "-1", "1.5", "1e300", "9" * 5000)
NO_NAMES = ("nope", "", "5", *STRANGE)
ODD_NUMBERS = ("1_5", DIGITS, "1e-300", "1e308", "5e-324", " 0.5 ", "+0.5", "-0")


class Content(NamedTuple):
    """A file that the case finds, under the name that stands in its place; `-` is standard input."""

    name: str
    content: bytes


def files(ending: str, contents: Mapping[str, bytes]) -> tuple[Content, ...]:
    return tuple(Content(f"case.{ending}", content) for content in contents.values())


def stdin(contents: Mapping[str, bytes]) -> tuple[Content, ...]:
    return tuple(Content("-", content) for content in contents.values())


NO_FILES = ("folder", "missing.csv", "", "fifo", "/dev/zero", "x" * 300, "bytes.bin", "cut.csv.gz", CONTROL, HALF)
NO_DATA = (*NO_FILES, *files("csv", BROKEN_CSV), *stdin(BROKEN_CSV))
NO_INSTANCES = (
    *("paper:0", "papr:1", "", "folder", "missing.json", "text.txt", "broken.json", "fifo", *STRANGE),
    *files("json", BROKEN_JSON),
)
NO_PICTURES = ("folder", "missing/x.png", "x", "x.nope", "", "x" * 300 + ".png", "text.txt/x.png")
NO_STORES = (
    *("studies.db", "mysql://me:secret@host/x", "sqlite://studies.db", "sqlite:///", "sqlite:///:memory:"),
    *("sqlite:///folder", "sqlite:///fifo", "sqlite:////dev/full", "sqlite:///text.txt", "sqlite:///bytes.bin"),
    *("sqlite:///studies.db?timeout=nan", "sqlite:///studies.db?mode=ro", "sqlite:///no/x.db", f"sqlite:///{LONG}"),
    *("postgresql://me:secret@host/x", "postgresql://me@%zz/x", "postgresql://me@127.0.0.1:1/x?timeout=0", *STRANGE),
)
NO_TEXTS = ("", "  ", "x" * 201, "a\nb", "\x1b[1m", HALF)
LINES = b'{"pull": "%s", "reward": 0.5}\n'


def count(*good: str, least: int = 0, odd: tuple[str, ...] = ()) -> Kind:
    return Kind(good, (*NO_COUNTS, *(("0",) if least else ())), (*odd, "1_0", DIGITS))


KINDS: Mapping[str, Kind] = {
    "epsilon": Kind(("0.3", "0.5", "0", "0.4,0.2"), (*NO_NUMBERS, "-1", "0.1,", "0.1,-1", "0.1,nan"), ODD_NUMBERS),
    "delta": Kind(("0.05", "0.3"), (*NO_NUMBERS, "0", "1", "-1"), ("1e-300", "0.1_5")),
    "budget": count("20", "40", "2e1", least=1, odd=("1", "3")),
    "max_trials": count("100", "3e2", least=1, odd=("1",)),
    "initial_trials": count("2", "3", least=1, odd=("1", "1e15")),
    "runs": count("1", "2", least=1),
    "jobs": Kind(("1",), NO_COUNTS),
    "cluster": Kind((), ("nowhere", "", "http://127.0.0.1:1", *STRANGE)),
    "keep": Kind(("kept",), ("", "text.txt", "text.txt/x", LONG)),
    "seed": count("0", "7", "1e6"),
    "retries": count("0", "2", odd=("1e15",)),
    "count": count("1", "3", least=1, odd=("100001",)),
    "next_pulls": count("0", "5", odd=("10001",)),
    "epsilons": Kind(("0.5", "0.3,0.5"), (*NO_NUMBERS[:4], "", "0.1,", "0.1,x", "-1", *STRANGE)),
    "deltas": Kind(("0.3", "0.1,0.3"), (*NO_NUMBERS[:4], "", "0.1,", "0", "1,0.5", *STRANGE)),
    "budgets": Kind(("20", "20,40"), (*NO_NUMBERS[:4], "", "20,", "0", "20,1.5", *STRANGE)),
    "risk": Kind(
        ("cvar:0.2", "variance", "entropic:2", "semivariance:0.5", "mean-variance:2", "spectral:0.1=0.5,0.5=0.5",
         "evar:0.2"),
        (*NO_NAMES, "cvar:", "cvar:2", "cvar:nan", "cvar:0", "variance:1", "entropic:-1", "entropic:inf",
         "spectral:", "spectral:0.1", "spectral:0.1=0.3", "spectral:0.1=0.5,0.1=0.5", "spectral:nan=1",
         "evar:0", "evar:2"),
        ("cvar", "cvar:1e-300", "entropic:1e100", "semivariance:1e100", f"cvar:{DIGITS}"),
    ),
    "rho": Kind(("0", "5"), (*NO_NUMBERS, "-1"), ODD_NUMBERS),
    "alpha": Kind(("1", "0.2"), (*NO_NUMBERS, "0", "-1"), ODD_NUMBERS),
    "sigma_max": Kind(("1", "2"), (*NO_NUMBERS, "0", "-1"), ODD_NUMBERS),
    "kurtosis": Kind((), (*NO_NUMBERS, "0.5", "-1"), ("9", *ODD_NUMBERS)),
    "cv": Kind((), (*NO_NUMBERS, "0", "-1"), ("1", *ODD_NUMBERS)),
    "resolution": Kind(("0.01",), (*NO_NUMBERS, "-1"), ODD_NUMBERS),
    "exploration": Kind(("theorem", "sharp", "0.5"), ("x", "", "nan", "-1", *STRANGE), ODD_NUMBERS),
    "direction": Kind(("maximize", "minimize"), NO_NAMES),
    "policy": Kind(("auto", *POLICIES), NO_NAMES),
    "bound": Kind(("auto", *BOUNDS), NO_NAMES),
    "returned": Kind(("last", "smallest-doubt"), NO_NAMES),
    "noise": Kind(("gaussian", "bounded"), NO_NAMES),
    "failure": Kind(("retry", "worst"), NO_NAMES),
    "expired": Kind(("retry", "fail"), NO_NAMES),
    "form": Kind(("csv", "jsonl"), NO_NAMES),
    "what": Kind(("policies", "bounds", "risks", "instances"), NO_NAMES),
    "parts": Kind((), (("nope",), ("1", "nope"), ("",), (CONTROL,), (MARKUP,))),
    "reward_range": Kind(
        (("0", "1"), ("-1", "2")),
        (("1", "0"), ("0", "0"), ("nan", "1"), ("0", "inf"), ("x", "1"), ("", ""), (CONTROL, "1"), ("0", "1e999")),
        (("1_0", "2_0"), ("-1e100", "1e100"), ("0", "5e-324"), ("1e16", "1.0000000000000002e16")),
    ),
    "instance": Kind(("paper:46", "mine.json", "random-beta:2", "paper-gaussian:3"), NO_INSTANCES),
    "data": Kind(("good.csv", "good.csv.gz", Content("-", CSV.encode())), NO_DATA),
    "source": Kind((Content("-", LINES), Content("case.jsonl", LINES)), (*NO_FILES, *stdin(BROKEN_JSONL))),
    "arms_file": Kind(("text.txt",), ("folder", "missing", "", "fifo", "/dev/zero", "bytes.bin", "cut.csv.gz")),
    "arm_column": Kind(("arm",), NO_NAMES),
    "reward_column": Kind(("reward",), ("arm", *NO_NAMES)),
    "delimiter": Kind((",",), ("", ",,", '"', "\n", LONG), (";", "tab", "\\t", "é", "\x1b", "a", HALF)),
    "name": Kind(("models", "models", "gauss", "done", MARKUP), (*NO_TEXTS, "nobody", CONTROL)),
    "worker": Kind(("w", MARKUP), NO_TEXTS),
    "lease": Kind(("60", "none", "0.5"), ("nan", "inf", "x", "", "0", "-1", *STRANGE), ("1_5", DIGITS, "1e308")),
    "reason": Kind(("it rains", *STRANGE)),
    "reward": Kind(("0.5", "0", "1"), (*NO_NUMBERS, "1_5", "0_1", DIGITS, "1e200"), ("-1", "5", "-0", "5e-324")),
    "storage": Kind(("sqlite:///studies.db", "sqlite:///studies.db?timeout=1"), NO_STORES, ("", "sqlite:///new.db")),
    "plot": Kind(("x.svg", "x\x1b[2J.svg"), NO_PICTURES),
}  # fmt: skip
NAMES = ("a", "bb")
TIMED = ("true", "sleep 0", "--max-runs=12")
OTHERS: Mapping[str, Kind] = {
    "demo.out": Kind((), NO_PICTURES),
    "reproduce.out": Kind((), ("text.txt", "text.txt/x", "/dev/null/x", "fifo", "x" * 300)),
    "benchmark.out": Kind((), ("text.txt", "text.txt/x", "/dev/null/x", "fifo", "x" * 300)),
    "run.what": Kind(
        (*files("toml", GOOD_TOML), TIMED), (*NO_FILES, *files("toml", BROKEN_TOML)), (*files("toml", ODD_TOML), TIMED),
    ),
    "run.name": Kind(("new", MARKUP + "3"), (*NO_TEXTS, CONTROL), ("models",)),
    "study create.name": Kind(("new", MARKUP + "2"), (*NO_TEXTS, CONTROL), ("models",)),
    "study create.arm": Kind((NAMES, ("a", MARKUP)), (("a", "a"), ("a",), ("", "b"), ("a", HALF)), (("a", CONTROL),)),
    "study import.file": Kind(
        ("good.csv", "good.jsonl", "good.csv.gz", Content("-", CSV.encode())),
        (*NO_DATA, *files("jsonl", BROKEN_JSONL)),
    ),
    "study export.file": Kind(
        ("out.csv", "out.jsonl", "-"),
        ("folder", "missing/x.csv", "", "x" * 300 + ".csv"),
        ("good.csv", "/dev/full", "out.nope", "out\x1b[2J.csv"),
    ),
    "storage backup.file": Kind(("copy.db", "copy\x1b[2J"), ("folder", "missing/x.db", "", "x" * 300, "studies.db")),
}  # fmt: skip
# What a verb needs to get anywhere, and to end soon.
NEEDED: Mapping[str, Mapping[str, Any]] = {
    "simulate": {"max_trials": "200"},
    "plan": {"max_trials": "200", "runs": "1", "epsilons": "0.5", "deltas": "0.3"},
    "analyze": {"arm_column": "arm", "reward_column": "reward", "reward_range": ("0", "1")},
    "study create": {"arm": NAMES, "reward_range": ("0", "1"), "budget": "20"},
    "study tell": {"pull": None, "reward": "0.5"},
    "study observe": {"reward": "0.5"},
}
ENDLESS = {
    "demo": ("seed", "out"),
    "reproduce": ("seed", "jobs", "parts", "out"),
    "benchmark": ("seed", "jobs", "parts", "out"),
}
LINES_OF_STDERR = ("warning: ", "note: ", "resumed: ", "failed: ", "written: ")


class Case(NamedTuple):
    """A verb with its arguments, and why it must be refused, if it must."""

    verb: str
    words: list[str]
    files: dict[str, bytes]
    must_refuse: list[str]


@functools.cache
def command() -> Any:
    """The whole command, made from its functions once."""
    return typer.main.get_command(cli.app)


def walk(group: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    """Every verb there is."""
    for name in group.commands:
        each = group.load(name) if isinstance(group, CommandTable) else group.commands[name]
        if hasattr(each, "commands"):
            yield from walk(each, (*path, name))
        else:
            yield " ".join((*path, name)), each


def draw_case(rng: random.Random, world: World) -> Case:
    """One of the verbs, mostly good but for an argument or two."""
    verbs = list(walk(command()))
    ((verb, described),) = rng.choices(verbs, [2 + len(each.params) for _, each in verbs])
    needed = NEEDED.get(verb, {})
    forced = rng.choice(ENDLESS[verb]) if verb in ENDLESS else None
    some = min(0.6, 3.0 / len(described.params))
    drawn: list[tuple[Any, Drawn]] = []
    for parameter in described.params:
        kind = kind_of(verb, parameter, world)
        if parameter.name == forced:
            drawn.append((parameter, Drawn(rng.choice(kind.bad), "bad")))
        elif rng.random() < some and (forced is None or kind.good):
            drawn.append((parameter, draw(rng, kind)))
            if rng.random() < 0.05 and is_single(parameter):  # twice: the last one counts
                drawn.append((parameter, draw(rng, kind)))
        elif parameter.name in needed:
            value = needed[parameter.name]
            drawn.append((parameter, Drawn(value, "good") if value is not None else draw(rng, kind, 0.9)))
        elif parameter.required and rng.random() < 0.98:
            drawn.append((parameter, draw(rng, kind, 0.9)))
    words, contents, bad = verb.split(), {}, {}
    for parameter, (value, verdict) in drawn:
        bad[parameter.name] = verdict == "bad"
        if isinstance(value, Content):
            contents[value.name] = value.content.replace(b"%s", rng.choice(world.pulls).encode())
            value = value.name
        words += typed(parameter, value, rng)
    if rng.random() < 0.04:
        words += [rng.choice(("--nope", "--nope=1", "extra", "-x", "--", MARKUP, CONTROL))]
    return Case(verb, words, contents, [name for name, wrong in bad.items() if wrong])


def is_single(parameter: Any) -> bool:
    return parameter.param_type_name == "option" and not parameter.multiple and not parameter.is_flag


def kind_of(verb: str, parameter: Any, world: World) -> Kind:
    """The texts that stand for a parameter."""
    if getattr(parameter, "is_flag", False):
        return Kind((True,))
    if parameter.name == "pull":
        return Kind(
            (*world.pulls, world.answered), ("", "x", "00000000000000000000-0", f"{world.pulls[0]}.7", *STRANGE)
        )
    arm = Kind(NAMES, NO_NAMES) if parameter.name == "arm" else Kind((), (), ("x", "", "-1", "1_5", *STRANGE))
    return OTHERS.get(f"{verb}.{parameter.name}", KINDS.get(str(parameter.name).removesuffix("_option"), arm))


def typed(parameter: Any, value: Any, rng: random.Random) -> list[str]:
    """The words of one argument."""
    values = list(value) if isinstance(value, tuple) else [value]
    if parameter.param_type_name == "argument":
        return values
    name = rng.choice(parameter.opts)
    if parameter.is_flag:
        return [name]
    if parameter.multiple:
        return [word for each in values for word in (name, each)]
    if len(values) == 1 and name.startswith("--") and rng.random() < 0.3:
        return [f"{name}={values[0]}"]
    return [name, *values]


def written(case: Case) -> str:
    """The command as one would type it."""
    shown = [word if len(word) <= 300 else f"{word[:20]}...({len(word):,} letters)" for word in case.words]
    given = "".join(f" [{name}: {content[:80]!r}]" for name, content in case.files.items())
    return ascii(f"ramgape {shlex.join(shown)}{given}")[1:-1]


def run_case(case: Case, world: World, rng: random.Random) -> list[str]:
    """Run the verb; what is wrong with what happened."""
    for name, content in case.files.items():
        if name != "-":
            (world.place / name).write_bytes(content)
    before = world.files()
    code, stdout, stderr = invoke(case.words, case.files.get("-", b""))
    return list(complaints(case, world, before, code, stdout, stderr))


def invoke(words: list[str], stdin: bytes) -> tuple[int, str, str]:
    """The command in this process; -1 stands for an exception that reached the end."""
    usual = sys.argv, sys.stdin, sys.stdout, sys.stderr
    streams = [io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8")]
    streams += [io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="") for _ in range(2)]
    sys.argv = ["ramgape", *words]
    sys.stdin, sys.stdout, sys.stderr = streams
    try:
        cli.main()
        code = 0
    except SystemExit as leaving:
        code = leaving.code if isinstance(leaving.code, int) else int(leaving.code is not None)
    except Exception:  # noqa: BLE001 - that is what is looked for
        code = -1
        sys.stderr.write(traceback.format_exc(limit=-4))
    finally:
        sys.argv, sys.stdin, sys.stdout, sys.stderr = usual
    texts = []
    for stream in streams[1:]:
        stream.flush()
        texts.append(stream.buffer.getvalue().decode(errors="surrogateescape"))  # type: ignore[attr-defined]
    return code, texts[0], texts[1]


def complaints(
    case: Case, world: World, before: dict[str, bytes], code: int, stdout: str, stderr: str
) -> Iterator[str]:
    """What must not be."""
    if case.verb == "storage check" and code == 1 and stdout and not stderr:
        return  # the store is damaged, which is no error of the command
    if case.verb == "study done" and code == 1 and stdout and not stderr:
        return  # it is not done
    if code == -1 or "Traceback" in stderr:
        yield f"ended with a traceback: {' | '.join(stderr.split(chr(10))[-8:])}"
        return
    if code not in (0, 1, 2):
        yield f"ended with exit code {code}"
    if case.verb != "study export":
        yield from check_text(stdout.replace("\t", ""))
    yield from check_text(stderr)
    lines = [line for line in stderr.splitlines() if not line.startswith(LINES_OF_STDERR)]
    if code == 0:
        for name in case.must_refuse:
            yield f"accepted {name}"
        if lines:
            yield f"said on stderr: {lines[:3]}"
        if "--json" in case.words and case.words[-1] != "--help":
            yield from check_json(stdout)
    elif not stderr.startswith("Usage: ") and (len(lines) != 1 or not lines[0].startswith("error: ")):
        yield f"ended with exit code {code} and said {lines[:3]}"
    if len(max(lines, key=len, default="")) > 4000 and not stderr.startswith("Usage: "):
        yield f"said {len(stderr):,} letters: {stderr[:100]}"
    if code == 1 and case.verb != "run" and "/dev/full" not in case.words:
        yield f"ended with exit code 1: {stderr[:300]}"
    if code == 2:
        if stdout:
            yield f"was refused, and printed {stdout[:100]!r}"
        if world.files() != before:
            yield "was refused, and has changed files"
        if world.store() != world.rows:
            yield "was refused, and has changed the store"


def check_json(text: str) -> Iterator[str]:
    """One object, in strict JSON."""

    def refuse(constant: str) -> None:
        raise ValueError(f"{constant} is no JSON")

    try:
        found = json.loads(text, parse_constant=refuse)
    except ValueError as error:
        yield f"printed no JSON: {error}: {text[:100]!r}"
        return
    if not isinstance(found, dict):
        yield f"printed no JSON object: {text[:100]!r}"
