"""One process of `benchmarks.studies`: pairs of ask and tell on a study that exists, ours or Optuna's.

Ours are exchanges: what was asked for is told in the transaction that asks for the next.

Prints "ready", waits for a line, works for the time given there, and prints how many pairs it made in how many seconds.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

ARMS = [f"arm {number}" for number in range(10)]
STUDY = "pairs"
REWARD = 0.5


def pair_of(kind: str, url: str) -> Callable[[], int]:
    """A function that makes some pairs, and returns how many."""
    if kind == "optuna":
        import optuna

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        known = optuna.load_study(study_name=STUDY, storage=url, sampler=optuna.samplers.RandomSampler())

        def optuna_pair() -> int:
            trial = known.ask()
            trial.suggest_categorical("arm", ARMS)
            known.tell(trial, REWARD)
            return 1

        return optuna_pair

    from ramgape import Study

    study, batch = Study.load(STUDY, url), int(kind)
    pulls = study.exchange(count=batch).pulls

    def pair() -> int:
        nonlocal pulls
        exchanged = study.exchange([(pull, REWARD) for pull in pulls], count=batch)
        pulls = exchanged.pulls
        return len(exchanged.answers)

    return pair


def main() -> None:
    """Begin when told to."""
    kind, url = sys.argv[1:]
    pair = pair_of(kind, url)
    pair()
    print("ready", flush=True)
    for line in sys.stdin:
        length, count, begun = float(line), 0, time.perf_counter()
        while (taken := time.perf_counter() - begun) < length:
            count += pair()
        print(count, taken, flush=True)


if __name__ == "__main__":
    main()
