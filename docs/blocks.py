"""The blocks of code in a page of Markdown, and a reader who runs them as printed, in an empty folder.

Language of a block: `python` runs in one interpreter for the page; `sh` is a script for bash; in `console` the lines
after "$ " are commands and the others are what they print; all else is to be read. An HTML comment before a block says
more:

    <!-- output -->           the text that the block before has printed
    <!-- long -->             takes minutes: only `make test-long` runs it
    <!-- long: A -> B -->     takes minutes: the ordinary tests run it with B for A, another count of runs
    <!-- not run: why -->     cannot run here
    <!-- file: NAME -->       a file that the text asks the reader to save
    <!-- background: TEXT --> goes on while the page does; it is ready when it has printed TEXT

In what is printed, "..." stands for anything, "about 12" for any number, and white space for any other.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from markdown_it import MarkdownIt

ROOT = Path(__file__).resolve().parents[1]
RUN = ("python", "sh", "console")
SHOWN = ("text", "toml", "json", "sql", "yaml", "bibtex", "ini", "nginx", "csv")
MARKS = ("output", "long", "not run", "file", "background")
PORT = "8460"  # the default port of a server; each page gets a free one, so that pages can run at once
PATIENCE = 900.0

# A Python that runs one block after the other in one namespace, and answers with what each printed.
INTERPRETER = """
import contextlib, io, json, sys, traceback, warnings
warnings.simplefilter("default")
answers, space = sys.stdout, {"__name__": "__main__"}
sys.modules["__main__"].__dict__.update(space)
for line in sys.stdin:
    place, text = json.loads(line)
    error = ""
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        try:
            exec(compile(text, place, "exec"), sys.modules["__main__"].__dict__)
        except BaseException:
            error = traceback.format_exc()
    print(json.dumps([printed.getvalue(), error]), file=answers, flush=True)
"""


@dataclass(frozen=True)
class Block:
    """One block: its first and last line, its language ("" if none is given), its text and its marks."""

    line: int
    language: str
    text: str
    marks: dict[str, str] = field(default_factory=dict)
    end: int = 0

    @property
    def runs(self) -> bool:
        """Whether it is code that can run here."""
        return (self.language in RUN or "file" in self.marks) and "not run" not in self.marks

    @property
    def shorter(self) -> str | None:
        """Its text with fewer runs, where the page allows it."""
        changes = [change.split(" -> ") for change in self.marks.get("long", "").split("; ") if change]
        text = self.text
        for printed, reduced in changes:
            assert printed in text, f"line {self.line} has no {printed}"
            text = text.replace(printed, reduced)
        return text if changes else None


def find_blocks(text: str) -> list[Block]:
    """All blocks of a page, in their order; directives of MyST, whose language is in braces, are none."""
    found, marks = [], dict[str, str]()
    for token in MarkdownIt("commonmark").parse(text):
        start, end = token.map or (0, 0)
        if token.type == "html_block" and (comment := re.match(r"<!-- (.*?)\s*-->\s*\Z", token.content, re.DOTALL)):
            name, _, rest = comment[1].partition(":")
            if name in MARKS:
                marks[name] = rest.strip()
        elif token.type == "code_block":
            found.append(Block(start + 1, "", token.content, marks, end))
            marks = {}
        elif token.type == "fence":
            if not token.info.startswith("{"):
                found.append(Block(start + 1, token.info.strip(), token.content, marks, end))
            marks = {}
        elif token.nesting >= 0:
            marks = {}
    return found


def commands_of(text: str) -> list[tuple[str, str]]:
    """The commands of a `console` block, each with what it prints; lines that end with a backslash go on."""
    commands: list[list[str]] = []
    open_line = False
    for line in text.splitlines(keepends=True):
        if line.startswith("$ "):
            commands.append([line[2:], ""])
        else:
            commands[-1][0 if open_line else 1] += line
        open_line = (line.startswith("$ ") or open_line) and line.endswith("\\\n")
    return [(command, output) for command, output in commands]


def same(wanted: str, got: str) -> bool:
    """Whether that was printed: "..." is anything, "about 12" any number, white space any other."""
    pattern = re.escape(" ".join(wanted.split()))
    pattern = re.sub(r"about\\ (?:[\d,]|\\\.)*\d", r"(?:about )?[\\d.,]*\\d", pattern)
    pattern = pattern.replace(r"\ \.\.\.\ ", r" (?:.* )?").replace(r"\.\.\.", ".*")
    return re.fullmatch(pattern, " ".join(got.split()), re.DOTALL) is not None


def free_port() -> int:
    """A port that nothing listens at."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


class Reader:
    """A reader of a page: an empty folder, a Python, a shell whose exported variables stay.

    Attributes:
        printed: What the last block has printed; None if it was left out or made shorter.
    """

    def __init__(self, page: str, folder: Path, python: str = sys.executable, sources: Path | None = None) -> None:
        """Prepare, and run nothing yet.

        Args:
            page: Its name, for messages.
            folder: Where everything runs.
            python: The interpreter in whose environment the package is.
            sources: A folder to import the package from instead.
        """
        self.page, self.folder, self.python, self.sources = page, folder, python, sources
        self.port = str(free_port())
        self.printed: str | None = ""
        self.interpreter: subprocess.Popen[str] | None = None
        self.running: list[subprocess.Popen[str]] = []

    def environment(self) -> dict[str, str]:
        """The caller's, with the package alone in reach, 80 columns, and no study or token of the caller's."""
        misleading = ("RAMGAPE_", "PYTEST_", "PYTHONPATH", "COV_")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(misleading)}
        programs = f"{Path(self.python).parent}{os.pathsep}{os.environ['PATH']}"
        package = {"PYTHONPATH": str(self.sources)} if self.sources else {}
        state = str(self.folder / ".state")
        return {**kept, **package, "PATH": programs, "COLUMNS": "80", "NO_COLOR": "1", "XDG_STATE_HOME": state}

    def run(self, block: Block, whole: bool = True) -> None:
        """Run a block, save it, or compare it with what was printed.

        Args:
            block: The block.
            whole: As printed, however long it takes; else leave out what is long, or make it shorter.
        """
        place = f"{self.page}:{block.line}"
        if "output" in block.marks:
            assert self.printed is None or same(block.text, self.printed), f"{place}: printed was\n{self.printed}"
            return
        shortened = not whole and "long" in block.marks
        text = block.shorter if shortened else block.text
        if text is None or not block.runs:
            self.printed = None
            return
        text = text.replace(PORT, self.port)
        if "file" in block.marks:
            (self.folder / block.marks["file"]).write_text(text, encoding="utf-8")
        elif "background" in block.marks:
            self.start(text, block.marks["background"], place)
        elif block.language == "python":
            self.run_python(text, place)
        elif block.language == "sh":
            self.run_shell(text, place)
        else:
            for command, output in commands_of(text):
                self.run_shell(command, place)
                assert shortened or not output or same(output, self.printed or ""), f"{place}: printed {self.printed}"
        self.printed = None if shortened else (self.printed or "").replace(self.port, PORT)

    def run_python(self, text: str, place: str) -> None:
        """Run a block of Python after those before it."""
        if self.interpreter is None:
            self.interpreter = subprocess.Popen(
                [self.python, "-c", INTERPRETER], cwd=self.folder, env=self.environment(), text=True, encoding="utf-8",
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True,
            )  # fmt: skip
        assert self.interpreter.stdin is not None
        assert self.interpreter.stdout is not None
        # As many lines before it as in the page, so that a traceback names the line.
        code = "\n" * int(place.rpartition(":")[2]) + text
        self.interpreter.stdin.write(json.dumps([place, code]) + "\n")
        self.interpreter.stdin.flush()
        self.printed, error = json.loads(self.interpreter.stdout.readline() or '["", "Python has ended"]')
        assert not error, f"{place}:\n{error}"

    def script(self, text: str) -> list[str]:
        """For bash, which first learns what earlier blocks have exported, and stops at the first error."""
        kept = ".exports"
        return ["bash", "-c", f"set -euo pipefail\n[ ! -e {kept} ] || . ./{kept}\n{text}\nexport -p > {kept}"]

    def run_shell(self, text: str, place: str) -> None:
        """Run a block of shell."""
        done = subprocess.run(
            self.script(text), cwd=self.folder, env=self.environment(), text=True, encoding="utf-8", timeout=PATIENCE,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        self.printed = done.stdout
        assert done.returncode == 0, f"{place} ended with {done.returncode}:\n{self.printed}"

    def start(self, text: str, ready: str, place: str) -> None:
        """Start what goes on in the background, and wait until it is ready."""
        file, errors = (self.folder / f".background-{len(self.running)}.{end}" for end in ("out", "err"))
        with file.open("w", encoding="utf-8") as out, errors.open("w", encoding="utf-8") as err:
            process = subprocess.Popen(
                self.script(text), cwd=self.folder, env=self.environment(), text=True, start_new_session=True,
                stdin=subprocess.DEVNULL, stdout=out, stderr=err,
            )  # fmt: skip
        self.running.append(process)
        patience = time.monotonic() + 60.0
        while ready not in file.read_text(encoding="utf-8"):
            waiting = process.poll() is None and time.monotonic() < patience
            assert waiting, f"{place} is not ready:\n{errors.read_text(encoding='utf-8')}"
            time.sleep(0.05)
        self.printed = file.read_text(encoding="utf-8")

    def end(self) -> None:
        """End what was left running in the background, with all that it has started."""
        if self.interpreter is not None:
            assert self.interpreter.stdin is not None
            assert self.interpreter.stdout is not None
            self.interpreter.stdin.close()
            try:
                self.interpreter.wait(timeout=20)
            except subprocess.TimeoutExpired:
                os.killpg(self.interpreter.pid, signal.SIGKILL)
                self.interpreter.wait(timeout=20)
            self.interpreter.stdout.close()
        for process in self.running:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)
            process.wait(timeout=60)


@contextlib.contextmanager
def reading(page: str, folder: Path, python: str = sys.executable, sources: Path | None = None) -> Iterator[Reader]:
    """A reader who leaves nothing running."""
    reader = Reader(page, folder, python, sources)
    try:
        yield reader
    finally:
        reader.end()
