"""Placeholders of commands: {arm}, {seed}, {item} and {trial}, filled in so that no value is ever read as code.

Names of arms, items and, on a worker, all that a server sends may be hostile. So there are two ways to pass them on:

words   Each word of a command that is a list goes to the program as it is. No shell reads it.
lines   In text for a shell a placeholder becomes "$RAMGAPE_ARM", and the value stands in the environment. That holds
        for a line, and for the script of `sh -c SCRIPT` in a list of words, wherever it stands (behind env, timeout).
        ssh joins its words to a line for a shell elsewhere, which has no such variables: they are set there, quoted,
        before the line. The same goes for `sh -c` behind programs that may not pass variables on (docker, sudo).

A value that a shell expands may still be read as code by something else: eval, sh -c {arm}, python -c, awk, arithmetic
in bash, a second ssh, a shell at the end of a pipe. `parse_command` refuses placeholders in these places. It finds them
without running a shell, from what the user wrote alone. Programs that it does not know get values as plain arguments.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import PurePath
from typing import NamedTuple

from ramgape.commands.shell_lines import PLACEHOLDER, Misplaced, ShellLine, names_in, read_line
from ramgape.errors import FailingArm, InvalidSpec, RamgapeError, shorten

Command = str | tuple[str, ...]  # for the shell, or words


class Interpreter(NamedTuple):
    """How a program gets the program that it runs.

    pattern    its names
    code       letters of options whose next word is program text; of shells, options by which the first operand is
    takes      letters of options that take the next word
    first      the first operand is program text, unless an option has it or names its file
    """

    pattern: re.Pattern[str]
    code: str
    takes: str = ""
    first: bool = False


SHELL = Interpreter(re.compile(r"(ba|da|z|k|mk|a|rba|fi|c|tc)?sh|\$\{?(SHELL|BASH)\}?"), "c", "oO")
INTERPRETERS = (
    SHELL,
    Interpreter(re.compile(r"(python|pypy)[\d.]*"), "c", "WX"),
    Interpreter(re.compile(r"(perl|ruby|lua|luajit|julia|Rscript|R|osascript)[\d.]*"), "eE", "IrC"),
    Interpreter(re.compile(r"node|nodejs|bun|deno"), "ep", "rC"),
    Interpreter(re.compile(r"php[\d.]*"), "rBRE", "dc"),
    Interpreter(re.compile(r"pwsh|powershell"), "cC"),
    Interpreter(re.compile(r"[gmn]?awk"), "e", "Fv", first=True),
    Interpreter(re.compile(r"g?sed"), "e", "l", first=True),
)
CODE_WORDS = ("--eval", "--print", "--run", "--source", "--expression", "--command", "-Command")
TAKING_WORDS = ("--rcfile", "--init-file", "--require", "--import")
# Programs and builtins of shells that read their words, or some of them, as code.
READ_AS_CODE = {"su", "runuser", "sg", "script", "watch", "parallel", "make", "gmake", "at", "rsh", "mosh", "tmux"}
CODE_OPTIONS = {"flock": ("-c", "--command"), "sbatch": ("--wrap",)}  # of programs that run the next word in a shell
BUILTINS = {"eval", "trap", "alias", "let", "declare", "typeset", "[["}
NAMING = {
    "export",
    "readonly",
    "local",
    "unset",
    "read",
    "mapfile",
    "readarray",
    "getopts",
}  # variables, by their words
# Programs that run another: their options that take a word, and how many words they take before it.
WRAPPERS: dict[str, tuple[tuple[str, ...], int]] = {
    "env": (("-u", "-C", "--unset", "--chdir"), 0),
    "nice": (("-n", "--adjustment"), 0),
    "timeout": (("-k", "-s", "--kill-after", "--signal"), 1),
    "stdbuf": (("-i", "-o", "-e", "--input", "--output", "--error"), 0),
    "time": (("-f", "-o", "--format", "--output"), 0),
    "ionice": (("-c", "-n", "--class", "--classdata"), 0),
    "sudo": (("-u", "-g", "-h", "-p", "-C", "-D", "-R", "-T"), 0),
    "xargs": (("-a", "-d", "-E", "-I", "-L", "-n", "-P", "-s"), 0),
    "exec": (("-a",), 0),
} | dict.fromkeys(("nohup", "setsid", "command", "builtin", "doas", "busybox"), ((), 0))
CLEARING = {"sudo", "doas", "-i", "-", "--ignore-environment"}  # words behind which variables are gone
BEFORE_COMMANDS = {"if", "then", "else", "elif", "while", "until", "do", "!", "{", "}", "fi", "done", "esac"}
NOT_COMMANDS = {"case", "for", "select", "function"}
ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=", re.ASCII)
SUBSCRIPT = re.compile(r"[A-Za-z_]\w*\[", re.ASCII)
SSH_TAKES = "BbcDEeFIiJLlmOopPQRSWw"


@dataclass(frozen=True, slots=True)
class Exported:
    """A line for a shell that may have none of our variables: on another machine, in a container, behind sudo."""

    line: ShellLine

    def filled(self, words: Mapping[str, str]) -> str:
        """The line, after the variables that it needs."""
        text = self.line.filled(words)
        needed = [f"{variable_of(name)}={quote(value)}" for name, value in words.items() if variable_of(name) in text]
        return f"export {' '.join(needed)}; {text}" if needed else text


@dataclass(frozen=True, slots=True)
class Form:
    """A command taken apart: words, of which some are text for a shell; or a line alone.

    files    names of the placeholders that are part of the path of a program
    """

    parts: tuple[str | ShellLine | Exported, ...]
    files: frozenset[str]


def variable_of(name: str) -> str:
    """The variable that has the value of a placeholder."""
    return f"RAMGAPE_{name.upper()}"


def quote(text: str) -> str:
    r"""A text as one word for sh, bash, dash, ksh, zsh and fish, which read a backslash in single quotes differently.

    >>> print(quote("a b"), quote("it's"), quote("\\"))
    'a b' 'it'"'"'s' ''"\\"''
    """
    return "'" + re.sub(r"['\\]", lambda found: "'\"" + ("\\\\" if found[0] == "\\" else "'") + "\"'", text) + "'"


def fill(command: Command, words: Mapping[str, str]) -> str | list[str]:
    """The command of one trial. Braces around anything else are left alone: awk has its own use for them.

    >>> fill("./solve data-{seed}.txt > {arm}.log", {"arm": "quick; rm *", "seed": "7"})
    './solve data-"$RAMGAPE_SEED".txt > "$RAMGAPE_ARM".log'
    >>> fill(("./solve", "--{arm}", "{seed}"), {"arm": "quick; rm *", "seed": "7"})
    ['./solve', '--quick; rm *', '7']
    >>> fill(("timeout", "9", "sh", "-c", "./solve {arm} | tail -1"), {"arm": "quick; rm *"})
    ['timeout', '9', 'sh', '-c', './solve "$RAMGAPE_ARM" | tail -1']
    >>> fill(("ssh", "host", "./solve", "{arm}"), {"arm": "quick; rm *"})[-1]
    'export RAMGAPE_ARM=\\'quick; rm *\\'; ./solve "$RAMGAPE_ARM"'
    """
    form = parse_command(command)
    for name in form.files & words.keys():
        check_file_name(name, words[name])
    filled = [_put_in(part, words) if isinstance(part, str) else part.filled(words) for part in form.parts]
    return filled[0] if isinstance(command, str) else filled


def _put_in(word: str, words: Mapping[str, str]) -> str:
    return PLACEHOLDER.sub(lambda found: words.get(found[1], found[0]), word)


def check_file_name(name: str, value: str, error: type[RamgapeError] = FailingArm) -> None:
    """Complain about a value that would choose a program in another folder than the user wrote."""
    if "/" in value or not value:
        hint = f": {{{name}}} is part of the path of the program"
        raise error(what=name, allowed="the name of a file, without /", given=shorten(value), hint=hint)


@lru_cache(256)
def parse_command(command: Command) -> Form:
    """Take a command apart.

    Raises:
        Misplaced: A placeholder stands where its value could be read as code.
    """
    if not isinstance(command, str):
        return _parse_words(command)
    line = read_line(command)
    if os.name != "posix" and line.names - {"seed"}:
        name = min(line.names - {"seed"})
        raise Misplaced(name, "stands in a line for the shell", "On Windows, write the command as a list of words.")
    return Form((line,), _check_line(line))


def _parse_words(words: tuple[str, ...]) -> Form:
    parts: list[str | ShellLine | Exported] = list(words)
    program = _start_of_program(words)
    files = _check_program(words, program)
    clears = CLEARING.intersection(map(base, words[:program]))
    for at, word in enumerate(words):
        how = interpreter(word)
        if base(word) == "ssh" and (start := _remote_start(words, at)) < len(words):
            line = read_line(" ".join(words[start:]))
            return Form((*parts[:start], Exported(line)), files | _check_line(line))
        if how is SHELL and (start := _script_start(words, at)) < len(words):
            line = read_line(words[start])
            parts[start] = line if at == program and not clears else Exported(line)
            files |= _check_line(line)
        elif how is not None:
            _check_code(words, at, how)
    return Form(tuple(parts), files)


def _check_line(line: ShellLine) -> frozenset[str]:
    """Complain about a line whose placeholders may be read as code; those that are part of a program's path."""
    if not line.names:
        return frozenset()
    return frozenset[str]().union(*map(_check_simple, line.commands))


def _check_simple(words: Sequence[str]) -> frozenset[str]:
    """The same for a simple command of a line, in which there are placeholders."""
    if found := first_name(word for word in words if SUBSCRIPT.match(word)):
        raise Misplaced(found, "stands in an index of an array", "bash computes an index, and runs code in it.")
    if words[0] in NOT_COMMANDS:
        return frozenset()
    start = _start_of_program(words, True)
    files = _check_program(words, start)
    if start < len(words):
        _check_builtin(words[start], words[start + 1 :])
        _check_input(words, start)
    for at, word in enumerate(words):
        how = interpreter(word)
        if base(word) == "ssh" and (found := first_name(words[_remote_start(words, at) :])):
            advice = "Write the command as a list of words, without a shell before ssh."
            raise Misplaced(found, "would be read as code by the shell at the other end of ssh", advice)
        if how is SHELL and (found := first_name(words[(start := _script_start(words, at)) : start + 1])):
            advice = f"Pass it as an argument: {word} -c './trial \"$1\"' {word} {{{found}}}."
            raise Misplaced(found, f"would be read as code by {word}", advice)
        if how not in (None, SHELL):
            _check_code(words, at, how)
    return files


def base(word: str) -> str:
    """The name of a program, without its folder."""
    return PurePath(word).name


def interpreter(word: str) -> Interpreter | None:
    """How a program gets the program that it runs; None for one that is known to run none."""
    return next((each for each in INTERPRETERS if each.pattern.fullmatch(base(word))), None)


def first_name(words: Iterable[str]) -> str | None:
    """The first placeholder of some words."""
    return next((name for word in words for name in names_in(word)), None)


def _refuse(words: Iterable[str], program: str) -> None:
    """Complain about a placeholder in words that a program reads as code."""
    if found := first_name(words):
        advice = (
            f"Read the environment variable {variable_of(found)} in the program, or pass {{{found}}} as an argument."
        )
        raise Misplaced(found, f"would be read as code by {program}", advice)


def _start_of_program(words: Sequence[str], assignments: bool = False) -> int:
    """Where the program stands, behind variables and programs that run others."""
    at = 0
    while at < len(words):
        if (assignments and ASSIGNMENT.match(words[at])) or (assignments and words[at] in BEFORE_COMMANDS):
            at += 1
        elif base(words[at]) in WRAPPERS:
            assignments = assignments or base(words[at]) in ("env", "sudo", "doas")
            at = _after_wrapper(words, at)
        else:
            break
    return at


def _after_wrapper(words: Sequence[str], at: int) -> int:
    """Where the words end that a program which runs another takes for itself."""
    takes, operands = WRAPPERS[base(words[at])]
    program, at = words[at], at + 1
    while at < len(words) and words[at].startswith("-"):
        splits = words[at] in ("-S", "--split-string")
        _refuse(words[at : at + 1 + splits], program)
        at += 2 if words[at] in takes else 1
    _refuse((word for word in words[at : at + operands] if word.startswith("{")), program)  # it may be an option
    return at + operands


def _check_program(words: Sequence[str], at: int) -> frozenset[str]:
    """Complain about a placeholder that chooses a program; those that are part of its path."""
    if at >= len(words):
        return frozenset()
    files, name, how = _check_file(words[at]), base(words[at]), interpreter(words[at])
    if name in READ_AS_CODE:
        _refuse(words[at + 1 :], name)
    for place, word in enumerate(words[at + 1 :], at + 1):
        option, joined, _ = word.partition("=")
        if option in CODE_OPTIONS.get(name, ()):
            _refuse(words[place : place + (1 if joined else 2)], name)
    if words[at] in (".", "source"):
        return files.union(*map(_check_file, words[at + 1 : at + 2]))
    if how is not None:
        checked, start, has_code = _program_text(words, at, how)
        _refuse(checked, name)
        if not has_code:
            files = files.union(*map(_check_file, words[start : start + 1]))
    return files


def _check_file(word: str) -> frozenset[str]:
    """The placeholders in the path of a program, which must follow a folder that the user wrote."""
    found = names_in(word)
    if found and "/" not in word[: word.index(f"{{{found[0]}}}")]:
        raise Misplaced(found[0], "would choose the program", f"Write its folder before it, as in ./{{{found[0]}}}.")
    return frozenset(found)


def _check_builtin(name: str, rest: Sequence[str]) -> None:
    """Complain about a placeholder that a builtin of a shell would read as code, or as the name of a variable."""
    if name in BUILTINS or (name in ("test", "[") and "-v" in rest):
        _refuse(rest, name)
    elif name in NAMING:
        _refuse((word for word in rest if not ASSIGNMENT.match(word)), name)
    elif name == "printf":
        _refuse(rest[:2] if rest[:1] == ("-v",) else rest[:1], name)


def _check_input(words: Sequence[str], at: int) -> None:
    """Complain about a program that runs what it reads from its input, in a line with placeholders."""
    how, name = interpreter(words[at]), base(words[at])
    if how is None and name != "ssh":
        return
    if how is None:
        reads = _remote_start(words, at) >= len(words)
    else:
        _, start, has_code = _program_text(words, at, how)
        options = words[at + 1 : start]
        informs = {"-V", "-v", "--version", "-h", "--help", "-m"}.intersection(options)
        reads = not (has_code or informs or how.first) and (words[start : start + 1] in ((), ("-",)) or "-s" in options)
    if reads:
        advice = f"Placeholders of the line may get there. Write the program to a file: {name} FILE {{arm}}."
        raise InvalidSpec(f"{name} runs what it reads from its input. {advice}")


def _program_text(words: Sequence[str], at: int, how: Interpreter) -> tuple[list[str], int, bool]:
    """What an interpreter reads as program text or options; its first operand; whether it has a program already."""
    checked: list[str] = []
    named, at = False, at + 1
    while at < len(words) and words[at][0:1] in ("-", "+") and len(words[at]) > 1:
        word = words[at]
        letters = "" if word.startswith("--") else word[1:]
        if word == "--":
            at += 1
            break
        given = (
            bool(letters) and letters[0] in how.takes
        )  # an option with a value, such as -W, and no letters of others
        code = word.startswith(CODE_WORDS) or (not given and (letters[-1:] or "-") in how.code)
        file = how.first and not given and ("f" in (letters[:1], letters[-1:]) or word.startswith("--file"))
        named = named or code or file or (how is SHELL and "c" in letters)
        takes = (letters[-1:] or "-") in how.takes or word in TAKING_WORDS or (file and letters[-1:] == "f")
        if not (how.first and given):  # awk -v name={arm} sets a variable
            checked.append(word)
        follows = code and how is not SHELL and "=" not in word
        if follows or (takes and not how.first):
            checked += words[at + 1 : at + 2]
        if follows and how.code == "c":  # of Python: the rest are arguments
            return checked, at + 2, True
        at += 2 if takes or follows else 1
    if how is SHELL or named or not how.first:
        return checked, at, named
    return [*checked, *words[at : at + 1]], at, True


def _check_code(words: Sequence[str], at: int, how: Interpreter) -> None:
    """Complain about a placeholder in the program text of an interpreter such as python -c, wherever it stands."""
    checked, _, has_code = _program_text(words, at, how)
    if has_code and not how.first:
        _refuse(checked, base(words[at]))


def _script_start(words: Sequence[str], at: int) -> int:
    """Where the script of `sh -c SCRIPT` stands; behind all words if this is none."""
    checked, start, has_code = _program_text(words, at, SHELL)
    if has_code:
        _refuse(checked, words[at])
    return start if has_code else len(words)


def _remote_start(words: Sequence[str], at: int) -> int:
    """Where the command stands that ssh hands on, behind options and the host."""
    at, hosts = at + 1, 0
    while at < len(words):
        word = words[at]
        taken = 1
        if word.startswith("-") and len(word) > 1:
            first = next((turn for turn, letter in enumerate(word) if turn and letter in SSH_TAKES), None)
            taken = 2 if first == len(word) - 1 else 1
        elif hosts:
            break
        else:
            hosts = 1
        if found := first_name(words[at : at + taken]):
            raise Misplaced(found, "stands in the options or the host of ssh", "Write these without placeholders.")
        at += taken
    return at
