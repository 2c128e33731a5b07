"""The blocks of code in a page of Markdown, and running them as its reader would, from top to bottom in one folder.

What a block is, its language says: `python` runs in the one namespace of its page; `sh` is a script for bash; of
`console` the lines after "$ " are commands and the others what they print; `text` is to be read, like all else. A
comment of HTML before a block says more:

    <!-- long -->             minutes rather than seconds: run by `make test-long`
    <!-- not run: why -->     nobody here has what it needs
    <!-- output -->           this text is what the block before has printed
    <!-- file: NAME -->       this is a file of that name, in the reader's folder
    <!-- background: TEXT --> it goes on while the page does, and is ready when it has printed that
    <!-- less: A -> B -->     run with B for A, to be done sooner
    <!-- setup CODE -->       what the reader has and the page does not show, in Python

In what is printed "..." stands for anything, and blanks and ends of lines for each other.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import os
import re
import signal
import socket
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType

from markdown_it import MarkdownIt

ROOT = Path(__file__).resolve().parents[1]
RUN = ("python", "sh", "console")
SHOWN = ("text", "toml", "json", "sql", "yaml", "bibtex", "ini", "nginx", "csv")
MARKS = ("long", "not run", "output", "file", "background", "less", "setup")
PORT = "8460"  # of servers in the pages; each page has a free one in its place
LOOSE = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@dataclass(frozen=True)
class Block:
    """One block: where it begins, its language ("" if none is given), its text and its marks."""

    line: int
    language: str
    text: str
    marks: dict[str, str] = field(default_factory=dict)

    @property
    def runs(self) -> bool:
        """Whether it is code at all, and no mark says that it cannot run here."""
        return (self.language in RUN or "file" in self.marks or "setup" in self.marks) and "not run" not in self.marks


def find_blocks(text: str) -> list[Block]:
    """All blocks of a page, in their order; directives of MyST, whose language is in braces, are none."""
    found, marks = [], dict[str, str]()
    for token in MarkdownIt("commonmark").parse(text):
        line = token.map[0] + 1 if token.map else 0
        if token.type == "html_block" and (comment := re.match(r"<!-- (.*?)\s*-->\s*\Z", token.content, re.DOTALL)):
            name, _, rest = re.match(r"(not run|[a-z]+)(:? |\n|)(.*)\Z", comment[1], re.DOTALL).groups()  # type: ignore[union-attr]
            if name == "setup":
                found.append(Block(line, "python", rest, {**marks, "setup": ""}))
                marks = {}
            elif name in MARKS:
                marks[name] = rest
        elif token.type == "code_block":
            found.append(Block(line, "", token.content, marks))
            marks = {}
        elif token.type == "fence":
            if not token.info.startswith("{"):
                found.append(Block(line, token.info.strip(), token.content, marks))
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
    """Whether that was printed, up to "..." and white space."""
    return doctest.OutputChecker().check_output(wanted.strip() + "\n", got.strip() + "\n", LOOSE)


def free_port() -> int:
    """A port that nobody listens at."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


class Reader:
    """Somebody who goes through a page: a folder, a Python, a shell whose exported variables stay."""

    def __init__(self, page: str, folder: Path) -> None:
        """Nothing is done yet.

        Args:
            page: Its name, for messages.
            folder: An empty one, which is the current folder meanwhile.
        """
        self.page, self.folder = page, folder
        # A module that others can find: classes of data look theirs up.
        self.module = sys.modules["page"] = ModuleType("page")
        self.port = str(free_port())
        self.printed = ""
        self.running: list[subprocess.Popen[str]] = []

    def environment(self) -> dict[str, str]:
        """The caller's, with this `ramgape` and this Python first, and no study of the caller's in sight."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("RAMGAPE_", "PYTEST_"))}
        programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        checkout = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")]))  # for `-m benchmarks`
        state = str(self.folder / ".state")
        return {**kept, "PATH": programs, "PYTHONPATH": checkout, "COLUMNS": "110", "XDG_STATE_HOME": state}

    def run(self, block: Block) -> None:
        """Run it, write it down, or compare it with what was printed."""
        text = self.adapted(block)
        place = f"{self.page}:{block.line}"
        if "file" in block.marks:
            (self.folder / block.marks["file"]).write_text(text, encoding="utf-8")
        elif "output" in block.marks:
            assert same(text, self.printed), f"{place}: what was printed is\n{self.printed}"
        elif "background" in block.marks:
            self.start(text, block.marks["background"], place)
        elif block.language == "python":
            self.run_python(text, place)
        elif block.language == "sh":
            self.run_shell(text, place)
        else:
            for command, output in commands_of(text):
                self.run_shell(command, place)
                assert not output or same(output, self.printed), f"{place}: {command} printed\n{self.printed}"

    def adapted(self, block: Block) -> str:
        """Its text with a port that is free, and with less to do where the page allows it."""
        text = block.text
        for change in block.marks["less"].split("; ") if "less" in block.marks else []:
            usual, reduced = change.split(" -> ")
            assert usual in text, f"{self.page}:{block.line} has no {usual}"
            text = text.replace(usual, reduced)
        return text.replace(PORT, self.port)

    def run_python(self, text: str, place: str) -> None:
        """In this process, since what is compiled is loaded once for all pages."""
        # As many lines before it as in the page, so that a traceback names the line.
        code = compile("\n" * int(place.rpartition(":")[2]) + text, place, "exec")
        with contextlib.redirect_stdout(io.StringIO()) as out, warnings.catch_warnings():
            warnings.simplefilter("default")
            exec(code, self.module.__dict__)
        self.printed = out.getvalue()

    def script(self, text: str) -> list[str]:
        """For bash, which first learns what earlier blocks have exported, and stops at the first error."""
        kept = "exports.sh"
        return ["bash", "-c", f"set -euo pipefail\n[ ! -e {kept} ] || . ./{kept}\n{text}\nexport -p > {kept}"]

    def run_shell(self, text: str, place: str) -> None:
        done = subprocess.run(
            self.script(text), cwd=self.folder, env=self.environment(), text=True, encoding="utf-8", timeout=900,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        self.printed = done.stdout
        assert done.returncode == 0, f"{place} ended with {done.returncode}:\n{self.printed}"

    def start(self, text: str, ready: str, place: str) -> None:
        """Start what goes on in the background, and wait until it has said that it is ready."""
        file, errors = (self.folder / f"background-{len(self.running)}.{end}" for end in ("out", "err"))
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
        sys.modules.pop("page", None)
        for process in self.running:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)
            process.wait(timeout=60)


@contextlib.contextmanager
def reading(page: str, folder: Path) -> Iterator[Reader]:
    """A reader in a folder, who leaves nothing running."""
    reader = Reader(page, folder)
    with contextlib.chdir(folder):
        try:
            yield reader
        finally:
            reader.end()
