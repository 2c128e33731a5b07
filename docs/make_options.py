"""Write docs/reference/options.md from the table of options."""

from __future__ import annotations

import sys

from ramgape.options import GOAL, GROUPS, METHOD, OPTIONS, RISK, SECOND_SPELLINGS, TRIALS, Option

REFERENCE = """# Options

Written by `python docs/make_options.py`; the table behind it is src/ramgape/options.py.

The names are those of keywords (`identify`, `simulate` and `replicate`, `plan`, `analyze`, and `Study.create`, here
*study*) and of keys in study files (*file*). Commands write them with dashes: `--max-trials`. In Python,
options marked *in Search* or *in Trials* go into `search=ramgape.Search(...)` and `trials=ramgape.Trials(...)`.

`risk`, `assumption` and `question` are objects or text, everywhere in one form, NAME[:VALUE | KEY=VALUE,...]:
`cvar:0.1`, `cvar:level=0.1`, `gaussian:resolution=0.5`.
"""


def reference() -> str:
    """The page docs/reference/options.md."""
    holders = {name: kind.__name__ for kind in GROUPS.values() for name in kind.shown_fields()}
    lines = [REFERENCE]
    for panel in (GOAL, TRIALS, RISK, METHOD):
        lines += [f"## {panel}\n", "| option | default | taken by | meaning |", "|---|---|---|---|"]
        for name, row in OPTIONS.items():
            if row.panel == panel and name not in SECOND_SPELLINGS:
                usual: dict[str, list[str]] = {}
                for entry in row.entries:
                    usual.setdefault(_usual(row._replace(**row.at.get(entry, {}))), []).append(entry)
                default = "; ".join(f"{', '.join(entries)}: {text}" for text, entries in usual.items() if text)
                default = next(iter(usual)) if len(usual) == 1 else default
                meaning = row._replace(usual="").text() + (f" *In {holders[name]}.*" if name in holders else "")
                lines.append(f"| `{name}` | {default} | {', '.join(row.entries)} | {meaning} |")
        lines.append("")
    return "\n".join(lines)


def _usual(row: Option) -> str:
    return f"`{row.default!r}`" if row.default is not None else row._replace(help="").text()[10:-1]


if __name__ == "__main__":
    sys.stdout.write(reference())
