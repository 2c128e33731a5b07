"""Run the pages again and rewrite what has changed: `python docs/refresh.py [--long] [PAGE ...]`.

Outputs are rewritten, and pictures: files of the same name that the blocks have saved. Lines "..." keep their place: as
many lines as before stand before the first and after the last of them. Blocks that the command cannot rewrite (several
"...", "about" a number) are listed, to be changed by hand.
"""

from __future__ import annotations

import argparse
import re
import shutil
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from docs.blocks import Block, commands_of, find_blocks, reading, same  # noqa: E402

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def rewritten(old: str, printed: str) -> str | None:
    """The block with what was printed; None if that takes a person."""
    lines, before = [line.rstrip() for line in printed.strip("\n").splitlines()], old.splitlines()
    gaps = [place for place, line in enumerate(before) if line.strip() == "..."]
    inline = any("..." in line for place, line in enumerate(before) if place not in gaps)
    varying = len(re.findall(r"about \d", old)) > len(re.findall(r"about \d", printed))
    if inline or varying or len(gaps) > 1:
        return None
    if gaps:
        last = len(before) - gaps[0] - 1
        lines = [*lines[: gaps[0]], "...", *(lines[-last:] if last else [])]
    return "\n".join(lines) + "\n"


def refresh(page: Path, whole: bool) -> list[str]:
    """Run a page and rewrite its outputs; returns what is left to do by hand."""
    text = page.read_text(encoding="utf-8")
    lines, left = text.splitlines(keepends=True), []
    changed: list[tuple[Block, str]] = []
    name = page.relative_to(ROOT).as_posix()
    with tempfile.TemporaryDirectory() as folder, reading(name, Path(folder), sources=ROOT / "src") as reader:
        for block in find_blocks(text):
            if "output" in block.marks:
                if reader.printed is not None and not same(block.text, reader.printed):
                    new = rewritten(block.text, reader.printed)
                    if new is None:
                        left.append(f"{name}:{block.line} printed\n{reader.printed}")
                    else:
                        changed.append((block, new))
                continue
            if block.language == "console" and block.runs and (whole or "long" not in block.marks):
                parts = []
                for command, output in commands_of(block.text):
                    reader.run(Block(block.line, "sh", command))
                    printed = reader.printed or ""
                    new = output if not output or same(output, printed) else rewritten(output, printed)
                    left += [f"{name}:{block.line} printed\n{printed}"] * (new is None)
                    parts.append(f"$ {command}{output if new is None else new}")
                if "".join(parts) != block.text:
                    changed.append((block, "".join(parts)))
                continue
            reader.run(block, whole)
        for link in re.findall(r"!\[[^\]]*\]\(([^)]+)\)", text):
            if (saved := Path(folder) / Path(link).name).exists():
                (page.parent / link).parent.mkdir(exist_ok=True)
                shutil.copyfile(saved, page.parent / link)
    for block, new in reversed(changed):
        lines[block.line : block.end - 1] = [new]
    if changed:
        page.write_text("".join(lines), encoding="utf-8")
        sys.stdout.write(f"{name}: {len(changed)} outputs rewritten\n")
    return left


def main() -> int:
    """Refresh the pages that are named, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pages", nargs="*", type=Path, metavar="PAGE")
    parser.add_argument("--long", action="store_true", help="run the long blocks, too")
    given = parser.parse_args()
    left = []
    for page in [each.resolve() for each in given.pages] or PAGES:
        if any(block.runs for block in find_blocks(page.read_text(encoding="utf-8"))):
            try:
                left += refresh(page, given.long)
            except AssertionError as error:
                left.append(f"{page}: {error}")
    sys.stdout.write("".join(f"{each}\n" for each in left))
    return bool(left)


if __name__ == "__main__":
    sys.exit(main())
