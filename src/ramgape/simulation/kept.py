"""What was computed, kept on disk in files that say what they are, so that long work goes on where it was.

A file appears under its name only when it is complete (written elsewhere in the folder, then renamed), and it is taken
for a result only if it can be read and states the very work that is looked for: the same question, code and libraries.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ramgape.common.whole_files import replacing
from ramgape.core.kernel import PACKAGE
from ramgape.errors import InvalidSpec, require
from ramgape.search.explained import versions

# All that numbers can depend on, data included; texts, figures and stores may change without computing anything again.
NUMBERS = (
    "bounds",
    "common/checks.py",
    "common/exact.py",
    "common/extras.py",
    "common/files.py",
    "common/lazy.py",
    "common/old_names.py",
    "common/parsing.py",
    "common/whole_files.py",
    "core",
    "assumptions.py",
    "options.py",
    "paper/jobs.py",
    "paper/statistics.py",
    "data",
    "policies",
    "problems",
    "questions",
    "registry.py",
    "risks",
    "search",
    "simulation",
    "statistics",
    "trials",
)


class KeptFiles:
    """A folder of outcomes, plain data each."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    @classmethod
    def open(cls, folder: Any, what: str) -> KeptFiles:
        """The folder, or an error that says why there can be none.

        Args:
            folder: Where; it is made if it is not there.
            what: How the user calls it.
        """
        allowed = "a folder that can be written"
        require(isinstance(folder, str | os.PathLike) and str(folder) != "", what, allowed, folder)
        try:
            return cls(Path(folder))
        except (OSError, ValueError) as error:
            reason = f": {getattr(error, 'strerror', None) or error}"
            raise InvalidSpec(what=what, allowed=allowed, given=repr(str(folder)), hint=reason) from None

    def load(self, name: str, identity: Mapping[str, Any]) -> Any:
        """What is kept under a name, or None if it is not there, or not whole, or of other work."""
        try:
            content = json.loads((self.folder / f"{name}.json").read_text(encoding="utf-8"))
            return content["outcome"] if content["identity"] == identity else None
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def save(self, name: str, identity: Mapping[str, Any], outcome: Any) -> None:
        """Keep an outcome."""
        write_whole(self.folder / f"{name}.json", json.dumps({"identity": identity, "outcome": outcome}))

    def names(self, beginning: str) -> list[str]:
        """The names that begin so, in their order."""
        return sorted(path.stem for path in self.folder.glob(f"{beginning}*.json"))


def identity(**work: Any) -> dict[str, Any]:
    """All that an outcome is a function of, as it would be read from a file: what is asked, the code, the libraries."""
    described: dict[str, Any] = json.loads(json.dumps(work))
    return {**described, **makers()}


def digest(named: Mapping[str, Any]) -> str:
    """A short name for an identity."""
    return hashlib.sha256(json.dumps(named, sort_keys=True).encode()).hexdigest()[:24]


@functools.cache
def makers() -> dict[str, Any]:
    """The libraries, and a digest of the sources and data that numbers can depend on."""
    code = hashlib.sha256()
    for file in sources():
        code.update(file.relative_to(PACKAGE).as_posix().encode())
        code.update(file.read_bytes())
    return {"libraries": versions(), "code": code.hexdigest()}


def sources() -> Iterator[Path]:
    """The files that numbers can depend on, always in the same order."""
    for part in NUMBERS:
        path = PACKAGE / part
        files = sorted(path.rglob("*")) if path.is_dir() else [path]
        yield from (file for file in files if file.suffix in (".py", ".json"))


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a file so that whoever looks finds the old one or the new one, never a part."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as part:
        part.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)
