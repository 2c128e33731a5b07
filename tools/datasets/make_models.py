"""Make src/ramgape/datasets/models.csv: eight classifiers read 500 images of digits, one by one.

    pip install scikit-learn && python tools/datasets/make_models.py src/ramgape/datasets/models.csv

Times are CPU times of this machine, so another run gives other milliseconds; accuracies stay.
"""

from __future__ import annotations

import csv
import pickle
import sys
import time
from pathlib import Path

from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

MODELS = {
    "logistic": make_pipeline(StandardScaler(), LogisticRegression(max_iter=500)),
    "bayes": GaussianNB(),
    "tree": DecisionTreeClassifier(random_state=1),
    "knn": KNeighborsClassifier(5),
    "svm": make_pipeline(StandardScaler(), SVC(C=10, gamma=0.02)),
    "forest-10": RandomForestClassifier(10, random_state=1),
    "forest-200": RandomForestClassifier(200, random_state=1),
    "network": make_pipeline(StandardScaler(), MLPClassifier((64,), max_iter=400, random_state=1)),
}


def main(path: str) -> None:
    pixels, digits = load_digits(return_X_y=True)
    learn, test, learnt, right = train_test_split(
        pixels, digits, train_size=200, test_size=500, random_state=3, stratify=digits
    )
    columns = {}
    for name, model in MODELS.items():
        model.fit(learn, learnt)
        model.predict(test[:1])  # what is only done once is not timed
        rows = []
        for image, digit in zip(test, right, strict=True):
            start = time.thread_time()
            found = model.predict(image[None])[0]
            rows.append((int(found == digit), round((time.thread_time() - start) * 1e3, 2)))
        columns[name] = rows
        print(f"{name}: {len(pickle.dumps(model)) / 1024:.0f} KB")
    with Path(path).open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(
            ["image", *(f"{name}:{outcome}" for name in columns for outcome in ("accuracy", "milliseconds"))]
        )
        for number in range(len(right)):
            writer.writerow([number + 1, *(value for rows in columns.values() for value in rows[number])])


if __name__ == "__main__":
    main(sys.argv[1])
