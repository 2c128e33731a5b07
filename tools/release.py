"""`make release VERSION=x.y.z`: look whether a version can go out, build it, try what was built, tag it.

Nothing is uploaded and nothing is pushed; the last lines say how. Whatever is wrong is said at once, and nothing is
tagged before all is right. What is built is what was committed, unpacked elsewhere: no file that lies about here can
get into it, or be missed.
"""

from __future__ import annotations

import argparse
import datetime as dt
import email
import io
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import venv
import zipfile
from collections.abc import Iterator
from pathlib import Path

from tools.readme import relative_addresses

ROOT = Path(__file__).resolve().parents[1]
NUMBER = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)")
SECTION = re.compile(r"^## \[(?P<version>[^]]+)\] - (?P<date>.+)$", re.MULTILINE)


class Refused(Exception):
    """The version cannot go out; the reasons, one a line."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="make release", description="Check, build, try and tag a version.")
    parser.add_argument("version", help="as in make release VERSION=0.2.0")
    asked = parser.parse_args().version
    try:
        release(ROOT, asked)
    except Refused as error:
        sys.exit(f"{error}\nnothing is tagged")


def release(root: Path, version: str) -> None:
    """All of it, for the checkout at `root`."""
    say(f"checking {version or 'the version'}")
    if found := [*about_numbers(root, version), *about_checkout(root, version)]:
        raise Refused("\n".join(found))
    with tempfile.TemporaryDirectory() as made:
        here = Path(made)
        sources, built = here / "sources", here / "built"
        unpack(root, sources)
        say("building the source archive, and the wheel from it")
        call(sys.executable, "-m", "build", "--no-isolation", "--outdir", built, sources, cwd=here)
        (wheel,) = built.glob("*.whl")
        if found := list(about_wheel(wheel, version)):
            raise Refused("\n".join(found))
        say("trying the wheel alone, in a fresh environment")
        try_wheel(wheel, version, sources / "constraints.txt", here)
        call("git", "tag", "--annotate", f"v{version}", "--message", f"ramgape {version}", cwd=root)
        (root / "dist").mkdir(exist_ok=True)
        files = [shutil.copy(file, root / "dist") for file in sorted(built.iterdir())]
    for file in files:
        say(f"built   {Path(file).relative_to(root)}")
    say(f"tagged  v{version}\nwhat is left: git push origin v{version}, and an upload of these two files")


# ---------------------------------------------------------------------------------------- what may be wrong


def about_numbers(root: Path, version: str) -> Iterator[str]:
    """Where the number, or the day, is not the one that goes out."""
    if not NUMBER.fullmatch(version):
        yield f"VERSION must be three numbers, as in make release VERSION=0.2.0, got {version!r}"
        return
    stated = {"pyproject.toml": project_version(root), "CITATION.cff": cited(root, "version")}
    sections = list(SECTION.finditer((root / "CHANGELOG.md").read_text(encoding="utf-8")))
    stated["CHANGELOG.md (its first section)"] = sections[0]["version"] if sections else ""
    for place, number in stated.items():
        if number != version:
            yield f"{place} says {number or 'nothing'}, not {version}"
    day = sections[0]["date"] if sections else ""
    try:
        dt.date.fromisoformat(day)
    except ValueError:
        yield f"CHANGELOG.md (its first section) must have a day such as 2026-11-17, got {day!r}"
    if cited(root, "date-released") != day:
        yield f"CITATION.cff was released on {cited(root, 'date-released') or 'no day'}, CHANGELOG.md says {day!r}"


def about_checkout(root: Path, version: str) -> Iterator[str]:
    """What is not committed, and a tag that is there already."""
    if changed := call("git", "status", "--porcelain", cwd=root).splitlines():
        yield "\n".join(["not committed:", *(f"  {line}" for line in changed)])
    if call("git", "tag", "--list", f"v{version}", cwd=root).strip():
        yield f"there is a tag v{version} already"


def about_wheel(wheel: Path, version: str) -> Iterator[str]:
    """What an index would refuse, or show wrongly."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (each for each in archive.namelist() if each.endswith(".dist-info/METADATA"))
        metadata = email.message_from_bytes(archive.read(name))
    if metadata["Version"] != version:
        yield f"the wheel says {metadata['Version']}, not {version}"
    if not (metadata["Description-Content-Type"] or "").startswith("text/markdown"):
        yield f"the README is Markdown, and the wheel calls it {metadata['Description-Content-Type']}"
    readme = metadata.get_payload(decode=True)
    assert isinstance(readme, bytes)
    if addresses := relative_addresses(readme.decode("utf-8")):
        yield "addresses in the README that lead nowhere from an index:\n  " + "\n  ".join(addresses)
    for label in metadata.get_all("Project-URL", []):
        if not re.fullmatch(r"[^,]{1,32}, https://\S+", label):
            yield f"a project's address must be a label and https://..., got {label!r}"


# ---------------------------------------------------------------------------------------- the parts


def project_version(root: Path) -> str:
    """The only place where the version is stated for the program: `ramgape.__version__` is what was installed of it."""
    return str(tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"])


def cited(root: Path, key: str) -> str:
    """A value at the top of CITATION.cff."""
    text = (root / "CITATION.cff").read_text(encoding="utf-8")
    found = re.search(rf"^{re.escape(key)}: *(.*?) *$", text, flags=re.MULTILINE)
    return found[1].strip("\"'") if found else ""


def unpack(root: Path, folder: Path) -> None:
    """What was committed, in a folder of its own."""
    archive = subprocess.run(["git", "archive", "--format=tar", "HEAD"], cwd=root, capture_output=True, check=True)
    with tarfile.open(fileobj=io.BytesIO(archive.stdout)) as files:
        files.extractall(folder, filter="data")


def try_wheel(wheel: Path, version: str, constraints: Path, folder: Path) -> None:
    """Install the wheel where nothing else is, and ask it for its version and for the data that it brings."""
    fresh = folder / "environment"
    venv.create(fresh, with_pip=True)
    programs = fresh / ("Scripts" if os.name == "nt" else "bin")
    call(programs / "python", "-m", "pip", "install", "-qq", "--constraint", constraints, wheel, cwd=folder)
    if (said := call(programs / "ramgape", "--version", cwd=folder)) != f"ramgape {version}\n":
        raise Refused(f"the installed wheel must say 'ramgape {version}', got {said!r}")
    call(programs / "ramgape", "list", "instances", cwd=folder)


def call(*command: str | Path, cwd: Path) -> str:
    """What a command prints; what it said, if it fails."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}
    done = subprocess.run([str(part) for part in command], cwd=cwd, env=clean, capture_output=True, text=True)
    if done.returncode:
        shown = " ".join(str(part) for part in command)
        raise Refused(f"{shown} failed:\n{done.stdout}{done.stderr}".rstrip())
    return done.stdout


def say(line: str) -> None:
    print(line, flush=True)


if __name__ == "__main__":
    main()
