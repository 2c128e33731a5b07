"""Print the code lines of each package: no blank lines, comments or docstrings. `make lint` shows them.

python -m tools.size
"""

from __future__ import annotations

import ast
import io
import tokenize
from collections import Counter
from pathlib import Path

SOURCES = Path(__file__).parents[1] / "src" / "ramgape"
WITHOUT_CODE = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}


def code_lines(text: str) -> int:
    """Count the lines with code on them."""
    docstrings: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        described = isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        if described and ast.get_docstring(node) is not None:
            docstrings.update(range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1))
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in WITHOUT_CODE:
            lines.update(range(token.start[0], token.end[0] + 1))
    return len(lines - docstrings)


def main() -> None:
    """Print one line: each package with its number, the largest first, and the sum."""
    sizes: Counter[str] = Counter()
    for path in SOURCES.rglob("*.py"):
        parts = path.relative_to(SOURCES).parts
        sizes[parts[0] if len(parts) > 1 else "(root)"] += code_lines(path.read_text(encoding="utf-8"))
    print(", ".join(f"{name} {lines:,}" for name, lines in sizes.most_common()), f"= {sizes.total():,}")


if __name__ == "__main__":
    main()
