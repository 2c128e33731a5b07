"""Help: plain text in sections, imperative first lines, and names out of the tables."""

from __future__ import annotations

import os
import re
import resource
import subprocess
import sys
from typing import Any

import pytest
import typer.main

from ramgape.cli import app
from ramgape.policies import POLICIES
from ramgape.questions import QUESTIONS
from ramgape.risks.table import RISKS, risk_notation
from tests.cli_support import call

GROUP: Any = typer.main.get_command(app)
GROUPS = ("study", "storage", "token")
VERBS = [(name,) for name in GROUP.commands] + [
    (group, name) for group in GROUPS for name in getattr(GROUP.load(group), "commands", {})
]


def command_of(words: tuple[str, ...]) -> Any:
    found = GROUP
    for word in words:
        found = found.load(word) if hasattr(found, "load") else found.commands[word]
    return found


@pytest.mark.parametrize("words", VERBS, ids=" ".join)
def test_a_first_line_is_short_and_says_what_to_do(words: tuple[str, ...]) -> None:
    text = call(*words, "--help").stdout
    first = text.strip().split("\n\n")[1].strip()
    assert len(first) < 60, first
    assert first.endswith(".")
    assert re.match(r"[A-Z][a-z]+[ ,]", first)
    assert first.split()[0] not in ("The", "A", "All", "How", "What", "Whether", "Who", "One", "An")
    parent = GROUP if len(words) == 1 else command_of(words[:-1])
    if hasattr(parent, "lines"):
        assert parent.lines[words[-1]].says == first


@pytest.mark.parametrize("words", [(), *VERBS], ids=" ".join)
def test_help_has_no_boxes_and_no_types(words: tuple[str, ...]) -> None:
    text = call(*words, "--help").stdout
    assert not re.search(r"[\u2500-\u257f]|<bool>|<str>|\x1b|\[/?bold\]", text)
    assert max(len(line) for line in text.splitlines() if not line.startswith((" ramgape ", "     --"))) <= 81
    assert "Unless given" not in text


def test_the_first_hints_are_run_and_analyze() -> None:
    hints = re.findall(r"^ (ramgape .*)$", call("--help").stdout, re.MULTILINE)
    assert hints[:2] == ["ramgape run 'cmd1' 'cmd2'", "ramgape analyze yours.csv"]


def test_verbs_of_a_study_are_in_three_groups() -> None:
    text = call("study", "--help").stdout
    headings = re.findall(r"^ ([A-Z][a-z]+(?: [a-z]+)?)$", text, re.MULTILINE)
    assert headings == ["Everyday", "Worker protocol", "Administration", "Options"]
    protocol = text.partition("Worker protocol")[2].partition("Administration")[0]
    assert re.findall(r"^  (\S+)", protocol, re.MULTILINE) == [
        *("work", "ask", "tell", "exchange", "fail", "renew", "release", "done")
    ]


def test_names_come_from_the_tables() -> None:
    text = " ".join(call("simulate", "--help").stdout.split())
    for name in (
        *map(risk_notation, RISKS),
        *(kind.written.partition("[")[0] for kind in QUESTIONS.values()),
        *POLICIES,
    ):
        assert name in text, name


@pytest.mark.parametrize("old", ["front", "give-back"])
def test_older_verbs_work_and_are_not_shown(old: str) -> None:
    assert f"  {old} " not in call("study", "--help").stdout
    assert call("study", old, "--help").exit_code == 0


@pytest.mark.parametrize("words", [(), ("run",), ("study",), ("study", "create"), ("simulate",)])
def test_help_is_there_at_once(words: tuple[str, ...]) -> None:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-m", "ramgape", *words, "--help"], check=True, capture_output=True, env=os.environ)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 0.6  # 0.05 to 0.15 s when alone
