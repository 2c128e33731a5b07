"""Records `twelve_models.csv`: how often 12 scikit-learn models are right, in 400 fits each, on the breast cancer data.

    python tests/data/make_twelve_models.py > tests/data/twelve_models.csv

A fit is on 60 training rows drawn at random, by class; what is recorded is how many of the other 509 rows are right.
Every fit has a split of its own. scikit-learn is needed here only; the recorded bank was made with version 1.9.
"""

from __future__ import annotations

import sys
import warnings
from typing import Any

from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

FITS, TRAINING_ROWS = 400, 60


def models(seed: int) -> dict[str, Any]:
    """By name, before they are fitted."""
    return {
        "logistic-C0.01": LogisticRegression(C=0.01, max_iter=2_000),
        "logistic-C1": LogisticRegression(C=1.0, max_iter=2_000),
        "logistic-C100": LogisticRegression(C=100.0, max_iter=2_000),
        "ridge": RidgeClassifier(),
        "svc-C0.1": SVC(C=0.1),
        "svc-C1": SVC(C=1.0),
        "svc-C10": SVC(C=10.0),
        "neighbours-1": KNeighborsClassifier(1),
        "neighbours-5": KNeighborsClassifier(5),
        "tree": DecisionTreeClassifier(random_state=seed),
        "extra-trees-20": ExtraTreesClassifier(20, random_state=seed),
        "naive-bayes": GaussianNB(),
    }


def main() -> None:
    """A line for each fit, a column for each model."""
    inputs, labels = load_breast_cancer(return_X_y=True)
    names = list(models(0))
    sys.stdout.write(",".join(names) + "\n")
    for fit in range(FITS):
        right = []
        for number, name in enumerate(names):
            seed = fit * len(names) + number
            parts = train_test_split(inputs, labels, train_size=TRAINING_ROWS, stratify=labels, random_state=seed)
            model = make_pipeline(StandardScaler(), models(seed)[name]).fit(parts[0], parts[2])
            right.append(int((model.predict(parts[1]) == parts[3]).sum()))
        sys.stdout.write(",".join(map(str, right)) + "\n")


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        main()
