"""Text for a shell, read far enough to know where placeholders stand and which commands it runs.

No shell is asked. A placeholder becomes "$RAMGAPE_ARM", so a mistake in reading cannot make a shell run a value. It
can only miss a command, such as eval, that does.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from ramgape.errors import InvalidSpec

PLACEHOLDER = re.compile(r"\{(arm|seed|item|trial|pull)\}")

_TOKEN = re.compile(
    r"""
    (?P<escape>\\(?:\{(?:arm|seed|item|trial|pull)\}|.?))
  | (?P<quote>'[^']*'? | \$'(?:\\.|[^'\\])*'? | \$?"(?:\\.|[^"\\])*"?)
  | (?P<comment>(?<![^\s;&|()`])\#[^\n]*)
  | (?P<document><<(?!<))
  | (?P<number>\$?\(\()
  | (?P<parameter>\$\{(?:[^{}]|\{\w*\})*\}?)
  | (?P<open>\$?\(|[<>]\()
  | (?P<close>\))
  | (?P<back>`)
  | (?P<redirect>[<>]+[&|]?)
  | (?P<end>[;&|\n])
  | (?P<blank>[ \t\r]+)
  | (?P<placeholder>\{(?:arm|seed|item|trial|pull)\})
  | (?P<letter>.)
    """,
    re.DOTALL | re.VERBOSE,
)


class Misplaced(InvalidSpec):
    """A placeholder stands where its value could be read as code."""

    def __init__(self, name: str, problem: str, advice: str) -> None:
        super().__init__(f"{{{name}}} {problem}. {advice}")


@dataclass(frozen=True, slots=True)
class ShellLine:
    """A text for a shell.

    pieces      text, the placeholder after it ("" behind the last), and whether quotes are needed there
    commands    the words of its simple commands, without quotes and redirections
    """

    pieces: tuple[tuple[str, str, bool], ...]
    commands: tuple[tuple[str, ...], ...]
    names: frozenset[str]

    def filled(self, known: Mapping[str, str]) -> str:
        """The text with variables for the placeholders that are known, and others as they are."""
        made = ""
        for text, name, quoted in self.pieces:
            reference = f'"$RAMGAPE_{name.upper()}"' if quoted else f"$RAMGAPE_{name.upper()}"
            made += text + (reference if name in known else f"{{{name}}}" if name else "")
        return made


def names_in(text: str) -> list[str]:
    """The placeholders of a text, in their order."""
    return PLACEHOLDER.findall(text)


@dataclass
class _Frame:
    """The command being read, inside any number of others."""

    words: list[str] = field(default_factory=list)
    word: str | None = None
    is_target: bool = False  # the word is that of a redirection
    cases: int = 0  # whose patterns end with ")"
    backquoted: bool = False


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.frames = [_Frame()]
        self.commands: list[tuple[str, ...]] = []
        self.pieces: list[tuple[str, str, bool]] = []
        self.done = 0  # so much of the text is in pieces

    def read(self) -> ShellLine:
        at = 0
        while at < len(self.text):
            found = _TOKEN.match(self.text, at)
            assert found is not None
            at = getattr(self, f"_{found.lastgroup}")(found) or found.end()
        while self.frames:
            self._end_command()
            self.frames.pop()
        self.pieces.append((self.text[self.done :], "", False))
        names = frozenset(name for _, name, _ in self.pieces if name)
        return ShellLine(tuple(self.pieces), tuple(self.commands), names)

    def _add(self, text: str) -> None:
        frame = self.frames[-1]
        frame.word = (frame.word or "") + text

    def _end_word(self) -> None:
        frame = self.frames[-1]
        if frame.word is None:
            return
        if not frame.is_target:
            frame.words.append(frame.word)
            frame.cases += (frame.words == ["case"]) - (frame.word == "esac" and frame.cases > 0)
        frame.word, frame.is_target = None, False

    def _end_command(self) -> None:
        self._end_word()
        if words := self.frames[-1].words:
            self.commands.append(tuple(words))
            self.frames[-1].words = []

    def _put(self, found: re.Match[str], quoted: bool) -> None:
        self.pieces.append((self.text[self.done : found.start()], found[0][1:-1], quoted))
        self.done = found.end()

    def _placeholder(self, found: re.Match[str]) -> None:
        self._put(found, True)
        self._add(found[0])

    def _letter(self, found: re.Match[str]) -> None:
        self._add(found[0])

    def _escape(self, found: re.Match[str]) -> None:
        _refuse(found[0], "stands behind a backslash")
        if found[0] != "\\\n":
            self._add(found[0][1:])

    def _quote(self, found: re.Match[str]) -> None:
        part = found[0]
        if part.endswith('"') and (part.count("$(") > part.count(")") or part.count("`") % 2):
            part = self.text[found.start() :]  # quotes inside quotes: these may end anywhere
        _refuse(part, "stands inside quotes")
        self._add(found[0].lstrip("$").strip("\"'"))

    def _comment(self, found: re.Match[str]) -> None:
        for each in PLACEHOLDER.finditer(self.text, found.start(), found.end()):
            self._put(each, True)

    def _document(self, found: re.Match[str]) -> None:
        _refuse(self.text[found.end() :].partition("\n")[2], "stands in a here-document")
        self._redirect(found)

    def _number(self, found: re.Match[str]) -> int:
        depth, end = 2, found.end()
        while end < len(self.text) and depth:
            depth += {"(": 1, ")": -1}.get(self.text[end], 0)
            end += 1
        for each in PLACEHOLDER.finditer(self.text, found.end(), end):
            if each[1] != "seed":
                advice = "A shell would compute it, and bash runs code in it."
                raise Misplaced(each[1], "stands in ((...))", advice)
            self._put(each, False)
        self._add("$(())")
        return end

    def _parameter(self, found: re.Match[str]) -> None:
        _refuse(found[0], "stands in ${...}")
        self._add(found[0])

    def _open(self, found: re.Match[str]) -> None:
        if found[0] == "(":
            self._end_command()
        self.frames.append(_Frame())

    def _close(self, found: re.Match[str]) -> None:
        self._end_command()
        if not self.frames[-1].cases and len(self.frames) > 1:
            self.frames.pop()
            self._add("$()")

    def _back(self, found: re.Match[str]) -> None:
        if self.frames[-1].backquoted:
            self._end_command()
            self.frames.pop()
            self._add("$()")
        else:
            self.frames.append(_Frame(backquoted=True))

    def _redirect(self, found: re.Match[str]) -> None:
        if (self.frames[-1].word or "").isdecimal():
            self.frames[-1].word = None
        self._end_word()
        self.frames[-1].is_target = True

    def _end(self, found: re.Match[str]) -> None:
        self._end_command()

    def _blank(self, found: re.Match[str]) -> None:
        self._end_word()


def _refuse(text: str, problem: str) -> None:
    if found := names_in(text):
        name = found[0]
        outside = f"Write it outside of quotes, as in ./trial {{{name}}}"
        inside = f"inside double quotes, and in a script inside quotes, write $RAMGAPE_{name.upper()}"
        raise Misplaced(name, problem, f"{outside}; {inside}.")


def read_line(text: str) -> ShellLine:
    """Take a text for a shell apart.

    >>> read_line("awk '{print $1}' {arm} > {seed}.txt; x=$(date) ./a {arm}").commands
    (('awk', '{print $1}', '{arm}'), ('date',), ('x=$()', './a', '{arm}'))
    >>> read_line("sh -c 'solve {arm}'")
    Traceback (most recent call last):
    ramgape.commands.shell_lines.Misplaced: {arm} stands inside quotes.
    Write it outside of quotes, as in ./trial {arm};
    inside double quotes, and in a script inside quotes, write $RAMGAPE_ARM.
    """
    return _Reader(text).read()
