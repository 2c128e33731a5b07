"""Records `prompts.csv`: the scores of eight prompts on 240 lines of expense reports, by the judge of the example.

    PYTHONPATH=examples python docs/gallery/data/make_prompts.py > docs/gallery/data/prompts.csv

No language model was asked: in `examples/prompts.py` some lines of Python stand in for one, better or worse by how a
prompt instructs them. The table has the form that a real evaluation has, and is replaced by it in one line.
"""

from __future__ import annotations

import asyncio
import csv
import sys

from prompts import PROMPTS, QUESTIONS, ask


async def main() -> None:
    """A line for each question, a column for each prompt."""
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(["question", *(prompt.replace(",", "") for prompt in PROMPTS)])
    for question in QUESTIONS:
        writer.writerow([question, *[f"{await ask(prompt, question):g}" for prompt in PROMPTS]])


if __name__ == "__main__":
    asyncio.run(main())
