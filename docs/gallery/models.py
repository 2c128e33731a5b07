# %% [markdown]
# # Models that are good, and good on a bad day
#
# Twelve models learn from sixty patients. Which is the most accurate, and which is still good when it is unlucky with
# its sixty? And what is lost when the machine that trains them dies?
#
# **Data**: the breast cancer data of Wisconsin, 569 patients, which come with scikit-learn (UCI, CC BY 4.0). A trial
# trains a model on sixty of them, drawn at random, and gives its accuracy on all others. Risk is the mean accuracy of
# the worst tenth of a model's trials.

# %%
import os
import signal
import subprocess
import sys
from dataclasses import replace

import recorded
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

import ramgape

models = {
    **{f"logistic C={c}": lambda seed, c=c: LogisticRegression(C=c, max_iter=2_000) for c in (0.01, 1, 100)},
    **{f"svc C={c}": lambda seed, c=c: SVC(C=c) for c in (0.1, 1, 10)},
    **{f"neighbours {k}": lambda seed, k=k: KNeighborsClassifier(k) for k in (1, 5)},
    "ridge": lambda seed: RidgeClassifier(),
    "naive bayes": lambda seed: GaussianNB(),
    "tree": lambda seed: DecisionTreeClassifier(random_state=seed),
    "extra trees": lambda seed: ExtraTreesClassifier(20, random_state=seed),
}
patients, diagnoses = load_breast_cancer(return_X_y=True)


def train(name, rng):
    seed = int(rng.integers(2**31))
    seen, unseen, known, sought = train_test_split(
        patients, diagnoses, train_size=60, stratify=diagnoses, random_state=seed
    )
    model = models[name]
    return make_pipeline(StandardScaler(), model(seed)).fit(seen, known).score(unseen, sought)


# %% [markdown]
# The study is in a file. A first worker, another process, works on it until it is killed, in the middle of its
# twentieth trial and without a warning.


# %%
def open_study():
    return ramgape.Study.create(
        "models",
        list(models),
        storage="sqlite:///models.db",
        exist_ok=True,
        risk=ramgape.CVaR(level=0.1),
        budget=recorded.scaled(480, 60),
        seed=1,
    )


def train_and_die(name, rng, made=[]):  # noqa: B006 (it is to remember)
    made.append(name)
    if len(made) == 20:
        os.kill(os.getpid(), signal.SIGKILL)
    return train(name, rng)


if "--die" in sys.argv:
    open_study().run(train_and_die, lease=3)

died = subprocess.run([sys.executable, __file__, "--die"], check=False)
study = open_study()
survived = study.report().told
print(f"The worker has ended with {died.returncode}; {survived} trials are in the study.")

# %% [markdown]
# Whoever opens the study goes on with it, here with two workers at once. The trial that the other had begun is made
# again when its lease has ended.

# %%
result = replace(study.run(train, workers=2), reward_name="accuracy")
study.close()
print(result)
result.save_plot("models.svg")

# %% [markdown]
# ![Twelve models by mean accuracy and the mean of their worst tenth](images/models.svg)
#
# **What it shows.** One model is ahead in both: logistic regression with its usual penalty has the highest mean, and
# the best worst tenth. Most trials went to it and to what comes near it. None was lost with the worker that was
# killed: a trial counts when its answer is in the file, and the one that was under way has been made again.
#
# **What it does not prove.** A budget buys a best guess; of risks, which rest on the worst tenth of the trials, next
# to nothing is known after a hundred trials of a model. Splits overlap: every trial draws from the same 569 patients,
# so what is estimated is the accuracy over splits of these, and not that for patients of another hospital. With two
# workers the order in which answers come differs from run to run, and so do the numbers, a little.

# %%
assert died.returncode == -signal.SIGKILL
assert survived == 19
assert result.samples == recorded.scaled(480, 60)
assert "logistic C=1" in result.front
assert not {"tree", "neighbours 1"} & set(result.front)
