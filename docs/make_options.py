"""Write docs/reference/options.md from the table of options."""

from __future__ import annotations

import sys

from ramgape.options import GOAL, GROUPS, METHOD, OPTIONS, RISK, TRIALS, Option

REFERENCE = """# Options

Written by `python docs/make_options.py`; the table behind it is src/ramgape/options.py.

The names are those of keywords (`identify`, `simulate` and `replicate`, `plan`, `analyze`, and `Study.create`, here
*study*) and of keys in study files (*file*). Commands write them with dashes: `--max-trials`. What is marked
*in Search* or *in Trials* may be given by itself or in `search=Search(...)` or `trials=Trials(...)`, but not both ways.

`risk`, `noise` and `task` are objects or text, everywhere in one form, NAME[:VALUE | KEY=VALUE,...]: `cvar:0.1`,
`cvar:level=0.1`, `gaussian:resolution=0.5`.
"""


def reference() -> str:
    """The page docs/reference/options.md."""
    holders = {name: kind.__name__ for kind in GROUPS.values() for name in kind.__dataclass_fields__}
    lines = [REFERENCE]
    for panel in (GOAL, TRIALS, RISK, METHOD):
        lines += [f"## {panel}\n", "| option | unless given | taken by | meaning |", "|---|---|---|---|"]
        for name, row in OPTIONS.items():
            if row.panel == panel and row.doors:
                usual: dict[str, list[str]] = {}
                for door in row.doors:
                    usual.setdefault(_usual(row._replace(**row.at.get(door, {}))), []).append(door)
                unless = "; ".join(f"{', '.join(doors)}: {text}" for text, doors in usual.items() if text)
                unless = next(iter(usual)) if len(usual) == 1 else unless
                meaning = row._replace(unless="").text() + (f" *In {holders[name]}.*" if name in holders else "")
                lines.append(f"| `{name}` | {unless} | {', '.join(row.doors)} | {meaning} |")
        lines.append("")
    return "\n".join(lines)


def _usual(row: Option) -> str:
    return f"`{row.default!r}`" if row.default is not None else row._replace(help="").text()[15:-1]


if __name__ == "__main__":
    sys.stdout.write(reference())
