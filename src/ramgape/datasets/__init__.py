"""Two small data sets for examples: recorded trials of prompts and of models, so that every example runs offline.

    prompts.csv   8 prompts x 500 sentences of product reviews: 1 if the answer was right
    models.csv    8 classifiers x 500 images of digits: 1 if the image was read correctly, and milliseconds per image

The sentences were rated by people for "VADER: A Parsimonious Rule-based Model" (Hutto and Gilbert,
2014) and come with the package vaderSentiment 3.3.2 (MIT license); 250 are praise, 250 are complaints. Each prompt is a
pair of texts, and the sentence gets the label of the text that is nearer to it in the sentence embeddings of
all-MiniLM-L6-v2 (Apache license 2.0). The images are the digits of scikit-learn (UCI, CC BY 4.0): 200 to learn from and
500 to read. `tools/datasets` has the programs that made both files.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path

PROMPTS = {
    "bare": ("positive", "negative"),
    "good-bad": ("good", "bad"),
    "sentence": ("This is a positive sentence.", "This is a negative sentence."),
    "review": ("This is a positive review.", "This is a negative review."),
    "first-person": ("I love it, it works great.", "I hate it, it does not work."),
    "customer": ("The customer is happy with the product.", "The customer is unhappy with the product."),
    "examples": (
        "Great product, easy to use, works perfectly, excellent quality.",
        "Terrible product, hard to use, stopped working, poor quality.",
    ),
    "emotion": ("The writer feels satisfied and pleased.", "The writer feels disappointed and annoyed."),
}
SIZES = {  # of the fitted models as files, in KB
    "logistic": 8.0,
    "bayes": 11.0,
    "tree": 12.0,
    "knn": 102.0,
    "svm": 108.0,
    "forest-10": 124.0,
    "forest-200": 2461.0,
    "network": 166.0,
}


@dataclass(frozen=True)
class Prompts:
    """Recorded answers of 8 prompts to 500 sentences.

    Attributes:
        arms: Names of the prompts; `texts` has the two texts of each.
        items: The sentences, by their numbers in the source.
        path: The table as a CSV file: a row per sentence, a column per prompt.
    """

    arms: tuple[str, ...]
    items: tuple[str, ...]
    path: Path
    texts: Mapping[str, tuple[str, str]] = field(repr=False)
    scores: Mapping[tuple[str, str], float] = field(repr=False)

    def ask(self, prompt: str, sentence: str) -> float:
        """Return 1.0 if this prompt's label of this sentence was right, else 0.0."""
        return self.scores[prompt, sentence]


@dataclass(frozen=True)
class Models:
    """Recorded trials of 8 classifiers on 500 images of digits.

    Attributes:
        arms: Names of the models; `sizes` has the size of each in KB.
        items: The images, by their numbers.
        path: The table as a CSV file: a row per image, two columns per model.
    """

    arms: tuple[str, ...]
    items: tuple[str, ...]
    path: Path
    sizes: Mapping[str, float] = field(repr=False)
    outcomes: Mapping[tuple[str, str], Mapping[str, float]] = field(repr=False)

    def ask(self, model: str, image: str) -> dict[str, float]:
        """Return accuracy (1.0 if the image was read correctly) and milliseconds of one prediction."""
        return dict(self.outcomes[model, image])


def load_prompts() -> Prompts:
    """Load recorded scores of 8 prompts on 500 sentences."""
    path, (_, *names), rows = _read("prompts.csv")
    scores = {(name, row[0]): float(value) for row in rows for name, value in zip(names, row[1:], strict=True)}
    return Prompts(tuple(names), tuple(row[0] for row in rows), path, dict(PROMPTS), scores)


def load_models() -> Models:
    """Load recorded accuracy and prediction times of 8 classifiers on 500 images."""
    path, (_, *columns), rows = _read("models.csv")
    outcomes: dict[tuple[str, str], dict[str, float]] = {}
    for row in rows:
        for column, value in zip(columns, row[1:], strict=True):
            model, _, outcome = column.partition(":")
            outcomes.setdefault((model, row[0]), {})[outcome] = float(value)
    return Models(tuple(SIZES), tuple(row[0] for row in rows), path, dict(SIZES), outcomes)


def _read(name: str) -> tuple[Path, list[str], list[list[str]]]:
    path = Path(str(files(__name__) / name))
    with path.open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    return path, header, rows
