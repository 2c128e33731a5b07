"""Which of twelve scikit-learn models is good, and good for every seed? A study with real training runs.

Each trial takes 15 of scikit-learn's 178 wines at random, by the trial's own seed, trains a model to tell three growers
apart, and gives its accuracy on all other wines. With so few a model that is good on average may still be bad on a bad
day: its risk is minus the mean accuracy of the worst tenth of its runs.

The study is in models.db: stop it with Ctrl-C, start it again, and it goes on. Needs scikit-learn and matplotlib
(pip install "ramgape[examples]"); takes about a minute, or with --quick some seconds.
"""

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.datasets import load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Perceptron, RidgeClassifier
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import ramgape

TRAINED_ON = 15  # wines, five of each grower
MODELS: dict[str, Callable[[int], Any]] = {
    "logistic regression": lambda seed: LogisticRegression(),
    "ridge": lambda seed: RidgeClassifier(),
    "perceptron": lambda seed: Perceptron(random_state=seed),
    "naive Bayes": lambda seed: GaussianNB(),
    "nearest neighbour": lambda seed: KNeighborsClassifier(1),
    "5 neighbours": lambda seed: KNeighborsClassifier(5),
    "nearest centroid": lambda seed: NearestCentroid(),
    "support vectors": lambda seed: SVC(),
    "tree": lambda seed: DecisionTreeClassifier(random_state=seed),
    "forest": lambda seed: RandomForestClassifier(30, random_state=seed),
    "extra trees": lambda seed: ExtraTreesClassifier(30, random_state=seed),
    "linear discriminant": lambda seed: LinearDiscriminantAnalysis(),
}
WINES, GROWERS = load_wine(return_X_y=True)


def train(name: str, rng: np.random.Generator) -> float:
    """One trial: a fresh split, a fresh model, its accuracy on wines that it has not seen."""
    seed = int(rng.integers(2**31))
    seen, unseen, known, sought = train_test_split(
        WINES, GROWERS, train_size=TRAINED_ON, stratify=GROWERS, random_state=seed
    )
    model = make_pipeline(StandardScaler(), MODELS[name](seed)).fit(seen, known)
    return float(model.score(unseen, sought))


def main(name: str, budget: int) -> None:
    """Make the trials that are still to be made, and show what they say."""
    with ramgape.Study.create(
        name,
        MODELS,
        storage="sqlite:///models.db",
        exist_ok=True,
        reward_range=(0, 1),
        risk=ramgape.CVaR(level=0.1),
        budget=budget,
    ) as study:
        result = study.run(train)
    print(result)
    print("If it must be one:", result.best(rho=0.1))
    result.save_plot("models.png")
    print("written: models.png")


if "--quick" in sys.argv[1:]:
    main("models, quick", 96)
else:
    main("models", 1000)
