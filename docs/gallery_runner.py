"""Run the scripts of the gallery and write their pages: `make gallery`.

    python docs/gallery_runner.py             those whose script, data, code or libraries are no longer the same
    python docs/gallery_runner.py barley      these, in any case
    python docs/gallery_runner.py --check     run nothing; name the pages that are not of the present code

A script in docs/gallery is in blocks that begin with `# %%`, as editors and notebooks know them; `# %% [markdown]`
begins one of text. Each script runs in a process and a folder of its own, with a time limit. Its page has the blocks in
their order, each with what it printed; the pictures it saved go to docs/gallery/images, and its text must show them.

Pages and pictures are committed, so that the site is built offline within seconds, and a change of either is seen in
the commit that causes it. docs/gallery/digests.json says what they were made of.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import io
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

GALLERY = Path(__file__).resolve().parent / "gallery"
# In the order of the index; of each script the tables that it reads.
EXAMPLES: dict[str, tuple[str, ...]] = {
    "flights": ("flights",),
    "models": (),
    "stocks": ("prices",),
    "portfolios": ("portfolios",),
    "hyperparameters": ("settings",),
    "sorting": (),
    "prompts": ("prompts",),
    "barley": ("barley",),
}
LIBRARIES = ("matplotlib", "pandas", "scikit-learn")  # besides those that every result names
LIMIT = 600.0  # seconds for a script
INTRODUCTION = """# Gallery

Eight questions on real data, each with the lines that answer it, what they show and what they do not prove. Every page
is the output of a script beside it, which ends with an assertion of what the page says. The scripts run at a small
scale with the tests, and in full by `make gallery`. Nothing is fetched: data come with packages that are installed, or
are recorded here."""
PICTURE = re.compile(r"\]\(images/([^)]+)\)")


def blocks_of(script: Path) -> list[tuple[bool, str]]:
    """The blocks of a script: whether it is text, and what stands in it."""
    found = []
    for part in re.split(r"^# %%", script.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
        head, _, body = part.partition("\n")
        is_text = head.strip() == "[markdown]"
        found.append((is_text, re.sub(r"^# ?", "", body, flags=re.MULTILINE).strip() if is_text else body.strip("\n")))
    return found


@contextlib.contextmanager
def importing_from(folder: Path) -> Iterator[None]:
    """As Python does for a script: what stands beside it can be imported."""
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.path.remove(str(folder))


def execute(script: Path) -> list[str]:
    """Run the blocks of a script here, in one namespace: what each of them has printed."""
    namespace, printed = {"__name__": "__main__", "__file__": str(script)}, []
    for is_text, body in blocks_of(script):
        with importing_from(script.parent), contextlib.redirect_stdout(io.StringIO()) as stream:
            if not is_text:
                exec(compile(body, str(script), "exec"), namespace)
        printed.append(stream.getvalue())
    return printed


def run(script: Path, folder: Path, limit: float = LIMIT) -> list[str]:
    """The same in a process and a folder of its own; whatever it has started ends with it."""
    command = [sys.executable, str(Path(__file__).resolve()), "--execute", str(script)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, cwd=folder, start_new_session=True, **pipes) as process:
        try:
            printed, errors = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            raise SystemExit(f"{script.name} takes more than {limit:g} seconds") from None
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
    if process.returncode != 0:
        raise SystemExit(f"{script.name} has failed:\n{errors}")
    return list(json.loads(printed.splitlines()[-1]))


def page_of(script: Path, printed: Iterable[str]) -> str:
    """MyST: the text as it is, the code with what it has printed."""
    parts = [f"<!-- Written by docs/gallery_runner.py: change {script.name}, then `make gallery`. -->"]
    for (is_text, body), shown in zip(blocks_of(script), printed, strict=True):
        parts.append(body if is_text else f"```python\n{body}\n```")
        if shown:
            lines = "\n".join(line.rstrip() for line in shown.rstrip().splitlines())
            parts.append(f"```text\n{lines}\n```")
    return "\n\n".join(parts) + "\n"


def digest_of(files: Iterable[Path]) -> str:
    """Of what is in files, in their order."""
    return hashlib.sha256(b"".join(hashlib.sha256(file.read_bytes()).digest() for file in files)).hexdigest()[:24]


def made_of(name: str) -> dict[str, Any]:
    """All that a page is a function of."""
    from ramgape.core.kernel import PACKAGE
    from ramgape.search.explained import versions

    with importing_from(GALLERY):
        import recorded
    sources = sorted(file for file in PACKAGE.rglob("*") if file.suffix in (".py", ".json"))
    return {
        "script": digest_of([GALLERY / f"{name}.py", GALLERY / "recorded.py"]),
        "data": digest_of(recorded.file_of(table) for table in EXAMPLES[name]),
        "code": digest_of(sources),
        "libraries": {**versions(), **{each: metadata.version(each) for each in LIBRARIES}},
    }


def pictures_of(name: str) -> list[str]:
    """The pictures that the text of a script shows."""
    return [
        picture for is_text, body in blocks_of(GALLERY / f"{name}.py") if is_text for picture in PICTURE.findall(body)
    ]


def files_of(name: str) -> list[Path]:
    """The page of a script and its pictures."""
    return [GALLERY / f"{name}.md", *(GALLERY / "images" / picture for picture in pictures_of(name))]


def known() -> dict[str, Any]:
    """What the pages that are there were made of."""
    try:
        return dict(json.loads((GALLERY / "digests.json").read_text(encoding="utf-8")))
    except FileNotFoundError:
        return {}


def stale(name: str, parts: Iterable[str] = ("script", "data", "code", "libraries")) -> list[str]:
    """Why a page is not what its script would make now; "page" if it, or a picture, is not as it was written."""
    noted, now = known().get(name, {}), made_of(name)
    missing = not all(file.exists() for file in files_of(name))
    changed = missing or noted.get("page") != digest_of(files_of(name))
    return [part for part in parts if noted.get(part) != now[part]] + ["page"] * changed


def make(name: str) -> None:
    """Run a script, and write its page, its pictures and what they were made of."""
    from ramgape.simulation.kept import write_whole

    script, made = GALLERY / f"{name}.py", made_of(name)
    with tempfile.TemporaryDirectory() as folder:
        printed = run(script, Path(folder))
        saved = {file.name: file.read_bytes() for file in Path(folder).glob("*.[sp][vn]g")}
    if sorted(saved) != sorted(pictures_of(name)):
        raise SystemExit(f"{script.name} saves {sorted(saved)} and shows {sorted(pictures_of(name))}")
    for picture, content in saved.items():
        write_whole(GALLERY / "images" / picture, content)
    write_whole(GALLERY / f"{name}.md", page_of(script, printed))
    noted = {**known(), name: {**made, "page": digest_of(files_of(name))}}
    write_whole(GALLERY / "digests.json", json.dumps(noted, indent=2, sort_keys=True) + "\n")


def index() -> str:
    """The first page: of each example its name, its question and its picture."""
    parts = [INTRODUCTION]
    for name in EXAMPLES:
        heading, question = blocks_of(GALLERY / f"{name}.py")[0][1].split("\n\n")[:2]
        parts += [f"## [{heading.removeprefix('# ')}]({name}.md)", question]
        parts.append(f"[![{heading.removeprefix('# ')}](images/{pictures_of(name)[0]})]({name}.md)")
    return "\n\n".join([*parts, "```{toctree}\n:hidden:\n\n" + "\n".join(EXAMPLES) + "\n```"]) + "\n"


def main() -> None:
    """Do what is asked for."""
    parser = argparse.ArgumentParser(prog="python docs/gallery_runner.py", description="Make the pages of the gallery.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these, whether or not they have changed")
    parser.add_argument("--check", action="store_true", help="run nothing; fail if a page is not of the present code")
    parser.add_argument("--execute", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.execute:
        print(json.dumps(execute(given.execute)))
        return
    reasons = {name: stale(name) for name in EXAMPLES}
    if given.check:
        sys.exit("\n".join(f"{name}: other {', '.join(each)}" for name, each in reasons.items() if each) or None)
    for name in given.names or EXAMPLES:
        if given.names or reasons[name]:
            print(f"{name}: {', '.join(reasons[name]) or 'asked for'}", flush=True)
            make(name)
    (GALLERY / "index.md").write_text(index(), encoding="utf-8")


if __name__ == "__main__":
    main()
