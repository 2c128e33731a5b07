"""Records `digits.csv`: about which of 1,000 handwritten digits ten scikit-learn models are right.

    python tests/data/make_digits.py > tests/data/digits.csv

All are trained on the same 300 digits; the items are 1,000 others, by their place in scikit-learn's data. scikit-learn
is needed here only; the recorded table was made with version 1.9.
"""

from __future__ import annotations

import csv
import sys
from typing import Any

import numpy as np
from sklearn.datasets import load_digits
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Perceptron, RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

TRAINING, ITEMS = 300, 1000

MODELS: dict[str, Any] = {
    "logistic regression": LogisticRegression(max_iter=5000),
    "ridge": RidgeClassifier(),
    "perceptron": Perceptron(random_state=0),
    "GaussianNB": GaussianNB(),
    "3 neighbours": KNeighborsClassifier(3),
    "nearest centroid": NearestCentroid(),
    "SVC": SVC(),
    "tree": DecisionTreeClassifier(random_state=0),
    "forest of 60": RandomForestClassifier(60, random_state=0),
    "extra trees of 60": ExtraTreesClassifier(60, random_state=0),
}


def main() -> None:
    """Write the table."""
    pictures, numbers = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(numbers))
    training, items = order[:TRAINING], order[TRAINING : TRAINING + ITEMS]
    right = [
        model.fit(pictures[training], numbers[training]).predict(pictures[items]) == numbers[items]
        for model in MODELS.values()
    ]
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(["item", *MODELS])
    for place, item in enumerate(items.tolist()):
        writer.writerow([item, *(int(answers[place]) for answers in right)])


if __name__ == "__main__":
    main()
